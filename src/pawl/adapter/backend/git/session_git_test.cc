#include "pawl/adapter/backend/git/session_git.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/adapter/backend/git/git_test_support.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

ExecutionContext context_of(const GitBench& bench) {
  ExecutionContext context;
  context.working_directory = bench.work();
  context.write_roots = {bench.work()};
  context.git_directory = bench.data();
  return context;
}

bool has_target(const std::vector<sandbox::PlanMount>& mounts, const std::string& target) {
  return std::ranges::any_of(mounts, [&](const auto& mount) { return mount.target == target; });
}

TEST_CASE("the directories on the way to a nested repository are held in their place") {
  GitBench bench;
  bench.outside("mkdir -p d/b && git init -q d/b/c");
  const auto session = SessionGit::open(context_of(bench));
  REQUIRE(session);
  const auto mounts = (*session)->mounts();
  for (const char* part : {"/.git", "/d", "/d/b", "/d/b/c", "/d/b/c/.git"}) {
    CHECK_MESSAGE(has_target(mounts, bench.work() + part), part);
  }
  CHECK((*session)->places().size() == 2);
  CHECK(!(*session)->has_made());
}

TEST_CASE("what commands of a killed session made is not believed by the next") {
  GitBench bench;
  {
    const auto killed = SessionGit::open(context_of(bench));
    REQUIRE(killed);
    bench.outside(
        "git init -q new && git -C new config core.fsmonitor /bin/false; "
        "mkdir other; echo 'gitdir: /x' >other/.git");
  }
  const auto next = SessionGit::open(context_of(bench));
  REQUIRE(next);
  CHECK(bench.outside("git -C new config core.fsmonitor || echo none") == "none\n");
  CHECK(!fs::exists(bench.work() + "/other/.git"));
  CHECK((*next)->places().size() == 2);
  (*next)->finish();
}

TEST_CASE("what an operator makes while no session lives is the operator's") {
  GitBench bench;
  {
    const auto session = SessionGit::open(context_of(bench));
    REQUIRE(session);
    (*session)->finish();
  }
  bench.outside("git init -q new && git -C new config core.fsmonitor /bin/false");
  REQUIRE(SessionGit::open(context_of(bench)));
  CHECK(bench.outside("git -C new config core.fsmonitor") == "/bin/false\n");
}

TEST_CASE("a work tree of the session's own is left alone, another file is not") {
  GitBench bench;
  const auto session = SessionGit::open(context_of(bench));
  REQUIRE(session);
  bench.outside("mkdir tree && echo \"gitdir: $PWD/.git/worktrees/tree\" >tree/.git");
  CHECK(!(*session)->has_made());
  bench.outside("echo \"gitdir: $PWD/.git/worktrees/../../x\" >tree/.git");
  CHECK((*session)->has_made());
}

}  // namespace
}  // namespace pawl::git
