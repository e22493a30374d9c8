#include "pawl/adapter/backend/git/plain_config.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "pawl/base/files.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

constexpr const char* kPlain =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
    "\tlogAllRefUpdates = true\n# a comment\n"
    "[remote \"origin\"]\n\turl = git@example.org:a/b.git\n"
    "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
    "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
    "[user]\n\tname = A\r\n";

}  // namespace

TEST_CASE("sc-B16 what a fresh clone's configuration says starts nothing") {
  CHECK(unplain_setting(kPlain) == std::nullopt);
  CHECK(unplain_setting("") == std::nullopt);
}

TEST_CASE("sc-B16 whatever may start a program, or is not understood, is named") {
  const std::string plain = kPlain;
  CHECK(unplain_setting(plain + "[filter \"x\"]\n\tclean = ./evil\n") == "filter.clean");
  CHECK(unplain_setting(plain + "[FILTER \"x\"]\nclean=./evil") == "filter.clean");
  CHECK(unplain_setting(plain + "[diff \"x\"]\n textconv = ./evil\n") == "diff.textconv");
  CHECK(unplain_setting(plain + "[diff]\n external = ./evil\n") == "diff.external");
  CHECK(unplain_setting(plain + "[include]\n path = ../evil\n") == "include.path");
  CHECK(unplain_setting(plain + "[core]\n fsmonitor = ./evil\n") == "core.fsmonitor");
  CHECK(unplain_setting(plain + "[remote \"origin\"]\n promisor = true\n") == "remote.promisor");
  CHECK(unplain_setting(plain + "[extensions]\n partialClone = x\n") == "extensions.partialclone");
  for (const char* odd :
       {"[core] fsmonitor = ./evil", "[filter \"x\"] clean = ./evil ]", "[filter.x]\nclean=./evil",
        "[user]\n name = a\\\n[filter \"x\"]\n clean = ./evil", "[user \"a\\\"]\"]\nname = b",
        "[user]\nname\"x = y", "[ filter ]\nclean = ./evil", "clean = ./evil"}) {
    CAPTURE(odd);
    CHECK(unplain_setting(odd).has_value());
  }
}

TEST_CASE("sc-F11 a configuration that nobody will ever write is not waited for") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / ".git");
  REQUIRE(write_new_file(directory / ".git/HEAD", "ref: refs/heads/main\n"));
  REQUIRE(::mkfifo((directory / ".git/config").c_str(), 0600) == 0);
  CHECK(git_objection(directory.path(), {}) == ".git/config cannot be read");
}

TEST_CASE("sc-B16 the repository is found where git finds it") {
  const TempDirectory directory;
  const auto deep = std::filesystem::path(directory / "a") / "b";
  std::filesystem::create_directories(deep);
  CHECK(git_objection(deep.string(), {}) == std::nullopt);
  std::filesystem::create_directories(directory / ".git/modules/x");
  CHECK(git_objection(deep.string(), {}) == std::nullopt);  // no repository yet
  REQUIRE(write_new_file(directory / ".git/HEAD", "ref: refs/heads/main\n"));
  CHECK(git_objection(deep.string(), {}) == ".git/modules is there");
  std::filesystem::remove(directory / ".git/modules/x");
  REQUIRE(write_new_file(directory / ".git/commondir", ""));  // as a sandbox does
  CHECK(git_objection(deep.string(), {}) == std::nullopt);
  REQUIRE(write_new_file(directory / ".git/config", kPlain));
  CHECK(git_objection(deep.string(), {}) == std::nullopt);
  REQUIRE(write_new_file(directory / ".git/config.worktree", "[core]\n"));
  CHECK(git_objection(deep.string(), {}) == ".git/config.worktree is there");
  REQUIRE(write_new_file(deep / ".git", "gitdir: /elsewhere\n"));
  CHECK(git_objection(deep.string(), {}) == ".git is not a directory");
}

TEST_CASE("sc-B16 a directory that is a repository itself is asked about, before those above it") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / ".git");
  REQUIRE(write_new_file(directory / ".git/HEAD", "ref: refs/heads/main\n"));
  for (const char* part : {"work/objects", "work/refs"}) {
    std::filesystem::create_directories(directory / part);
  }
  CHECK(git_objection(directory / "work", {}) == std::nullopt);
  REQUIRE(write_new_file(directory / "work/HEAD", "ref: refs/heads/main\n"));
  CHECK(git_objection(directory / "work", {}) == "work is a bare repository");
  std::filesystem::remove(directory / "work/refs");
  CHECK(git_objection(directory / "work", {}) == std::nullopt);
  REQUIRE(write_new_file(directory / "work/commondir", "evil\n"));
  CHECK(git_objection(directory / "work", {}) == "work is a bare repository");
}

TEST_CASE("sc-B16 where commands have a git directory of their own, nothing is asked") {
  const TempDirectory directory;
  const std::string work = directory / "work";
  for (const char* part : {"work/.git/objects", "work/.git/refs", "work/.git/modules/x"}) {
    std::filesystem::create_directories(directory / part);
  }
  REQUIRE(write_new_file(work + "/.git/HEAD", "ref: refs/heads/main\n"));
  REQUIRE(write_new_file(work + "/.git/config", "[core]\n\tfsmonitor = ./evil\n"));
  CHECK(git_objection(work, {}) == ".git/modules is there");
  CHECK(git_objection(work, {directory / "other"}) == ".git/modules is there");
  CHECK(git_objection(work, {work}) == std::nullopt);
  std::filesystem::create_directories(work + "/.git/reftable");  // which can only be read
  CHECK(git_objection(work, {work}) == ".git/modules is there");
}

}  // namespace pawl
