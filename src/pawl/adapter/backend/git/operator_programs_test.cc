#include "pawl/adapter/backend/git/operator_programs.h"

#include <doctest/doctest.h>

#include <fstream>

#include "pawl/adapter/backend/git/git_test_support.h"

namespace pawl::git {
namespace {

std::vector<std::string> found_in(const GitBench& bench) {
  const auto listed = bench.git().settings_with_origins(bench.work());
  REQUIRE(listed);
  auto found = operator_programs(*listed, bench.work(), {bench.work()});
  REQUIRE(found);
  return *found;
}

TEST_CASE("a plain repository runs nothing of its work tree") {
  GitBench bench;
  bench.outside("git remote add origin ./a; git config branch.main.description a");
  CHECK(found_in(bench).empty());
}

TEST_CASE("hooks, included files and scripts of the work tree are found") {
  GitBench bench;
  bench.outside(
      "mkdir -p tools hooks && touch tools/clean tools/show shared && "
      "git config filter.x.clean 'python3 tools/clean --fast' && "
      "git config alias.show-it '!./tools/show' && git config core.pager less && "
      "git config include.path ../shared && git config core.hooksPath hooks");
  const std::string work = bench.work();
  CHECK(found_in(bench) == std::vector<std::string>{work + "/hooks", work + "/shared",
                                                    work + "/tools/clean", work + "/tools/show"});
  // Hook managers; what is not there must not appear.
  bench.outside("git config core.hooksPath .husky/_; git config --unset include.path");
  CHECK(found_in(bench).front() == work + "/.husky");
}

TEST_CASE("what lies elsewhere or in .git is held in other ways") {
  GitBench bench;
  bench.outside("git config core.hooksPath .git/other; git config core.pager /usr/bin/less");
  CHECK(found_in(bench).empty());
}

TEST_CASE("files that are too many to be held are an error, and none is left out in silence") {
  const TempDirectory work;
  const std::string at = work.path();
  std::string listed;
  for (std::size_t i = 0; i < kOperatorProgramsMax; ++i) {
    const std::string name = "tool" + std::to_string(i);
    std::ofstream{work / name};
    listed += "file:.git/config" + std::string(1, '\0') + "alias.a" + std::to_string(i) + "\n!./" +
              name + std::string(1, '\0');
  }
  CHECK(operator_programs(listed, at, {at})->size() == kOperatorProgramsMax);
  std::ofstream{work / "last"};
  listed += "file:.git/config" + std::string(1, '\0') + "alias.z\n!./last" + std::string(1, '\0');
  const auto refused = operator_programs(listed, at, {at});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace pawl::git
