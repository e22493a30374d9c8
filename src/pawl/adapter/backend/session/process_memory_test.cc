#include "pawl/adapter/backend/session/process_memory.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace pawl::backend {
namespace {

constexpr std::size_t kUsedBytes = 32U << 20U;
constexpr std::size_t kSpace = std::size_t{16} << 30U;  // 8192 tables of 4096 bytes

void* map(std::size_t bytes, int rights) {
  void* memory = ::mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

// Runs `use` in a process of its own, which then waits.
class Other {
 public:
  explicit Other(void (*use)(int told)) {
    std::array<int, 2> ends{-1, -1};
    REQUIRE(::pipe(ends.data()) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      use(ends[1]);
      for (;;) ::pause();
    }
    char word = 0;
    REQUIRE(::read(ends[0], &word, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() {
    if (pid_ > 1) ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

bool first_thread_lives() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) return line.find('Z') == std::string::npos;
  }
  return true;
}

void tell(int where) {
  if (::write(where, "y", 1) != 1) ::_exit(1);
}

TEST_CASE("tables of pages that are only read are memory, too") {
  const Other reader([](int told) {
    const auto* memory = static_cast<const volatile char*>(map(kSpace, PROT_READ));
    for (std::size_t at = 0; at < kSpace; at += 2U << 20U) static_cast<void>(memory[at]);
    tell(told);
  });
  CHECK(resident_bytes(reader.pid()) >= kUsedBytes);
  CHECK(share_bytes(reader.pid()) >= kUsedBytes);
}

TEST_CASE("a process whose first thread has ended still has its memory") {
  const Other leader([](int told) {
    std::thread([told] {
      auto* memory = static_cast<volatile char*>(map(kUsedBytes, PROT_READ | PROT_WRITE));
      for (std::size_t at = 0; at < kUsedBytes; at += 4096) memory[at] = 1;
      while (first_thread_lives()) std::this_thread::yield();
      tell(told);
      for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);
  });
  CHECK(resident_bytes(leader.pid()) >= kUsedBytes);
}

TEST_CASE("who is gone has nothing") {
  CHECK(resident_bytes(1 << 30) == 0);
  CHECK(share_bytes(1 << 30) == 0);
}

}  // namespace
}  // namespace pawl::backend
