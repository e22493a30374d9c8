#include "pawl/adapter/backend/git/file_marks.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>
#include <fstream>

#include "pawl/base/descriptor.h"
#include "tests/support/temp_directory.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a file that is replaced, made or removed anywhere beneath is seen") {
  const TempDirectory directory;
  fs::create_directories(directory / "refs/heads/a");
  std::ofstream(directory / "HEAD") << "x";
  std::ofstream(directory / "other") << "x";
  const Descriptor at(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto marks = [&] { return marks_of(at.number(), {"HEAD", "index", "refs"}); };
  Digest before = marks();
  CHECK(before == marks());
  const auto has_changed = [&] { return std::exchange(before, marks()) != before; };
  std::ofstream(directory / "other") << "another";
  CHECK(!has_changed());
  std::ofstream(directory / "index") << "y";
  CHECK(has_changed());
  std::ofstream(directory / "refs/heads/a/b") << "y";
  CHECK(has_changed());
  fs::remove(directory / "refs/heads/a/b");
  CHECK(has_changed());
  std::ofstream(directory / "HEAD.new") << "x";
  fs::rename(directory / "HEAD.new", directory / "HEAD");
  CHECK(has_changed());
}

TEST_CASE("a link is not followed, also not in a ring") {
  const TempDirectory directory;
  fs::create_directories(directory / "refs");
  fs::create_directory_symlink("..", directory / "refs/up");
  const Descriptor at(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(marks_of(at.number(), {"refs"}) == marks_of(at.number(), {"refs"}));
}

}  // namespace
}  // namespace pawl::git
