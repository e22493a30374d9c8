#include "pawl/adapter/backend/git/guarded_paths.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/git/git_test_support.h"

namespace pawl::git {
namespace {

constexpr const char* kPlant =
    "b=$(echo evil | git hash-object -w --stdin) && git update-index --add --cacheinfo 100644,$b,";

// A repository with a protected file of the operator's, and a program that the operator's git runs.
struct Guarded : GitBench {
  Guarded() {
    guarded.anywhere = {".envrc", ".ssh"};
    guarded.places = {work() + "/.husky", work() + "/.bashrc", "/elsewhere/.bashrc"};
    outside(
        "mkdir .husky sub && echo mine >.envrc && echo hook >.husky/pre-commit && "
        "echo x >sub/x && git add -A && git commit -qm second");
  }
};

}  // namespace

TEST_CASE("paths are guarded by name at every depth, or at their place") {
  GuardedPaths paths;
  paths.anywhere = {".envrc", ".docker/config.json"};
  paths.places = {"/w/.bashrc", "/w/sub/.vscode", "/other"};
  for (const char* path : {".envrc", "a/.envrc", "a/.envrc/b", "x/.docker/config.json", ".bashrc",
                           "sub/.vscode", "sub/.vscode/tasks.json"}) {
    CHECK_MESSAGE(paths.holds("/w", path), path);
  }
  for (const char* path : {".envrcs", "x.envrc", "a/.bashrc", "sub/.vscodes", "config.json", "w"}) {
    CHECK_MESSAGE(!paths.holds("/w", path), path);
  }
  CHECK_FALSE(paths.holds("/w/sub", ".bashrc"));
  CHECK(paths.holds("/w/sub", ".vscode/x"));
}

TEST_CASE("changes are read as git prints them, of one parent and of more") {
  const std::string old(40, '1');
  const std::string made(40, '2');
  const std::string log = ":100644 100755 " + old + " " + made + " M" + '\0' + ":x y\n" + '\0' +
                          "\n::100644 100644 000000 " + old + " " + old + " " +
                          std::string(40, '0') + " DD" + '\0' + "z" + '\0';
  const auto changes = changes_in_log(log);
  REQUIRE(changes);
  REQUIRE(changes->size() == 2);
  CHECK((*changes)[0] == GuardedChange{":x y\n", "100755", made});
  CHECK((*changes)[1] == GuardedChange{"z", "000000", std::string(40, '0')});
  CHECK_FALSE(changes_in_log("nonsense"));
}

TEST_CASE("a commit that changes a protected name is not published, and says which") {
  Guarded bench;
  bench.held();
  SUBCASE("the file itself") {
    bench.inside(std::string(kPlant) + ".envrc");
  }
  SUBCASE("a new one, deep") {
    bench.inside(std::string(kPlant) + "sub/deep/.ssh/config");
  }
  SUBCASE("a program that git runs") {
    bench.inside(std::string(kPlant) + ".husky/pre-commit");
  }
  SUBCASE("a link") {
    bench.inside(
        "b=$(printf mine | git hash-object -w --stdin) && "
        "git update-index --add --cacheinfo 120000,$b,.envrc");
  }
  SUBCASE("its removal") {
    bench.inside("git rm -q --cached .envrc");
  }
  bench.inside("git commit -qm planted");
  CHECK(bench.settle().find("main is not published: it changes ") == 0);
  CHECK(bench.outside("git log --format=%s -1; git status --porcelain") == "second\n");
  // Put back in a further commit it is still in the one before.
  bench.inside("git reset -q HEAD~1 && git commit -q --allow-empty -m fine");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log --format=%s -1") == "fine\n");
}

TEST_CASE(
    "what is hidden in a commit before, a branch, a tag, the stash or the index stays inside") {
  Guarded bench;
  bench.held();
  const std::string commit =
      " && c=$(git commit-tree -p HEAD -m planted $(git write-tree)) && git reset -q";
  SUBCASE("a commit before") {
    bench.inside(std::string(kPlant) + ".envrc && git commit -qm planted && " +
                 "git reset -q HEAD~1 -- .envrc && git commit -qm back");
  }
  SUBCASE("a branch") {
    bench.inside(std::string(kPlant) + ".envrc" + commit + " && git branch side $c");
  }
  SUBCASE("a tag") {
    bench.inside(std::string(kPlant) + ".envrc" + commit + " && git tag t $c");
  }
  SUBCASE("the stash") {
    bench.inside(std::string(kPlant) + ".envrc" + commit +
                 " && git stash store -m x $(git commit-tree -p HEAD -p $c -m w $c^{tree})");
  }
  SUBCASE("a merge") {
    bench.inside("git commit -q --allow-empty -m a && git branch o HEAD~1 && " +
                 std::string(kPlant) +
                 ".envrc && c=$(git commit-tree -p HEAD -p o -m m $(git write-tree)) && "
                 "git reset -q && git update-ref refs/heads/main $c");
  }
  SUBCASE("the index") {
    bench.inside(std::string(kPlant) + ".envrc");
  }
  CHECK(bench.settle().find(" is not published: it changes .envrc") != std::string::npos);
  CHECK(bench.outside("git log --all --format=%s") == "second\nfirst\n");
  CHECK(bench.outside("git status --porcelain; git tag; git stash list").empty());
}

TEST_CASE("what the operator has changed may be committed, merged and rebased inside") {
  Guarded bench;
  bench.held();
  SUBCASE("in the work tree") {
    bench.outside("echo mine too >.envrc && rm -r .husky");
    bench.inside("git add -A && git commit -qm theirs");
  }
  SUBCASE("with other line ends") {
    bench.outside("printf 'mine\\r\\ntoo\\r\\n' >.envrc");
    bench.inside("git -c core.autocrlf=true commit -qam theirs");
  }
  SUBCASE("on another branch") {
    bench.outside(
        "git switch -qc o && echo mine too >.envrc && git commit -qam o && "
        "git switch -q main");
    CHECK(bench.settle().empty());
    bench.inside(
        "git commit -q --allow-empty -m b && git merge -qm merged -s ours o && "
        "git read-tree o && git commit -q --amend -m theirs");
  }
  SUBCASE("a file that is no one's but the agent's") {
    bench.inside(
        "mkdir -p sub/.config && echo x >sub/.config/x && git add sub && "
        "git commit -qm theirs");
  }
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log --format=%s -1") == "theirs\n");
}

}  // namespace pawl::git
