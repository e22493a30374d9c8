#include "pawl/adapter/backend/git/repository.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include "pawl/adapter/backend/git/git_test_support.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a linked work tree is followed to its directories") {
  GitBench bench;
  bench.outside("git worktree add -q ../linked");
  const std::string linked = fs::path(bench.work()).parent_path() / "linked";
  const auto found = describe_repository(linked, {linked});
  REQUIRE(found);
  CHECK(found->obstacle.empty());
  CHECK(found->form == Repository::Form::file);
  CHECK(found->directory == bench.work() + "/.git/worktrees/linked");
  CHECK(found->common == bench.work() + "/.git");
}

TEST_CASE("a layout that is not known can only be read, and why is said") {
  GitBench bench;
  const auto obstacle = [&] { return describe_repository(bench.work(), {bench.work()})->obstacle; };
  CHECK(obstacle().empty());
  bench.outside("git config extensions.partialClone origin");
  CHECK(obstacle().find("partialclone") != std::string::npos);
  bench.outside(
      "git config --unset extensions.partialClone && echo /x >.git/objects/info/alternates");
  CHECK(obstacle().find("alternates") != std::string::npos);
  bench.outside("rm .git/objects/info/alternates; mkdir .git/reftable");
  CHECK(obstacle().find("another format") != std::string::npos);
}

TEST_CASE("a git directory that lies in the work tree under another name is not believed") {
  GitBench bench;
  bench.outside("git init -q --bare evil && mkdir sub && echo 'gitdir: ../evil' >sub/.git");
  const auto found = describe_repository(bench.work() + "/sub", {bench.work()});
  REQUIRE(found);
  CHECK(found->obstacle.find("lies in the work tree") != std::string::npos);
}

TEST_CASE("a link or a FIFO in the place of .git is refused") {
  const TempDirectory directory;
  fs::create_directory_symlink("/x", directory / ".git");
  CHECK(describe_repository(directory.path(), {}).error().message.find("symbolic link") !=
        std::string::npos);
}

TEST_CASE("a merge or a rebase is seen by what git leaves") {
  const TempDirectory directory;
  const Descriptor at(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(!is_under_way(at.number()));
  fs::create_directory(directory / "rebase-merge");
  CHECK(is_under_way(at.number()));
}

}  // namespace
}  // namespace pawl::git
