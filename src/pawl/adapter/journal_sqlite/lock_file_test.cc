#include "pawl/adapter/journal_sqlite/lock_file.h"
#include "pawl/base/descriptor.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>

#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

using contract::outcome;

Descriptor open_file(const TempDirectory& directory) {
  return Descriptor(::open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

TEST_CASE("every run has a byte of its own, clear of the store's") {
  // Part of the format: processes of different versions must agree on it.
  CHECK(lock_offset(RunId{"a"}) == 0x654bc089650ddee5);
  for (int run = 0; run < 1000; ++run) {
    CHECK(lock_offset(RunId{std::to_string(run)}) >= kRunOffsetMin);
  }
}

TEST_CASE("a run is taken once, in one process and by two open files alike") {
  const TempDirectory directory;
  const auto here = std::make_shared<RunLocks>(open_file(directory));
  const auto there = std::make_shared<RunLocks>(open_file(directory));
  auto hold = here->take(RunId{"a"});
  REQUIRE(hold);

  CHECK(outcome(here->take(RunId{"a"})) == "conflict");
  CHECK(outcome(there->take(RunId{"a"})) == "conflict");
  CHECK(outcome(there->take(RunId{"b"})) == "ok");

  hold->reset();
  CHECK(outcome(there->take(RunId{"a"})) == "ok");
}

TEST_CASE("whether a run is taken can be asked without taking it") {
  const TempDirectory directory;
  const auto here = std::make_shared<RunLocks>(open_file(directory));
  const auto there = std::make_shared<RunLocks>(open_file(directory));
  CHECK_FALSE(*here->is_taken(RunId{"a"}));
  auto hold = here->take(RunId{"a"});
  REQUIRE(hold);

  CHECK(*here->is_taken(RunId{"a"}));
  CHECK(*there->is_taken(RunId{"a"}));
  CHECK_FALSE(*there->is_taken(RunId{"b"}));
  hold->reset();
  CHECK_FALSE(*here->is_taken(RunId{"a"}));
  CHECK_FALSE(*there->is_taken(RunId{"a"}));
  CHECK(outcome(here->take(RunId{"a"})) == "ok");
}

TEST_CASE("a lock is not lost when the file is opened and closed elsewhere in the process") {
  const TempDirectory directory;
  const auto here = std::make_shared<RunLocks>(open_file(directory));
  const auto hold = here->take(RunId{"a"});
  REQUIRE(hold);

  {
    const Descriptor passing = open_file(directory);
  }

  const auto there = std::make_shared<RunLocks>(open_file(directory));
  CHECK(outcome(there->take(RunId{"a"})) == "conflict");
}

TEST_CASE("a process that is stopped while it opens the store is named within seconds") {
  const TempDirectory directory;
  const std::string path = directory / "lock";
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Descriptor file = open_file(directory);
    const auto locked = try_lock(file, kOpeningOffset, LockKind::exclusive);
    if (!locked || !*locked) ::_exit(1);
    ::kill(::getpid(), SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  const Descriptor file = open_file(directory);
  const auto before = std::chrono::steady_clock::now();

  const Status opened = lock_opening(file, path);

  const auto took = std::chrono::steady_clock::now() - before;
  REQUIRE_FALSE(opened);
  CHECK(
      opened.error().message.ends_with("is opening this store and is stopped; continue it with: "
                                       "kill -CONT " +
                                       std::to_string(child)));
  CHECK(took < std::chrono::milliseconds(kOpeningWaitMsMax));
  ::kill(child, SIGCONT);
  CHECK(lock_opening(file, path));
  ::waitpid(child, &status, 0);
}

TEST_CASE("shared locks admit each other and no exclusive one") {
  const TempDirectory directory;
  const Descriptor first = open_file(directory);
  const Descriptor second = open_file(directory);

  CHECK(*try_lock(first, kOpenOffset, LockKind::exclusive));
  CHECK_FALSE(*try_lock(second, kOpenOffset, LockKind::shared));
  CHECK(*try_lock(first, kOpenOffset, LockKind::shared));
  CHECK(*try_lock(second, kOpenOffset, LockKind::shared));
  CHECK_FALSE(*try_lock(first, kOpenOffset, LockKind::exclusive));
  CHECK(*try_lock(second, kOpenOffset, LockKind::none));
  CHECK(*try_lock(first, kOpenOffset, LockKind::exclusive));
}

}  // namespace
}  // namespace pawl::sqlite
