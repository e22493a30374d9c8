#include "pawl/adapter/backend/git/host_git.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/git/git_test_support.h"

namespace pawl::git {
namespace {

Repository repository_of(const GitBench& bench) {
  return *describe_repository(bench.work(), {bench.work()});
}

TEST_CASE("git runs nothing of the repository's configuration for the host") {
  GitBench bench;
  const std::string marker = bench.data() + "-ran";
  bench.outside("printf '#!/bin/sh\\ntouch " + marker +
                "\\n' >evil; chmod +x evil; "
                "mkdir -p .git/hooks; cp evil .git/hooks/reference-transaction; "
                "cp evil .git/hooks/post-index-change");
  bench.outside(
      "git config core.fsmonitor $PWD/evil; git config core.alternateRefsCommand "
      "$PWD/evil; git config core.hooksPath $PWD/.git/hooks; rm -f " +
      marker);
  const Repository repository = repository_of(bench);
  const std::string head = *bench.git().output(repository, {{"rev-parse", "HEAD"}});
  CHECK(bench.git().output(repository, {{"ls-files", "-s"}}));
  CHECK(bench.git().output(repository, {{"update-ref", "refs/heads/x", head.substr(0, 40)}}));
  CHECK(!std::filesystem::exists(marker));
}

TEST_CASE("what git exits with and says is told, and its input comes from a text") {
  GitBench bench;
  const Repository repository = repository_of(bench);
  const auto answer = bench.git().run(repository, {{"rev-parse", "--verify", "nothing"}});
  REQUIRE(answer);
  CHECK(answer->exit_code == 128);
  CHECK(answer->errors == "fatal: Needed a single revision");
  CHECK(bench.git().output(repository, {{"rev-parse", "--verify", "nothing"}}).error().message ==
        "git rev-parse: fatal: Needed a single revision");
  CHECK(*bench.git().output(repository, {{"hash-object", "--stdin"}, "a\n"}) ==
        *bench.git().output(repository, {{"rev-parse", "HEAD:a"}}));
}

TEST_CASE("settings of a file are read without those that it includes") {
  GitBench bench;
  bench.outside(
      "printf '[user]\\n\\tname = x\\n[include]\\n\\tpath = other\\n' >config; "
      "printf '[user]\\n\\temail = y\\n' >other");
  const auto listed = bench.git().settings_in(bench.work() + "/config");
  REQUIRE(listed);
  CHECK(listed->find("user.name\nx") != std::string::npos);
  CHECK(listed->find("user.email") == std::string::npos);
  CHECK(!bench.git().settings_in(bench.work() + "/none"));
}

}  // namespace
}  // namespace pawl::git
