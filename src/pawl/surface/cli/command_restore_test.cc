#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

struct RestoreStage {
  int run(std::vector<const char*> words) {
    words.insert(words.begin(), "pawl");
    return run_cli(static_cast<int>(words.size()), words.data(), environment);
  }
  bool said(const std::string& text) {
    return environment.screen.out.find(text) != std::string::npos;
  }
  FakeEnvironment environment;
};

}  // namespace

TEST_CASE("restore says where the old directory is and which runs wait") {
  RestoreStage stage;
  stage.environment.restoration = {"d.before-restore-1", {"r1", "r2"}};
  CHECK(stage.run({"restore", "backup", "d"}) == 0);
  CHECK(stage.environment.restored_to == "d");
  CHECK(stage.said("restored d from backup\n"));
  CHECK(stage.said("what was there before is in d.before-restore-1\n"));
  CHECK(stage.said("pawl resume r1\n"));
  CHECK(stage.run({"restore", "none"}) == 1);
  CHECK(stage.run({"restore"}) == 2);
}

TEST_CASE("restore prints one object with --json") {
  RestoreStage stage;
  stage.environment.restoration = {"aside", {"r1"}};
  CHECK(stage.run({"restore", "backup", "d", "--json"}) == 0);
  CHECK(stage.said(R"({"restored":"d","aside":"aside","paused":["r1"]})"));
}

TEST_CASE("doctor accepts what a store has lost, and says what that is") {
  RestoreStage stage;
  CHECK(stage.run({"doctor", "--accept"}) == 0);
  CHECK(stage.said("nothing to accept"));
  stage.environment.acceptance = {"2 records are missing", 2, 0, {"r1"}};
  CHECK(stage.run({"doctor", "--accept"}) == 0);
  CHECK(stage.said("accepted: 2 records are missing\n"));
  CHECK(stage.said("pawl resume r1\n"));
  CHECK(stage.run({"doctor", "--accept", "--json"}) == 0);
  CHECK(stage.said(R"("records":2,"messages":0,"paused":["r1"])"));
}

}  // namespace pawl
