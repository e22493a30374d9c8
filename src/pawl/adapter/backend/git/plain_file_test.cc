#include "pawl/adapter/backend/git/plain_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

Descriptor open_directory(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

TEST_CASE("what is no plain file, or too large, is not read") {
  const TempDirectory directory;
  std::ofstream(directory / "a") << "four";
  fs::create_symlink(directory / "a", directory / "link");
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  CHECK(*read_plain_file(directory / "a", 4) == "four");
  CHECK(read_plain_file(directory / "a", 3).error().code == ErrorCode::limit_exceeded);
  CHECK(read_plain_file(directory / "none", 3).error().code == ErrorCode::not_found);
  CHECK(!read_plain_file(directory / "link", 9));
  CHECK(!read_plain_file(directory / "fifo", 9));
  CHECK(!read_plain_file(directory.path(), 9));
}

TEST_CASE("nothing is read or written through a link beneath a directory") {
  const TempDirectory directory;
  fs::create_directories(directory / "in");
  fs::create_directories(directory / "out");
  std::ofstream(directory / "out/secret") << "secret";
  fs::create_directory_symlink(directory / "out", directory / "in/info");
  fs::create_symlink(directory / "out/secret", directory / "in/config");
  const Descriptor in = open_directory(directory / "in");
  CHECK(!read_plain_beneath(in.number(), "info/secret", 99));
  CHECK(!read_plain_beneath(in.number(), "config", 99));
  CHECK(!read_plain_beneath(in.number(), "../out/secret", 99));
  CHECK(!make_beneath(in.number(), "info", {}));
  CHECK(!replace_beneath(in.number(), "info/secret", "x", {}));
  CHECK(replace_beneath(in.number(), "config", "mine", {}));
  CHECK(!fs::is_symlink(directory / "in/config"));
  CHECK(*read_plain_file(directory / "out/secret", 99) == "secret");
}

TEST_CASE("a locked file is replaced only under its lock, and if it is still as it was") {
  const TempDirectory directory;
  std::ofstream(directory / "HEAD") << "old";
  const Descriptor at = open_directory(directory.path());
  const auto fine = [] { return ok(); };
  const auto moved = []() -> Status { return Error{ErrorCode::conflict, "moved"}; };
  CHECK(replace_locked(at.number(), "HEAD", "new", {}, moved).error().message == "moved");
  CHECK(!fs::exists(directory / "HEAD.lock"));
  CHECK(replace_locked(at.number(), "HEAD", "new", {}, fine));
  CHECK(*read_plain_file(directory / "HEAD", 99) == "new");
  std::ofstream(directory / "HEAD.lock") << "git's";
  CHECK(replace_locked(at.number(), "HEAD", "newer", {}, fine).error().code == ErrorCode::conflict);
  CHECK(*read_plain_file(directory / "HEAD.lock", 99) == "git's");
}

}  // namespace
}  // namespace pawl::git
