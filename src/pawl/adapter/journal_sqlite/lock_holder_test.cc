#include "pawl/adapter/journal_sqlite/lock_holder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

TEST_CASE("a line of the kernel's list names the holder of a byte") {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 41 fe:00:1234 121 121\n"
      "2: POSIX  ADVISORY  READ  42 fe:00:1234 120 120\n"
      "3: OFDLCK ADVISORY  WRITE -1 fe:00:1234 120 120\n"
      "4: POSIX  ADVISORY  WRITE 43 fe:00:99 120 120\n"
      "5: -> POSIX  ADVISORY  WRITE 44 fe:00:1234 120 120\n"
      "6: POSIX  ADVISORY  WRITE 45 fe:00:1234 100 EOF\n";
  CHECK(holder_in_locks(locks, 1234, 120) == 45);
  CHECK(holder_in_locks(locks, 1234, 121) == 41);
  CHECK(holder_in_locks(locks, 99, 120) == 43);
  CHECK_FALSE(holder_in_locks(locks, 99, 119));
  CHECK_FALSE(holder_in_locks("", 1, 1));
  CHECK_FALSE(holder_in_locks("1: POSIX\n\nnonsense", 1, 1));
}

TEST_CASE("the process that holds a lock is found, and whether it is stopped") {
  const TempDirectory directory;
  const std::string path = directory.path() + "/file";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  CHECK_FALSE(find_lock_holder(path, kWriteLockOffset));
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_start = kWriteLockOffset;
    lock.l_len = 1;
    if (::fcntl(file, F_SETLK, &lock) != 0) ::_exit(1);
    ::kill(::getpid(), SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));

  const auto holder = find_lock_holder(path, kWriteLockOffset);

  REQUIRE(holder);
  CHECK(holder->pid == child);
  CHECK(holder->state == LockHolder::State::stopped);
  CHECK_FALSE(holder->name.empty());
  CHECK(describe(*holder).ends_with("kill -CONT " + std::to_string(child)));
  ::kill(child, SIGCONT);
  ::waitpid(child, &status, 0);
  ::close(file);
  CHECK_FALSE(find_lock_holder(path, kWriteLockOffset));
}

}  // namespace
}  // namespace pawl::sqlite
