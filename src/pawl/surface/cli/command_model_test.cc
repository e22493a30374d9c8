// chat and budget: what people do with models and money.
#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

int pawl_in(FakeEnvironment& environment, std::vector<const char*> words) {
  words.insert(words.begin(), "pawl");
  return run_cli(static_cast<int>(words.size()), words.data(), environment);
}

TEST_CASE("one turn of a chat prints the answer and starts no tool") {
  MemoryEnvironment environment;
  environment.script = Script{{ScriptReply::say("Hello there.")}};
  CHECK(pawl_in(environment, {"chat", "hi"}) == 0);
  CHECK(environment.screen.out == "Hello there.\n");
  CHECK(environment.tool->keys.empty());
}

TEST_CASE("a chat in JSON has output, usage and cost") {
  MemoryEnvironment environment;
  environment.script = Script{{ScriptReply::say("Hello there.")}};
  CHECK(pawl_in(environment, {"chat", "hi", "--json"}) == 0);
  CHECK(environment.screen.out.find(R"("output":"Hello there.")") != std::string::npos);
  CHECK(environment.screen.out.find(R"("input_tokens":)") != std::string::npos);
  CHECK(environment.screen.out.find(R"("cost":)") != std::string::npos);
}

TEST_CASE("a model that nobody knows is refused before a word is said") {
  FakeEnvironment environment;
  CHECK(pawl_in(environment, {"chat", "hi", "--model", "no/such"}) == 2);
  CHECK(environment.screen.err.find("no/such") != std::string::npos);
}

TEST_CASE("wrong sampling options are refused with what they may be") {
  MemoryEnvironment environment;
  CHECK(pawl_in(environment, {"chat", "hi", "--temperature", "3"}) != 0);
  CHECK(environment.screen.err.find("from 0 to 2") != std::string::npos);
  CHECK(pawl_in(environment, {"chat", "hi", "--effort", "huge"}) != 0);
  CHECK(environment.screen.err.find("minimal") != std::string::npos);
}

TEST_CASE("a run waits for money, shows it, and goes on when it is raised") {
  MemoryEnvironment environment;
  environment.price = 1'000'000;
  CHECK(pawl_in(environment, {"run", "c.yaml", "--id", "r1", "--cost", "0.000001"}) == 4);
  CHECK(environment.tool->keys.empty());
  // The run itself says why it waits, and what helps.
  CHECK(environment.screen.err.find("pawl budget r1 --raise 1.00, then pawl resume r1") !=
        std::string::npos);

  environment.screen.out.clear();
  CHECK(pawl_in(environment, {"budget", "r1"}) == 0);
  CHECK(environment.screen.out.find("It waits for more") != std::string::npos);

  CHECK(pawl_in(environment, {"budget", "r1", "--raise", "1.00 EUR"}) != 0);
  CHECK(pawl_in(environment, {"budget", "r1", "--raise", "-1"}) != 0);
  CHECK(pawl_in(environment, {"budget", "r1", "--raise", "1.00"}) == 0);
  CHECK(pawl_in(environment, {"resume", "r1"}) == 0);
  CHECK(environment.tool->keys.size() == 1);
}

TEST_CASE("what a tenant has spent is shown for every window, and can be raised") {
  FakeEnvironment environment;
  environment.windows = {{3'600'000, {0, 500, 0}, "USD"},
                         {60'000, {2'000'000'000'000, 0, 0}, "EUR"}};
  environment.entries = {{900, {1'000'000'000'000, 120, 0}, {}}};
  CHECK(pawl_in(environment, {"budget", "--tenant", "acme"}) == 0);
  CHECK(environment.screen.out ==
        "500 tokens in 1h: 120 tokens used, 380 left\n"
        "2.00 EUR in 1m: 1.00 EUR spent, 1.00 EUR left\n");
  environment.screen.out.clear();
  CHECK(pawl_in(environment, {"budget", "--tenant", "acme", "--raise-tokens", "20"}) == 0);
  CHECK(environment.screen.out.find("400 left") != std::string::npos);
  CHECK(pawl_in(environment, {"budget", "--tenant", "acme", "r1"}) == 2);
  CHECK(pawl_in(environment, {"budget", "--tenant", "a b"}) == 2);
  CHECK(pawl_in(environment, {"budget"}) == 2);
  environment.windows.clear();
  CHECK(pawl_in(environment, {"budget", "--tenant", "acme"}) == 0);
  CHECK(environment.screen.err.find("no budget") != std::string::npos);
}

TEST_CASE("a turn is pushed only where one was handed out") {
  MemoryEnvironment environment;
  environment.script = Script{{ScriptReply::call("note"), ScriptReply::say("All noted.")}};
  environment.start_and_crash("r1");
  CHECK(pawl_in(environment, {"push", "r1", "--message", "hi"}) != 0);
  CHECK(environment.screen.err.find("handed no turn out") != std::string::npos);
}

}  // namespace
}  // namespace pawl
