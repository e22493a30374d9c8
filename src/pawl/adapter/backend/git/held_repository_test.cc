#include "pawl/adapter/backend/git/held_repository.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/git/git_test_support.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

TEST_CASE("what is committed, staged and switched to inside is published") {
  GitBench bench;
  CHECK(!bench.held().is_touched());
  bench.inside(
      "git switch -qc topic && echo b >b && git add b && git commit -qm second && "
      "git tag v1 && echo c >c && git add c");
  CHECK(bench.held().is_touched());
  CHECK(bench.settle().empty());
  CHECK(!bench.held().is_touched());
  CHECK(bench.outside("git log --format=%s -1; git branch --show-current; git tag") ==
        "second\ntopic\nv1\n");
  CHECK(bench.outside("git status --porcelain") == "A  c\n");
  CHECK(bench.outside("git fsck --strict").empty());
  bench.end();
  CHECK(!fs::exists(bench.held().place().slot()));
}

TEST_CASE("what the operator does outside is taken in") {
  GitBench bench;
  bench.held();
  bench.outside(
      "git switch -qc other && echo b >b && git add b && git commit -qm second && "
      "echo c >c && git add c");
  CHECK(bench.settle().empty());
  CHECK(bench.inside("git log --format=%s -1; git branch --show-current; git status --porcelain") ==
        "second\nother\nA  c\n");
}

TEST_CASE(
    "what is staged inside stays so, and undoes nothing, when the operator commits or switches") {
  GitBench bench;
  bench.outside("echo o >o && git add o && git commit -qm o && git branch other");
  bench.held();
  bench.inside("echo b >b && git add b");
  SUBCASE("a commit") {
    bench.outside("echo theirs >o && git commit -qm theirs o");
    CHECK(bench.settle().empty());
  }
  SUBCASE("another branch") {
    bench.outside(
        "git switch -q other && echo theirs >o && git commit -qam theirs && git switch -q main");
    CHECK(bench.settle().empty());
    bench.outside("git switch -q other");
    CHECK(bench.settle().empty());
  }
  CHECK(bench.outside("git status --porcelain") == "A  b\n");
  CHECK(bench.inside("git status --porcelain") == "A  b\n");
  CHECK(bench.outside("git log --format=%s -1") == "theirs\n");
}

TEST_CASE("names that would stand in for the operator's own stay inside") {
  GitBench bench;
  bench.outside("git update-ref refs/remotes/origin/main HEAD");
  bench.held();
  bench.inside(
      "git commit -q --allow-empty -m other && git tag main && git tag origin/main && "
      "git update-ref refs/heads/-f HEAD && git update-ref refs/heads/HEAD HEAD && "
      "git tag fine && git reset -q HEAD~1");
  const std::string said = bench.settle();
  for (const char* name :
       {"refs/tags/main", "refs/tags/origin/main", "refs/heads/-f", "refs/heads/HEAD"}) {
    CHECK(said.find(std::string(name) + " is not published: ") != std::string::npos);
  }
  CHECK(bench.outside("git for-each-ref --format='%(refname)'") ==
        "refs/heads/main\nrefs/remotes/origin/main\nrefs/tags/fine\n");
}

TEST_CASE("where both have changed a file the operator's commit is not undone") {
  GitBench bench;
  bench.outside("echo o >o && git add o && git commit -qm o");
  bench.held();
  bench.inside("echo ours >o && git add o");
  bench.outside("git reset -q; echo theirs >o && git commit -qam theirs");
  CHECK(bench.settle().find("the index here could not follow HEAD") == 0);
  bench.inside("touch other");
  bench.settle();
  CHECK(bench.outside("git status --porcelain") == "?? other\n");
  bench.inside("rm other");
  CHECK(bench.outside("git show HEAD:o") == "theirs\n");
  bench.inside("git reset -q");
  CHECK(bench.settle().empty());
  CHECK(bench.inside("git status --porcelain").empty());
}

