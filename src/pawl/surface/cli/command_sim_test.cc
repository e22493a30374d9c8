#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

int pawl_sim(FakeEnvironment& environment, std::vector<const char*> words) {
  words.insert(words.begin(), {"pawl", "sim"});
  return run_cli(static_cast<int>(words.size()), words.data(), environment);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("sim asks for what its options say and tells what happened") {
  FakeEnvironment environment;
  environment.simulation.tally = {3, 100, 40, 30, 5, 7, 1'000, 9};
  CHECK(pawl_sim(environment, {"--seed", "5", "--seeds", "3", "--runs", "2", "--faults", "1,9"}) ==
        0);
  CHECK(environment.simulated.seed == 5);
  CHECK(environment.simulated.seeds == 3);
  CHECK(environment.simulated.runs == 2);
  CHECK(environment.simulated.faults == std::vector<std::uint64_t>{1, 9});
  CHECK(environment.screen.out ==
        "3 histories from seed 5: 100 events, 40 steps, 30 effects, 5 crashes, 7 faults "
        "(6000 events a minute); no promise was broken\n");
}

TEST_CASE("minutes let the seeds go on for as long") {
  FakeEnvironment environment;
  CHECK(pawl_sim(environment, {"--minutes", "2"}) == 0);
  CHECK(environment.simulated.time_ms == 120'000);
  CHECK(environment.simulated.seeds > 1'000'000);
}

TEST_CASE("a broken promise is exit code 1, with its trace and the command that repeats it") {
  for (const bool as_json : {false, true}) {
    FakeEnvironment environment;
    environment.simulation.failure =
        SimulationFailure{8, "c1 took effect twice", "--seed 8 --faults 4", 50, 1, {"1 ms: bang"}};
    CHECK(pawl_sim(environment,
                   as_json ? std::vector<const char*>{"--json"} : std::vector<const char*>{}) == 1);
    CHECK(holds(environment.screen.out, "c1 took effect twice"));
    CHECK(holds(environment.screen.out, "pawl sim --seed 8 --faults 4"));
    CHECK(holds(environment.screen.out, "1 ms: bang"));
  }
}

TEST_CASE("numbers that make no sense are bad usage") {
  for (const char* word : {"--runs=0", "--runs=20000", "--steps=x", "--faults=1,,2", "--minutes=-1",
                           "--processes=65", "--seeds=0"}) {
    FakeEnvironment environment;
    CHECK_MESSAGE(pawl_sim(environment, {word}) == 2, word);
    CHECK(!environment.screen.err.empty());
  }
}

}  // namespace
}  // namespace pawl
