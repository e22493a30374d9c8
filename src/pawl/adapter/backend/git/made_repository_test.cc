#include "pawl/adapter/backend/git/made_repository.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/git/git_test_support.h"
#include "pawl/adapter/backend/git/private_directory.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

TEST_CASE(
    "of a repository that a tool has made the host gets commits, and a configuration of its own") {
  GitBench bench;  // what it has made itself is the tool's here
  bench.outside(
      "git config core.fsmonitor /bin/false; git config alias.st '!id'; "
      "git config remote.origin.url /somewhere; mkdir -p .git/hooks; "
      "echo x >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo . >.git/commondir");
  CHECK(is_made_repository(bench.work() + "/.git"));
  CHECK(take_made_repository(bench.git(), bench.work(), bench.data()));
  CHECK(!fs::exists(bench.work() + "/.git/hooks"));
  CHECK(!fs::exists(bench.work() + "/.git/commondir"));
  CHECK(bench.outside("git config core.fsmonitor || git config alias.st || echo none") == "none\n");
  CHECK(bench.outside("git config remote.origin.url") == "/somewhere\n");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log --format=%s; git status --porcelain") == "first\n");
  CHECK(bench.outside("git fsck --strict").empty());
}

}  // namespace
}  // namespace pawl::git
