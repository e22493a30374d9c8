#include "pawl/adapter/backend/files/file_changes.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>
#include <set>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

struct Stage {
  Workspace work;
  Roots roots = *Roots::open(work.roots());

  Place place(const std::string& path) const { return *roots.place(path, Access::write); }
  struct stat status(const std::string& path) const {
    return read_regular(place(path), Links::refused)->status;
  }
};

TEST_CASE("several files change together") {
  const Stage stage;
  Workspace::put(stage.work.root("a"), "a1");
  Workspace::put(stage.work.root("b"), "b1");
  FileChanges changes;

  REQUIRE(changes.replace(stage.place("a"), "a2", stage.status("a")));
  REQUIRE(changes.remove(stage.place("b"), stage.status("b")));
  REQUIRE(changes.add(stage.place("new/c"), "c1", Executable::yes));
  CHECK(Workspace::get(stage.work.root("a")) == "a1");  // nothing yet
  REQUIRE(changes.commit());

  CHECK(stage.work.names() == std::vector<std::string>{"a", "new", "new/c"});
  CHECK(Workspace::get(stage.work.root("a")) == "a2");
  CHECK((stage.status("new/c").st_mode & 0777U) == 0755U);
}

TEST_CASE("with a scratch directory no temporary name is seen in the tree") {
  for (const bool commits : {true, false}) {
    const Stage stage;
    const TempDirectory scratch;
    const Descriptor held(::open(scratch.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    Workspace::put(stage.work.root("a"), "a1");
    Workspace::put(stage.work.root("b"), "b1");
    const auto seen = [&] {
      std::set<std::string> names;
      for (const auto& entry : std::filesystem::directory_iterator(stage.work.root(""))) {
        names.insert(entry.path().filename().string());
      }
      return names;
    };
    {
      FileChanges changes(held.number());
      REQUIRE(changes.replace(stage.place("a"), "a2", stage.status("a")));
      REQUIRE(changes.remove(stage.place("b"), stage.status("b")));
      REQUIRE(changes.add(stage.place("c"), "c1"));
      CHECK(seen() == std::set<std::string>{"a", "b"});
      CHECK_FALSE(std::filesystem::is_empty(scratch.path()));
      if (commits) REQUIRE(changes.commit());
    }
    CHECK(seen() == (commits ? std::set<std::string>{"a", "c"} : std::set<std::string>{"a", "b"}));
    CHECK(Workspace::get(stage.work.root("a")) == (commits ? "a2" : "a1"));
    CHECK(std::filesystem::is_empty(scratch.path()));
  }
}

TEST_CASE("one that cannot be put in place takes all others back") {
  const Stage stage;
  Workspace::put(stage.work.root("a"), "a1");
  Workspace::put(stage.work.root("b"), "b1");
  Workspace::put(stage.work.root("z"), "z1");
  FileChanges changes;
  REQUIRE(changes.replace(stage.place("a"), "a2", stage.status("a")));
  REQUIRE(changes.remove(stage.place("b"), stage.status("b")));
  REQUIRE(changes.add(stage.place("new/c"), "c1"));
  REQUIRE(changes.replace(stage.place("z"), "z2", stage.status("z")));
  Workspace::put(stage.work.root("z"), "by somebody else");

  const Status status = changes.commit();

  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::conflict);
  CHECK(stage.work.names() == std::vector<std::string>{"a", "b", "z"});
  CHECK(Workspace::get(stage.work.root("a")) == "a1");
  CHECK(Workspace::get(stage.work.root("b")) == "b1");
  CHECK(Workspace::get(stage.work.root("z")) == "by somebody else");
}

TEST_CASE("a file that appears where one is to be made is kept") {
  const Stage stage;
  FileChanges changes;
  REQUIRE(changes.add(stage.place("a"), "mine"));
  Workspace::put(stage.work.root("a"), "theirs");

  CHECK_FALSE(changes.commit());
  CHECK(Workspace::get(stage.work.root("a")) == "theirs");
  CHECK(stage.work.names() == std::vector<std::string>{"a"});
}

TEST_CASE("no link is followed on the way to a file that is made") {
  const Stage stage;
  std::filesystem::create_directory(stage.work.root(".git"));
  std::filesystem::create_directory_symlink(".git", stage.work.root("l"));
  std::filesystem::create_directory_symlink(stage.work.outside(""), stage.work.root("out"));
  FileChanges changes;

  CHECK_FALSE(changes.add(stage.place("l/config"), "x"));
  CHECK_FALSE(changes.add(stage.place("out/x"), "x"));
  CHECK_FALSE(changes.add(stage.place("l/deeper/x"), "x"));
  CHECK(changes.commit());
  CHECK(stage.work.names() == std::vector<std::string>{".git", "l", "out"});
}

TEST_CASE("without a commit nothing stays behind, and reserved names are refused") {
  const Stage stage;
  {
    FileChanges changes;
    REQUIRE(changes.add(stage.place("deep/er/a"), "x"));
    CHECK_FALSE(changes.add(stage.place(".pawl-tmp-0"), "x"));
    CHECK_FALSE(changes.add(stage.place("."), "x"));
  }
  CHECK(stage.work.names().empty());
}

}  // namespace
}  // namespace pawl::backend