TEST_CASE("a branch that both have moved is said, shown, and published when it was merged") {
  GitBench bench;
  bench.held();
  bench.outside("echo host >h && git add h && git commit -qm theirs");
  bench.inside("echo own >o && git add o && git commit -qm ours");
  const std::string said = bench.settle();
  CHECK(said.find("main was moved outside") != std::string::npos);
  CHECK(bench.outside("git log --format=%s -1") == "theirs\n");
  CHECK(bench.outside("git status --porcelain") == "?? o\n");
  CHECK(bench.settle().empty());  // is not said again
  bench.end();
  CHECK(fs::exists(bench.held().place().slot()));  // and not lost
  CHECK(bench.inside("git log --format=%s -1 host/main") == "theirs\n");
  // The work tree is the same, so it has the operator's file already.
  bench.inside("git add -A && git commit -qm both && git merge -q --no-edit host/main");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log --format=%p -1 | wc -w") == "2\n");
  CHECK(bench.outside("git status --porcelain").empty());
}

TEST_CASE("an object that the host's git refuses holds up nothing but what leads to it") {
  GitBench bench;
  bench.held();
  bench.inside(
      "blob=$(git hash-object -w a); tree=$(printf '100644 blob %s\\tconfig\\n' $blob | git "
      "mktree); "
      "tree=$(printf '040000 tree %s\\t.git\\n' $tree | git mktree); "
      "git update-ref refs/heads/bad $(git commit-tree -m x $tree); "
      "echo b >b; git add b; git commit -qm good; echo c >c; git add c");
  const std::string said = bench.settle();
  CHECK(said.find("bad is not published: git index-pack") != std::string::npos);
  CHECK(bench.outside("git log --format=%s -1; git status --porcelain; git branch") ==
        "good\nA  c\n* main\n");
  bench.inside("git update-ref -d refs/heads/bad");
  CHECK(bench.settle().empty());
}

TEST_CASE("a stash that the operator pops is gone inside, too") {
  GitBench bench;
  bench.outside("echo 1 >a && git stash -q && echo 2 >a && git stash -q");
  bench.held();
  bench.outside("git stash drop -q");
  CHECK(bench.settle().empty());
  const std::string list = "git stash list --format=%H";
  CHECK(bench.inside(list) == bench.outside(list));
}

TEST_CASE("a pipe in the place of the index is damage, and nothing waits for it") {
  GitBench bench;
  bench.held();
  bench.inside("rm $GIT_DIR/index && mkfifo $GIT_DIR/index");
  CHECK(bench.settle().find("index is not a file any more") != std::string::npos);
  CHECK(bench.held().is_damaged());
}

TEST_CASE("what the operator has staged is not overwritten") {
  GitBench bench;
  bench.held();
  bench.outside("echo h >h && git add h");
  bench.inside("echo o >o && git add o");
  CHECK(bench.settle().find("the index was changed outside") != std::string::npos);
  CHECK(bench.outside("git diff --cached --name-only") == "h\n");
  bench.outside("git reset -q");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git diff --cached --name-only") == "o\n");
}

TEST_CASE("HEAD and index wait until a rebase is over") {
  GitBench bench;
  bench.held();
  bench.inside(
      "echo 1 >a && git commit -qam one && git switch -qc topic HEAD~1 && echo 2 >a && "
      "git commit -qam two");
  CHECK(bench.settle().empty());
  bench.inside("! git rebase main");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git branch --show-current") == "topic\n");
  CHECK(bench.outside("ls .git | grep -c rebase || :") == "0\n");
  bench.inside("echo 3 >a && git add a && GIT_EDITOR=true git rebase --continue >/dev/null");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log --format=%s") == "two\none\nfirst\n");
  CHECK(bench.outside("git status --porcelain").empty());
}

