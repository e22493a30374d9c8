#include "pawl/adapter/backend/git/noted_lock.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

struct LockBench {
  TempDirectory directory;
  TempDirectory slot;
  std::string place = directory.path();
  std::string name = "index";
  Owner owner{::geteuid(), ::getegid()};
  Descriptor notes{::open(slot.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

  Status replace(const std::string& text, const std::function<Status()>& still) const {
    return replace_noted(notes.number(), {place, name, owner}, text, still);
  }
  std::string lock() const { return place + "/index.lock"; }
  std::string text() const {
    const auto read = read_plain_file(place + "/index", 100);
    return read ? *read : read.error().message;
  }
};

TEST_CASE("a file is replaced while its lock is held, and nothing else is left") {
  const LockBench bench;
  CHECK(bench.replace("one", [&] {
    CHECK(fs::exists(bench.lock()));
    return ok();
  }));
  CHECK(bench.text() == "one");
  const Status refused =
      bench.replace("two", [] { return Status(Error{ErrorCode::conflict, "moved"}); });
  CHECK(refused.error().message == "moved");
  CHECK(bench.text() == "one");
  CHECK(!fs::exists(bench.lock()));
  CHECK(fs::is_empty(bench.slot.path()));
}

TEST_CASE("an operator's lock is respected and stays") {
  const LockBench bench;
  std::ofstream(bench.lock()) << "theirs";
  CHECK(bench.replace("one", [] { return ok(); }).error().code == ErrorCode::conflict);
  CHECK(fs::exists(bench.lock()));
  CHECK(!remove_noted_lock(bench.notes.number()));
}

// Killed while it holds the lock.
void kill_within(const LockBench& bench) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    static_cast<void>(bench.replace("ours", [] {
      ::raise(SIGKILL);
      return ok();
    }));
  }
  ::waitpid(child, nullptr, 0);
  REQUIRE(fs::exists(bench.lock()));
}

TEST_CASE("the lock of a killed session is recognised and removed") {
  const LockBench bench;
  kill_within(bench);
  CHECK(remove_noted_lock(bench.notes.number()));
  CHECK(!fs::exists(bench.lock()));
  CHECK(!remove_noted_lock(bench.notes.number()));
}

TEST_CASE("a lock that the operator has taken since is not touched") {
  const LockBench bench;
  kill_within(bench);
  const std::string other = bench.place + "/other";
  std::ofstream(other) << "ours";
  fs::rename(other, bench.lock());
  CHECK(!remove_noted_lock(bench.notes.number()));
  CHECK(fs::exists(bench.lock()));
}

}  // namespace
}  // namespace pawl::git
