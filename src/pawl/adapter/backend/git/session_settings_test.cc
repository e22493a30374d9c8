#include "pawl/adapter/backend/git/session_settings.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/git/git_test_support.h"

namespace pawl::git {
namespace {

TEST_CASE("what the operator sets during a session is taken in, what a command set stays") {
  GitBench bench;
  bench.outside("git remote add gone https://x.example/gone");
  bench.held();
  bench.inside(
      "git config user.name Agent; git config core.fsmonitor /x; echo .. >$GIT_DIR/commondir");
  bench.outside(
      "git remote add origin https://me:pw@x.example/y; git remote remove gone; "
      "git config core.sshCommand evil; echo '*.o' >>.git/info/exclude");
  CHECK(bench.settle().empty());
  CHECK(bench.inside("git config remote.origin.url; git config user.name; "
                     "git config remote.gone.url || git config core.sshcommand || "
                     "git config core.fsmonitor || echo none") ==
        "https://x.example/y\nAgent\nnone\n");
  CHECK(bench.inside("touch b.o; git status --porcelain").empty());
}

TEST_CASE("a filter of the operator's refuses inside, so that nothing wrong is committed") {
  GitBench bench;
  bench.outside(
      "git config filter.large.clean 'sed s/long/short/' && "
      "git config filter.large.smudge 'sed s/short/long/' && "
      "echo 'p filter=large' >.gitattributes && echo long >p && git add . && "
      "git commit -qm filtered");
  bench.held();
  CHECK(bench.inside("git status --porcelain").empty());
  CHECK(bench.inside("echo longer >p; git add p || echo refused; git commit -qam x || "
                     "echo refused") == "refused\nrefused\n");
  CHECK(bench.inside("touch q; git add q; git commit -qm q; git log --format=%s -1") == "q\n");
  CHECK(refused_filters("filter.a b.clean\nx").empty());
  CHECK(refused_filters("core.x\ny").empty());
}

}  // namespace
}  // namespace pawl::git
