#include "pawl/adapter/backend/files/file_content.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

TEST_CASE("a regular file is read whole within its bound") {
  const Workspace work;
  const Roots roots = *Roots::open(work.roots());
  Workspace::put(work.root("f"), "12345");
  const Place place = *roots.place("f", Access::read);

  CHECK(read_regular(place, Links::refused, 5)->bytes == "12345");
  const auto over = read_regular(place, Links::refused, 4);
  REQUIRE_FALSE(over);
  CHECK(over.error().code == ErrorCode::limit_exceeded);
}

TEST_CASE("a stamp changes with the file") {
  const Workspace work;
  const Roots roots = *Roots::open(work.roots());
  Workspace::put(work.root("f"), "1");
  const Place place = *roots.place("f", Access::read);
  const FileStamp before = stamp_of(read_regular(place, Links::refused)->status);

  CHECK(stamp_of(read_regular(place, Links::refused)->status) == before);
  Workspace::put(work.root("f"), "22");
  CHECK_FALSE(stamp_of(read_regular(place, Links::refused)->status) == before);
}

TEST_CASE("only a regular file with one name may be replaced") {
  struct stat status{};
  status.st_mode = S_IFREG | 0644;
  status.st_nlink = 1;
  CHECK(check_replaceable(status, "f"));
  status.st_nlink = 2;
  CHECK(has(check_replaceable(status, "f").error().message, "hard link"));
  status.st_mode = S_IFDIR;
  CHECK(has(check_replaceable(status, "f").error().message, "a directory"));
  status.st_mode = S_IFCHR;
  CHECK(kind_of(status) == "a device");
}

}  // namespace
}  // namespace pawl::backend