TEST_CASE("the stash is published as the list that it is") {
  GitBench bench;
  bench.outside("echo 0 >a && git stash -q");
  bench.held();
  bench.inside("echo 1 >a && git stash push -qm one && echo 2 >a && git stash push -qm two");
  CHECK(bench.settle().empty());
  const std::string three = bench.outside("git log -g --format=%H refs/stash");
  CHECK(three == bench.inside("git log -g --format=%H refs/stash"));
  CHECK(three.size() == 3 * 41);
  bench.inside("git stash drop -q && git stash pop -q && git checkout -q a");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log -g --format=%H refs/stash") == three.substr(2 * 41));
  bench.inside("git stash drop -q");  // the operator's
  CHECK(bench.settle().find("stash was deleted here and stays outside") != std::string::npos);
}

TEST_CASE("an older stash that one side drops is gone on the other, too") {
  GitBench bench;
  bench.outside("for i in 1 2 3 4; do echo $i >a && git stash -q; done");
  bench.held();
  const std::string list = "git stash list --format=%H";
  const std::string four = bench.outside(list);
  bench.inside("git stash drop -q stash@{2}");
  CHECK(bench.settle().empty());
  CHECK(bench.outside(list) == four.substr(0, 2 * 41) + four.substr(3 * 41));
  bench.outside("git stash drop -q stash@{1}");
  CHECK(bench.settle().empty());
  CHECK(bench.inside(list) == four.substr(0, 41) + four.substr(3 * 41));
  bench.inside("rm $GIT_DIR/logs/refs/stash");  // damage: the list is in a log
  CHECK(bench.settle().empty());
  CHECK(bench.inside(list) == four.substr(0, 41) + four.substr(3 * 41));
  bench.inside("rm -r $GIT_DIR/logs && ln -s /etc $GIT_DIR/logs");
  CHECK(bench.settle().find("the list of stashes outside could not be taken in") !=
        std::string::npos);
  CHECK(bench.outside(list) == four.substr(0, 41) + four.substr(3 * 41));
}

TEST_CASE("a session that was killed is published by the next") {
  GitBench bench;
  bench.held();
  bench.inside("echo b >b && git add b && git commit -qm lost");
  bench.forget();
  CHECK(left_directories(bench.data()).size() == 1);
  CHECK(left_directories(bench.data()).front().work_tree == bench.work());
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log --format=%s -1") == "lost\n");
  bench.end();
  CHECK(left_directories(bench.data()).empty());
}

// What damage does between a kill and the next session. Git leaves out a ref that it cannot read,
// and looks at no sum of its index: either must not be taken for what somebody meant.
TEST_CASE("what a killed session's git directory has lost is not taken from the host") {
  GitBench bench;
  bench.outside("git branch other; git branch topic");
  bench.held();
  bench.inside("git commit -q --allow-empty -m mine");
  bench.settle();
  const std::string refs = "git for-each-ref; git symbolic-ref HEAD; git ls-files -s";
  const std::string before = bench.outside(refs);
  SUBCASE("a branch among packed refs has another name") {
    bench.inside("sed -i s,heads/other,heads/othes, $GIT_DIR/packed-refs");
    bench.forget();
    CHECK(bench.settle().find("other is missing in the git directory of a session that was") == 0);
    CHECK(bench.inside("git branch --list other").size() > 0);
    CHECK(bench.outside("git branch -qD othes; " + refs) == before);
  }
  SUBCASE("a branch cannot be read") {
    bench.inside("git rev-parse topic | tr 0-9 g >$GIT_DIR/refs/heads/topic");
    bench.forget();
    CHECK(bench.settle().find("nothing of") == 0);
    CHECK(bench.outside(refs) == before);
  }
  SUBCASE("HEAD is on a branch that is nowhere") {
    bench.inside("echo ref: refs/heads/maio >$GIT_DIR/HEAD");
    bench.forget();
    CHECK(bench.settle().find("HEAD of a session that was killed is on maio") == 0);
    CHECK(bench.outside(refs) == before);
    CHECK(bench.inside("git symbolic-ref HEAD") == "refs/heads/main\n");
  }
  SUBCASE("a bit of the index has flipped") {
    bench.inside("tr a b <$GIT_DIR/index >i; mv i $GIT_DIR/index");
    bench.forget();
    CHECK(bench.settle().find("its index is damaged") != std::string::npos);
    CHECK(bench.outside(refs) == before);
  }
}

