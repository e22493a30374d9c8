#include "pawl/adapter/backend/files/roots.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

TEST_CASE("paths become plain as text") {
  CHECK(*plain_path("/a/./b//c/../d/") == "/a/b/d");
  CHECK(*plain_path("/") == "/");
  CHECK(*plain_path("/a/..") == "/");
  CHECK_FALSE(plain_path("/.."));
}

TEST_CASE("the longest root decides, and says whether there may be writes") {
  const Workspace work;
  std::filesystem::create_directories(work.root("locked/open"));
  FileRoots asked = work.roots();
  asked.read_roots.push_back(work.root("locked"));
  asked.write_roots.push_back(work.root("locked/open"));
  const Roots roots = *Roots::open(asked);

  CHECK(roots.place("f", Access::write)->path == "f");
  CHECK_FALSE(roots.place("locked/f", Access::write));
  CHECK(roots.place("locked/f", Access::read)->relative == "f");
  CHECK(roots.place("locked/open/f", Access::write)->path == "locked/open/f");
  CHECK(roots.place(work.reference("f"), Access::read)->path == work.reference("f"));
  CHECK(roots.place(work.root("f"), Access::read)->path == "f");
}

TEST_CASE("roots that cannot be held are refused by name") {
  const Workspace work;
  FileRoots roots = work.roots();
  roots.read_roots = {work.outside("missing")};
  CHECK(has(Roots::open(roots).error().message, work.outside("missing")));
  roots.read_roots = {"relative"};
  CHECK(has(Roots::open(roots).error().message, "not an absolute path"));
  roots.read_roots = {work.outside("secret")};  // not a directory
  CHECK_FALSE(Roots::open(roots));
  CHECK_FALSE(Roots::open(FileRoots{"/", {}, {}, {}}));
  CHECK_FALSE(Roots::open(FileRoots{"relative", {work.root("")}, {}, {}}));
}

TEST_CASE("a root may be spelled through a link, and a working directory too") {
  const Workspace work;
  Workspace::put(work.root("f"), "x");
  std::filesystem::create_directory_symlink(work.root(""), work.outside("w"));

  FileRoots by_link = work.roots();
  by_link.write_roots = {work.outside("w")};
  CHECK(Roots::open(by_link)->place("f", Access::write));
  FileRoots from_link = work.roots();
  from_link.working_directory = work.outside("w");
  CHECK(Roots::open(from_link)->place("f", Access::write));
}

TEST_CASE("a working directory outside the roots gives no relative path") {
  const Workspace work;
  FileRoots roots = work.roots();
  roots.working_directory = work.outside("");
  const Roots opened = *Roots::open(roots);

  CHECK_FALSE(opened.place("secret", Access::read));
  CHECK(opened.place(work.root("f"), Access::read)->path == work.root("f"));
}

}  // namespace
}  // namespace pawl::backend
