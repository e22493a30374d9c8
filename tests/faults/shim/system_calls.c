// Preloaded into pawl: counts the calls that change files, and at a chosen one kills the process,
// fails the call, or does a part of it. All threads share one counter, which strace's do not.
//
// PAWL_FAULT_ACTION   count, kill-before, kill-after, kill-torn, fail, short, no-sync
// PAWL_FAULT_CALLS    which calls, by the names below, separated by commas; all if not set
// PAWL_FAULT_UNDER    only files whose path begins like this; any if not set
// PAWL_FAULT_FIRST    the first call that is hit, from 1
// PAWL_FAULT_LAST     the last one; 0 is for ever
// PAWL_FAULT_ERROR    the errno of `fail`
// PAWL_FAULT_COUNTER  a file of 8 bytes that holds the count, whatever becomes of the process
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum action { OFF, COUNT, KILL_BEFORE, KILL_AFTER, KILL_TORN, FAIL, SHORT, NO_SYNC };
static const char* const kActions[] = {"off",  "count", "kill-before", "kill-after", "kill-torn",
                                       "fail", "short", "no-sync"};
enum verdict { PASS, HIT };

static enum action action = OFF;
static char calls[256];
static char under[PATH_MAX];
static long first, last;
static int error_number = EIO;
static volatile long own_counter;
static volatile long* counter = &own_counter;

static void read_plan(void) {
  const char* text = getenv("PAWL_FAULT_ACTION");
  if (text == NULL) return;
  enum action wanted = OFF;
  for (int i = 0; i <= NO_SYNC; ++i) {
    if (strcmp(text, kActions[i]) == 0) wanted = (enum action)i;
  }
  if ((text = getenv("PAWL_FAULT_CALLS"))) snprintf(calls, sizeof calls, ",%s,", text);
  if ((text = getenv("PAWL_FAULT_UNDER"))) snprintf(under, sizeof under, "%s", text);
  if ((text = getenv("PAWL_FAULT_FIRST"))) first = atol(text);
  if ((text = getenv("PAWL_FAULT_LAST"))) last = atol(text);
  if ((text = getenv("PAWL_FAULT_ERROR"))) error_number = atoi(text);
  if ((text = getenv("PAWL_FAULT_COUNTER"))) {
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_RDWR | O_CLOEXEC);
    void* page = fd < 0 ? MAP_FAILED
                        : (void*)syscall(SYS_mmap, NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED,
                                         fd, 0);
    if (page != MAP_FAILED) counter = page;
    if (fd >= 0) syscall(SYS_close, fd);
  }
  action = wanted;
}

__attribute__((constructor)) static void begin(void) {
  read_plan();
  // The tools that pawl starts are the world outside: nothing happens to them.
  unsetenv("LD_PRELOAD");
}

static int named(const char* name) {
  if (calls[0] == '\0') return 1;
  char wanted[40];
  snprintf(wanted, sizeof wanted, ",%s,", name);
  return strstr(calls, wanted) != NULL;
}

static int path_counts(const char* path) {
  return under[0] == '\0' || strncmp(path, under, strlen(under)) == 0;
}

static int fd_counts(int fd) {
  if (under[0] == '\0') return 1;
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return path_counts(path);
}

static void die(void) {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) pause();
}

// Counts the call, and says whether it is one of those that are hit.
static enum verdict judge(const char* name, int counts) {
  if (action == OFF || !counts || !named(name)) return PASS;
  const long number = __sync_add_and_fetch(counter, 1);
  if (action == COUNT || number < first || (last != 0 && number > last)) return PASS;
  if (action == KILL_BEFORE) die();
  return HIT;
}

static long after(enum verdict verdict, long result) {
  if (verdict == HIT && (action == KILL_AFTER || action == KILL_TORN)) die();
  return result;
}

#define FAIL_IF(verdict)                     \
  if ((verdict) == HIT && action == FAIL) {  \
    errno = error_number;                    \
    return -1;                               \
  }

static size_t part_of(enum verdict verdict, size_t size) {
  const int cut = verdict == HIT && (action == SHORT || action == KILL_TORN);
  return cut && size > 1 ? size / 2 : size;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  const enum verdict verdict = judge("write", fd_counts(fd));
  FAIL_IF(verdict)
  return after(verdict, syscall(SYS_write, fd, bytes, part_of(verdict, size)));
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  const enum verdict verdict = judge("pwrite64", fd_counts(fd));
  FAIL_IF(verdict)
  return after(verdict, syscall(SYS_pwrite64, fd, bytes, part_of(verdict, size), offset));
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return pwrite64(fd, bytes, size, offset);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  const enum verdict verdict = judge("writev", fd_counts(fd));
  FAIL_IF(verdict)
  return after(verdict, syscall(SYS_writev, fd, parts, part_of(verdict, (size_t)count)));
}

ssize_t pread64(int fd, void* bytes, size_t size, off64_t offset) {
  // Reading changes nothing: it is counted only where it is asked for.
  const enum verdict verdict = calls[0] != '\0' ? judge("pread64", fd_counts(fd)) : PASS;
  FAIL_IF(verdict)
  return after(verdict, syscall(SYS_pread64, fd, bytes, part_of(verdict, size), offset));
}

ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  return pread64(fd, bytes, size, offset);
}

int fsync(int fd) {
  const enum verdict verdict = judge("fsync", fd_counts(fd));
  FAIL_IF(verdict)
  if (action == NO_SYNC) return 0;
  return (int)after(verdict, syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  const enum verdict verdict = judge("fdatasync", fd_counts(fd));
  FAIL_IF(verdict)
  if (action == NO_SYNC) return 0;
  return (int)after(verdict, syscall(SYS_fdatasync, fd));
}

int ftruncate64(int fd, off64_t length) {
  const enum verdict verdict = judge("ftruncate", fd_counts(fd));
  FAIL_IF(verdict)
  return (int)after(verdict, syscall(SYS_ftruncate, fd, length));
}

int ftruncate(int fd, off_t length) {
  return ftruncate64(fd, length);
}

int rename(const char* from, const char* to) {
  const enum verdict verdict = judge("rename", path_counts(from));
  FAIL_IF(verdict)
  return (int)after(verdict, syscall(SYS_rename, from, to));
}

int unlink(const char* path) {
  const enum verdict verdict = judge("unlink", path_counts(path));
  FAIL_IF(verdict)
  return (int)after(verdict, syscall(SYS_unlink, path));
}

int mkdir(const char* path, mode_t mode) {
  const enum verdict verdict = judge("mkdir", path_counts(path));
  FAIL_IF(verdict)
  return (int)after(verdict, syscall(SYS_mkdir, path, mode));
}

static int open_at(int directory, const char* path, int flags, mode_t mode) {
  // Opening without O_CREAT changes nothing either.
  const int counts = calls[0] != '\0' || (flags & O_CREAT) != 0;
  const enum verdict verdict = counts ? judge("openat", path_counts(path)) : PASS;
  FAIL_IF(verdict)
  return (int)after(verdict, syscall(SYS_openat, directory, path, flags, mode));
}

#define MODE_OF(flags)                            \
  mode_t mode = 0;                                \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {        \
    va_list more;                                 \
    va_start(more, flags);                        \
    mode = va_arg(more, mode_t);                  \
    va_end(more);                                 \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_at(directory, path, flags, mode);
}

int __open_2(const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}

void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t offset) {
  const int counts = fd >= 0 && calls[0] != '\0' && fd_counts(fd);
  if (counts && judge("mmap", 1) == HIT && action == FAIL) {
    errno = error_number;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap64(at, size, protection, flags, fd, offset);
}
