#include "pawl/adapter/backend/files/tree_walk.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

struct Stage {
  Workspace work;
  Roots roots = *Roots::open(work.roots());
  std::vector<std::string> seen;

  WalkEnd walk(const WalkBounds& bounds, const Visitor& visitor) {
    return *walk_tree(*roots.place(".", Access::read), bounds, visitor);
  }
  Visitor note() {
    return [this](const WalkEntry& entry) {
      seen.push_back(entry.relative);
      return Visit::go_on;
    };
  }
};

TEST_CASE("a walk goes in order of names, and follows no link") {
  Stage stage;
  Workspace::put(stage.work.root("b/f"), "");
  Workspace::put(stage.work.root("a"), "");
  std::filesystem::create_directory_symlink("b", stage.work.root("l"));

  CHECK(stage.walk({}, stage.note()) == WalkEnd::complete);
  CHECK(stage.seen == std::vector<std::string>{"a", "b", "b/f", "l"});
}

TEST_CASE("a walk stops where it is told, and at its bounds") {
  Stage stage;
  for (const char* name : {"a/b/c", "d"}) Workspace::put(stage.work.root(name), "");

  CHECK(stage.walk({1, 100}, stage.note()) == WalkEnd::bounded);
  CHECK(stage.seen == std::vector<std::string>{"a", "d"});
  CHECK(stage.walk({10, 2}, stage.note()) == WalkEnd::bounded);
  CHECK(stage.walk({}, [](const WalkEntry&) { return Visit::stop; }) == WalkEnd::stopped);
  CHECK(stage.walk({1, 100}, [](const WalkEntry&) { return Visit::pass_by; }) == WalkEnd::complete);
  stage.seen.clear();
  CHECK(stage.walk({10, 100, 0}, stage.note()) == WalkEnd::bounded);  // no time at all
  CHECK(stage.seen.empty());
  CHECK_FALSE(walk_tree(*stage.roots.place("none", Access::read), {}, stage.note()));
  CHECK(is_bulk_directory("node_modules"));
  CHECK_FALSE(is_bulk_directory("src"));
}

}  // namespace
}  // namespace pawl::backend
