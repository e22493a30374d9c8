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

TEST_CASE("each repository is held in its place, and its git directory is another") {
  GitBench bench;
  bench.outside("mkdir -p d/b && git init -q d/b/c");
  const auto session = SessionGit::open(context_of(bench));
  REQUIRE(session);
  const auto places = (*session)->protected_places();
  const auto mounts = (*session)->mounts();
  for (const char* part : {"/.git", "/d/b/c/.git"}) {
    const std::string path = bench.work() + part;
    CHECK(std::ranges::find(places, path) != places.end());
    CHECK(std::ranges::find(mounts, path, &sandbox::PlanMount::target) != mounts.end());
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
