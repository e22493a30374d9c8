#include "pawl/adapter/journal_sqlite/stop_gate.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

namespace pawl::sqlite {
namespace {

enum Stop : int { kNone, kWanted, kUnderWay };

std::atomic<int> commits_under_way{0};
std::atomic<int> stop_state{kNone};
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler uses them

// One of those who find that no commit is under way.
void stop_if_wanted() noexcept {
  int wanted = kWanted;
  if (!stop_state.compare_exchange_strong(wanted, kUnderWay)) return;
  ::kill(::getpid(), SIGSTOP);
  stop_state = kNone;
}

void leave() noexcept {
  if (--commits_under_way == 0) stop_if_wanted();
}

}  // namespace

CommitSection::CommitSection() {
  while (true) {
    ++commits_under_way;
    if (stop_state == kNone) return;
    leave();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

CommitSection::~CommitSection() {
  leave();
}

void stop_between_commits() noexcept {
  int none = kNone;
  stop_state.compare_exchange_strong(none, kWanted);
  if (commits_under_way == 0) stop_if_wanted();
}

void stop_only_between_commits() {
  struct sigaction action{};
  if (::sigaction(SIGTSTP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = [](int) {
    const int before = errno;
    stop_between_commits();
    errno = before;
  };
  action.sa_flags = SA_RESTART;
  static_cast<void>(::sigaction(SIGTSTP, &action, nullptr));
}

}  // namespace pawl::sqlite
