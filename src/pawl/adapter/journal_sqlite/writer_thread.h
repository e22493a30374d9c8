// How the thread that writes behaves towards others: signals, and other processes that write.
#pragma once

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>

namespace pawl::sqlite {

inline constexpr std::chrono::milliseconds kBusyPoll{1};
inline constexpr std::chrono::milliseconds kBusyPollBriefly{20};  // then more seldom
inline constexpr std::int64_t kSeldomPollMsMin = 5;
inline constexpr std::int64_t kSeldomPollMsMax = 15;

// Many processes that poll fast keep the one that writes from the processor. At times of their own,
// so that no two of them go on meeting.
inline std::chrono::milliseconds poll_after(std::chrono::steady_clock::duration waited) {
  if (waited < kBusyPollBriefly) return kBusyPoll;
  const std::int64_t spread = kSeldomPollMsMax - kSeldomPollMsMin + 1;
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
  return std::chrono::milliseconds(kSeldomPollMsMin + (now + ::getpid()) % spread);
}

// Signals are for the program's own threads. Not those that this thread causes itself: blocked they
// end the process without a word.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace pawl::sqlite
