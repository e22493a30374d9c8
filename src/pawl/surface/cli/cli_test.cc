#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

int run(FakeEnvironment& environment, std::vector<const char*> words) {
  words.insert(words.begin(), "pawl");
  return run_cli(static_cast<int>(words.size()), words.data(), environment);
}

}  // namespace

TEST_CASE("the version names the numbers of the formats") {
  FakeEnvironment environment;

  CHECK(run(environment, {"--version"}) == 0);

  CHECK(environment.screen.out ==
        "pawl 1.2.3\njournal schema 7, record 2.0, snapshot 4, semantics 1\n");
}

TEST_CASE("help is output when it is asked for, and a complaint when nothing was") {
  FakeEnvironment asked;
  CHECK(run(asked, {"--help"}) == 0);
  CHECK(asked.screen.out.find("resolve") != std::string::npos);

  FakeEnvironment mute;
  CHECK(run(mute, {}) == 2);
  CHECK(mute.screen.out.empty());
  CHECK(mute.screen.err == asked.screen.out);
}

TEST_CASE("bad usage is exit code 2 and says what to do") {
  FakeEnvironment environment;

  CHECK(run(environment, {"resolve", "r1", "c1"}) == 2);
  CHECK(run(environment, {"resolve", "r1", "c1", "--happened", "x", "--did-not-happen"}) == 2);
  CHECK(run(environment, {"verify"}) == 2);
  CHECK(run(environment, {"verify", "r1", "--all"}) == 2);
  CHECK(run(environment, {"ls", "--status", "finished"}) == 2);
  CHECK(run(environment, {"logs", "r1", "--from", "x"}) == 2);
  CHECK(run(environment, {"completion", "tcsh"}) == 2);
  CHECK(run(environment, {"run", "c", "--id", "../x"}) == 2);
  CHECK(run(environment, {"message", "r1", ""}) == 2);

  CHECK(environment.screen.out.empty());
}

TEST_CASE("a setting that is given as nothing is refused, and not taken from elsewhere") {
  for (const char* flag : {"--data", "--config", "--log-level", "--log-file"}) {
    FakeEnvironment environment;
    CHECK(run(environment, {"ls", flag, ""}) == 2);
    CHECK(environment.screen.err.find(std::string(flag) + " is empty") != std::string::npos);
  }
}

TEST_CASE("output that was lost is an error, unless there is a worse one") {
  FakeEnvironment lost;
  lost.screen.lost = "No space left on device";
  CHECK(run(lost, {"man"}) == 1);
  CHECK(lost.screen.err ==
        "pawl: standard output: No space left on device; what was printed is not whole\n");

  FakeEnvironment worse;
  worse.screen.lost = "No space left on device";
  CHECK(run(worse, {"verify"}) == 2);
}

TEST_CASE("a store that cannot be opened is exit code 1") {
  for (const char* command : {"show", "logs", "attach", "explain", "resume", "pause", "cancel"}) {
    FakeEnvironment environment;
    CHECK(run(environment, {command, "r1"}) == 1);
    CHECK(environment.screen.err == "pawl: there is no store here\n");
  }
}

TEST_CASE("validate lists every fault, and run refuses for the same reasons") {
  FakeEnvironment validating;
  CHECK(run(validating, {"validate", "c.yaml"}) == 2);
  CHECK(validating.screen.out == "c.yaml:1:1: wrong\nc.yaml:2:1: wrong too\n");

  FakeEnvironment running;
  CHECK(run(running, {"run", "c.yaml"}) == 2);
  CHECK(running.screen.out.empty());
  CHECK(running.screen.err == validating.screen.out);

  FakeEnvironment json;
  CHECK(run(json, {"validate", "c.yaml", "--json"}) == 2);
  CHECK(json.screen.out ==
        "{\"charter\":\"c.yaml\",\"ok\":false,"
        "\"faults\":[\"c.yaml:1:1: wrong\",\"c.yaml:2:1: wrong too\"],\"notes\":[]}\n");
}

TEST_CASE("init writes a charter and its script, and overwrites nothing") {
  FakeEnvironment environment;
  CHECK(run(environment, {"init", "d"}) == 0);
  REQUIRE(environment.files.contains("d/agent.yaml"));
  CHECK(environment.files.contains("d/agent.script.yaml"));

  CHECK(run(environment, {"init", "d"}) == 1);
  CHECK(environment.screen.err.find("is there already") != std::string::npos);
}

}  // namespace pawl
