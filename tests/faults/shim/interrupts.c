// Interrupts the program a thousand times a second: every call that can be interrupted is, because
// the handler does not ask for its restart. Each program that is started does it to itself.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

static void ignore(int number) {
  (void)number;
}

__attribute__((constructor)) static void begin(void) {
  const char* text = getenv("PAWL_INTERRUPT_US");
  if (text == NULL) return;
  struct sigaction action = {0};
  action.sa_handler = ignore;
  sigaction(SIGALRM, &action, NULL);
  const struct timeval pause = {0, atol(text)};
  const struct itimerval timer = {pause, pause};
  setitimer(ITIMER_REAL, &timer, NULL);
}