TEST_CASE("branches that only a session has deleted stay where nothing else leads to them") {
  GitBench bench;
  bench.outside(
      "git branch merged && git switch -qc alone && git commit -q --allow-empty -m x && "
      "git switch -q main");
  bench.held();
  bench.inside("git branch -D merged alone && git branch mine && git branch -D mine");
  CHECK(bench.settle().find("alone was deleted here and stays outside") != std::string::npos);
  CHECK(bench.outside("git branch --format='%(refname:short)'") == "alone\nmain\n");
  bench.inside(
      "rm -rf \"$GIT_DIR\"/refs/heads \"$GIT_DIR\"/packed-refs; mkdir $GIT_DIR/refs/heads");
  bench.settle();
  CHECK(bench.outside("git branch --format='%(refname:short)'") == "alone\nmain\n");
}

TEST_CASE("configuration, hooks and other refs of a session's never reach the host") {
  GitBench bench;
  bench.outside(
      "git config remote.origin.url https://me:pw@example.org/x && "
      "git config core.fsmonitor /bin/false");
  bench.held();
  CHECK(bench.inside("git config remote.origin.url; git config core.fsmonitor || :") ==
        "https://example.org/x\n");
  const std::string before = bench.outside("cat .git/config; ls .git .git/hooks");
  bench.inside(
      "git config core.fsmonitor /bin/true; git config alias.x '!id'; "
      "mkdir -p $GIT_DIR/hooks; echo x >$GIT_DIR/hooks/post-commit; "
      "git update-ref refs/replace/x HEAD; git remote add evil /x; "
      "echo x >b; git add b; git commit -qm second");
  CHECK(bench.settle().empty());
  CHECK(bench.outside("git log --format=%s -1") == "second\n");
  bench.outside("test ! -e .git/refs/replace && test ! -e .git/hooks/post-commit");
  CHECK(bench.outside("cat .git/config; ls .git .git/hooks").size() >= before.size());
  CHECK(bench.outside("git config --get core.fsmonitor") == "/bin/false\n");
}

TEST_CASE("an index that leads into .git is not published") {
  GitBench bench;
  bench.held();
  bench.inside(
      "id=$(git hash-object -w a); printf '100644 %s 0\\t.git/config\\0' $id >x; "
      "printf 'DIRC\\0\\0\\0\\2' >$GIT_DIR/index");
  CHECK(bench.settle().find("nothing") != std::string::npos);
  CHECK(bench.outside("git status --porcelain") == "?? x\n");
}

TEST_CASE("a submodule that a session adds is not told to the host's git") {
  GitBench bench;
  bench.held();
  bench.inside("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub");
  CHECK(bench.settle().find("the submodule sub is not added outside") != std::string::npos);
  CHECK(bench.outside("git ls-files -s | grep -c 160000 || :") == "0\n");
  CHECK(bench.inside("git ls-files -s | grep -c 160000") == "1\n");
}

TEST_CASE("a file in the place of a ref or a directory leads nowhere") {
  GitBench bench;
  bench.held();
  bench.inside(
      "ln -s /etc/passwd $GIT_DIR/refs/heads/evil;"
      "printf '%s\\n' 'ref: ../../../etc/passwd' >$GIT_DIR/refs/heads/up; "
      "head -c 100000 /dev/zero >$GIT_DIR/refs/heads/large");
  bench.settle();
  CHECK(bench.outside("git branch --format='%(refname:short)'") == "main\n");
  CHECK(bench.outside("git fsck --strict").empty());
}

TEST_CASE("two sessions have two directories") {
  GitBench bench;
  const auto repository = describe_repository(bench.work(), {bench.work()});
  const auto other =
      HeldRepository::open(bench.git(), *repository, bench.data(), {::geteuid(), ::getegid()});
  REQUIRE(other);
  CHECK(other->place().slot() != bench.held().place().slot());
  CHECK(left_directories(bench.data()).empty());
}

}  // namespace
}  // namespace pawl::git
