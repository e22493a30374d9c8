#include "pawl/base/files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/support/temp_directory.h"

namespace pawl {

TEST_CASE("what was written is read") {
  const TempDirectory directory;
  const std::string path = directory / "file";
  const std::string text = std::string(100'000, 'x') + '\0' + "end";

  REQUIRE(write_new_file(path, text));

  CHECK(*read_file(path, text.size()) == text);
}

TEST_CASE("a file that is there is not written over") {
  const TempDirectory directory;
  REQUIRE(write_new_file(directory / "file", "first"));

  const Status again = write_new_file(directory / "file", "second");

  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::conflict);
  CHECK(*read_file(directory / "file", 100) == "first");
}

TEST_CASE("reading is bounded, also where there is no end") {
  const auto endless = read_file("/dev/zero", 1000);
  REQUIRE_FALSE(endless);
  CHECK(endless.error().code == ErrorCode::limit_exceeded);
}

TEST_CASE("what cannot be read says why") {
  const TempDirectory directory;
  CHECK(read_file(directory / "not-there", 10).error().code == ErrorCode::not_found);
  CHECK(read_file(directory.path(), 10).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("of what a tool can write only a regular file is read, and never waited for (F11)") {
  const TempDirectory directory;
  REQUIRE(write_new_file(directory / "file", "text"));
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);

  CHECK(*read_regular_file(directory / "file", 4) == "text");
  CHECK(read_regular_file(directory / "file", 3).error().code == ErrorCode::limit_exceeded);
  CHECK(read_regular_file(directory / "pipe", 10).error().code == ErrorCode::invalid_argument);
  CHECK(read_regular_file("/dev/zero", 10).error().code == ErrorCode::invalid_argument);
  CHECK(read_regular_file(directory.path(), 10).error().code == ErrorCode::invalid_argument);
  CHECK(read_regular_file(directory / "not-there", 10).error().code == ErrorCode::not_found);
  CHECK(read_regular_file("/proc/self/pagemap", 10)->empty());  // it has no end, and says 0
}

TEST_CASE("a private directory is private, and may be there already") {
  const TempDirectory directory;
  const std::string path = directory / "a/b/c";

  REQUIRE(make_private_directory(path));
  CHECK(make_private_directory(path));

  using std::filesystem::perms;
  CHECK(std::filesystem::status(path).permissions() == perms::owner_all);
  REQUIRE(write_new_file(directory / "file", ""));
  CHECK_FALSE(make_private_directory(directory / "file/x"));
}

TEST_CASE("directories on the way are private too, whatever the umask") {
  const TempDirectory directory;
  const mode_t before = ::umask(0);
  const Status made = make_private_directory(directory / "a/b/c");
  ::umask(before);
  REQUIRE(made);
  using std::filesystem::perms;
  for (const char* const path : {"a", "a/b", "a/b/c"}) {
    CHECK(std::filesystem::status(directory / path).permissions() == perms::owner_all);
  }
}

TEST_CASE("the facts of a file are those of what a link leads to") {
  const TempDirectory directory;
  REQUIRE(write_new_file(directory / "file", "four"));
  std::filesystem::create_symlink("file", directory / "link");

  const auto file = look_at_file(directory / "file");
  const auto link = look_at_file(directory / "link");

  REQUIRE(file);
  REQUIRE(link);
  CHECK(file->kind == FileFacts::Kind::regular);
  CHECK(file->bytes == 4);
  CHECK(link->inode == file->inode);
  CHECK(look_at_file(directory.path())->kind == FileFacts::Kind::directory);
  CHECK(look_at_file("/dev/null")->kind == FileFacts::Kind::other);
  CHECK_FALSE(look_at_file(directory / "not-there"));
}

TEST_CASE("a file can be executed when its mode says so") {
  const TempDirectory directory;
  REQUIRE(write_new_file(directory / "file", ""));
  CHECK_FALSE(can_be_executed(directory / "file"));
  std::filesystem::permissions(directory / "file", std::filesystem::perms::owner_all);
  CHECK(can_be_executed(directory / "file"));
}

}  // namespace pawl
