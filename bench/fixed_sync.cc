// A disk on which every sync takes the same time, for figures that can be repeated where others use
// the real one:
//   TMPDIR=/dev/shm PAWL_BENCH_SYNC_US=280 pawl_bench_durable steps 64 100 200 5
// Without the variable syncs are what they are.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

std::chrono::microseconds fixed_time() {
  const char* const text = std::getenv("PAWL_BENCH_SYNC_US");
  return std::chrono::microseconds(text == nullptr ? 0 : std::strtoll(text, nullptr, 10));
}

}  // namespace

// In place of the C library's, for SQLite too.
extern "C" int fdatasync(int file) {
  static const std::chrono::microseconds fixed = fixed_time();
  if (fixed.count() <= 0) return static_cast<int>(::syscall(SYS_fdatasync, file));
  thread_local const int exact = ::prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(exact);
  std::this_thread::sleep_for(fixed);
  return 0;
}
