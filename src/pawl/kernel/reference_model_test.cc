// Random legal events against the reference model. PAWL_LONG_TESTS=1 makes it a million,
// PAWL_SEED=n repeats one history.
#include "pawl/kernel/reference_model_test.h"

#include "pawl/kernel/random_history_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

struct Outcome {
  std::uint64_t events = 0;
  std::uint64_t refused = 0;
  std::map<std::string, int> ends;
  std::string fault;
};

constexpr std::uint64_t kEventsOfOneRunMax = 2000;

std::string fault_after(ReferenceModel& model, const Run& run, const Record& record) {
  std::string fault = model.observe(record);
  if (fault.empty()) fault = model.compare(run.state());
  if (fault.empty() && std::holds_alternative<Live>(run->life)) {
    fault = fault_of_effects(run.state());
    if (fault.empty()) fault = fault_of_liveness(run.state());
  }
  return fault;
}

void live_one_life(std::uint64_t seed, Outcome& outcome) {
  Rng rng(seed);
  Run run;
  ReferenceModel model;
  Stamp now{1, 0, 0};
  for (std::uint64_t i = 0; i < kEventsOfOneRunMax; ++i) {
    Event event = RandomHost(rng, run.state()).next();
    move_clock(rng, run.state(), event, now);
    const auto record = advance(run, event, now);
    if (!record) {
      ++outcome.refused;
      continue;
    }
    ++outcome.events;
    if (const std::string fault = fault_after(model, run, *record); !fault.empty()) {
      outcome.fault = "seed " + std::to_string(seed) + ", record " + std::to_string(record->seq) +
                      ": " + fault + "\n  after " + shown(record->event) + "\n  decided " +
                      shown(record->decisions) + "\n  and " + shown(record->effects);
      return;
    }
    if (std::holds_alternative<Finished>(run->life)) break;
  }
  ++outcome.ends[std::string(name(status_of(run.state()))) + " " +
                 std::string(name(stop_reason_of(run.state())))];
}

TEST_CASE("random histories look from outside as the reference model says") {
  const std::string seed = setting("PAWL_SEED", "");
  const std::uint64_t wanted = setting("PAWL_LONG_TESTS", "").empty() ? 200'000 : 1'000'000;
  Outcome outcome;

  if (!seed.empty()) {
    live_one_life(std::stoull(seed), outcome);
  } else {
    for (std::uint64_t i = 1; outcome.events < wanted && outcome.fault.empty(); ++i) {
      live_one_life(i, outcome);
    }
  }

  REQUIRE_MESSAGE(outcome.fault.empty(), outcome.fault << "\n  repeat with PAWL_SEED");
  std::string ends;
  for (const auto& [end, count] : outcome.ends) ends += end + ": " + std::to_string(count) + "; ";
  MESSAGE(outcome.events << " events taken, " << outcome.refused << " refused; " << ends);
  if (seed.empty()) CHECK(outcome.ends.size() >= 20);  // The histories reach the corners.
}

// A run that nobody disturbs and everybody answers ends by itself.
TEST_CASE("every run whose effects report and whose waits are answered ends within its bounds") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    Run run;
    Stamp now{1, 0, 0};
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < 200'000 && !std::holds_alternative<Finished>(run->life); ++i) {
      Event event = RandomHost(rng, run.state()).next();
      move_clock(rng, run.state(), event, now);
      if (advance(run, event, now)) ++taken;
    }
    CHECK_MESSAGE(std::holds_alternative<Finished>(run->life), "seed " << seed);
    CHECK_MESSAGE(taken < 20'000, "seed " << seed);
  }
}

}  // namespace
}  // namespace pawl::testing
