#include "pawl/adapter/backend/files/file_scan.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

TEST_CASE("files that were made or changed are listed with size and digest") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("kept"), "same");
  Workspace::put(work.root("changed"), "old");
  Workspace::put(work.root("gone"), "x");
  const RootedFiles::Scan before = files->scan();

  Workspace::put(work.root("changed"), "newer");
  Workspace::put(work.root("sub/made"), "m");
  Workspace::put(work.root(".git/index"), "passed by");
  Workspace::put(work.root(".pawl-tmp-1"), "passed by");
  Workspace::put(work.reference("r"), "not a write root");
  std::filesystem::remove(work.root("gone"));
  std::filesystem::create_symlink(work.outside("secret"), work.root("link"));

  CHECK(files->changed_since(before) ==
        std::vector<FileRef>{{"changed", 5, sha256("newer")}, {"sub/made", 1, sha256("m")}});
  CHECK(files->changes_since(before).note.empty());
  CHECK(files->changed_since(files->scan()).empty());
}

TEST_CASE("a look is spared as long as nothing changes") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("sub/f"), "old");
  CHECK_FALSE(files->quiet_scan());
  const auto first = files->look();
  CHECK(files->look() == first);
  const auto quiet = files->quiet_scan();
  REQUIRE(quiet);
  std::filesystem::create_directory(work.root("made"));
  CHECK_FALSE(files->quiet_scan());
  CHECK(files->look() != first);
  CHECK(files->quiet_scan() > quiet);
  Workspace::put(work.root(".git/index"), "passed by");  // makes .git
  const auto second = files->look();
  Workspace::put(work.root(".git/index"), "passed by again");
  CHECK(files->look() == second);
  Workspace::put(work.root("sub/f"), "new");
  const auto third = files->look();
  CHECK(RootedFiles::changed_between(*second, *third) ==
        std::vector<FileRef>{{"sub/f", 3, sha256("new")}});
  Workspace::put(work.root("new/deep/f"), "made");
  const auto fourth = files->look();
  CHECK(fourth != third);
  Workspace::put(work.root("new/deep/f"), "changed");  // in a directory that is new
  CHECK(files->look() != fourth);
  const auto last = files->look();
  files->must_look();
  CHECK(files->look() != last);
}

TEST_CASE("a file with a second name is looked at when it was written by that name") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("f"), "old");
  std::filesystem::create_directory(work.root("node_modules"));
  std::filesystem::create_hard_link(work.root("f"), work.root("node_modules/f"));
  const auto first = files->look();
  REQUIRE(files->quiet_scan());
  Workspace::put(work.root("node_modules/f"), "new");
  const auto second = files->look();
  CHECK(RootedFiles::changed_between(*first, *second) ==
        std::vector<FileRef>{{"f", 3, sha256("new")}});
}

TEST_CASE("the same size and time do not hide a change") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("f"), "old");
  struct stat status{};
  REQUIRE(::stat(work.root("f").c_str(), &status) == 0);
  const RootedFiles::Scan before = files->scan();

  Workspace::put(work.root("f.new"), "new");
  std::filesystem::rename(work.root("f.new"), work.root("f"));
  const timespec times[2] = {status.st_mtim, status.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, work.root("f").c_str(), times, 0) == 0);

  CHECK(files->changed_since(before) == std::vector<FileRef>{{"f", 3, sha256("new")}});
}

TEST_CASE("roots inside roots, and roots named twice, are looked at once") {
  const Workspace work;
  std::filesystem::create_directory(work.root("inner"));
  FileRoots roots = work.roots();
  roots.write_roots.push_back(work.root("inner"));
  roots.write_roots.push_back(work.root("."));
  const auto files = *RootedFiles::open(roots);
  const RootedFiles::Scan before = files->scan();

  Workspace::put(work.root("inner/a"), "1");
  Workspace::put(work.root("inner-b"), "2");
  Workspace::put(work.root("c/d"), "3");

  CHECK(files->changed_since(before) == std::vector<FileRef>{{"c/d", 1, sha256("3")},
                                                             {"inner-b", 1, sha256("2")},
                                                             {"inner/a", 1, sha256("1")}});
}

TEST_CASE("a file that is too large to be read is left out at once, and takes nobody's place") {
  const Workspace work;
  const auto files = work.open();
  const RootedFiles::Scan before = files->scan();
  Workspace::put(work.root("a"), "");
  constexpr off_t kTerabyte = off_t{1} << 40;
  if (::truncate(work.root("a").c_str(), kTerabyte) != 0) {
    MESSAGE("skipped: no files with holes here");
    return;
  }
  Workspace::put(work.root("b"), "x");

  const FileChangesSeen seen = files->changes_since(before);

  CHECK(seen.files == std::vector<FileRef>{{"b", 1, sha256("x")}});
  CHECK(seen.note == "1 more files were made or changed");
}

TEST_CASE("more changes than are listed are noted") {
  const Workspace work;
  const auto files = work.open();
  const RootedFiles::Scan before = files->scan();
  for (std::size_t i = 0; i < kChangedFilesMax + 3; ++i) {
    Workspace::put(work.root(std::to_string(i)), "x");
  }

  const FileChangesSeen seen = files->changes_since(before);

  CHECK(seen.files.size() == kChangedFilesMax);
  CHECK(seen.note == "3 more files were made or changed");
}

}  // namespace
}  // namespace pawl::backend
