// What the journal holds is all there is: folding its bytes gives the run, deciding its events
// again gives its bytes.
#include "pawl/kernel/random_history_test.h"
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

struct History {
  Run run;
  std::vector<std::string> journal;
};

History random_history(std::uint64_t seed) {
  History history;
  Rng rng(seed);
  Stamp now{1, 0, 0};
  for (int i = 0; i < 400; ++i) {
    if (std::holds_alternative<Finished>(history.run->life) && rng.one_in(2)) break;
    Event event = RandomHost(rng, history.run.state()).next();
    move_clock(rng, history.run.state(), event, now);
    if (const auto record = advance(history.run, event, now)) {
      history.journal.push_back(encode_record(*record));
    }
  }
  return history;
}

TEST_CASE("folding the bytes of a random history gives the live run, byte for byte") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const History history = random_history(seed);
    Run folded;
    for (const std::string& bytes : history.journal) {
      const auto record = decode_record(bytes);
      REQUIRE(record);
      REQUIRE(fold(folded, *record));
    }
    REQUIRE_MESSAGE(encode_snapshot(folded) == encode_snapshot(history.run), "seed " << seed);
    REQUIRE(folded == history.run);
  }
}

TEST_CASE("deciding every recorded event again gives the same records, byte for byte") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const History history = random_history(seed);
    Run run;
    for (const std::string& bytes : history.journal) {
      const auto record = decode_record(bytes);
      REQUIRE(record);
      const auto again = advance(run, record->event, record->stamp);
      REQUIRE(again);
      REQUIRE_MESSAGE(encode_record(*again) == bytes, "seed " << seed << " at " << record->seq);
    }
  }
}

TEST_CASE("a run goes on from any snapshot as from the beginning") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const History history = random_history(seed);
    Run run;
    for (const std::string& bytes : history.journal) {
      const auto snapshot = decode_snapshot(encode_snapshot(run));
      REQUIRE(snapshot);
      REQUIRE(*snapshot == run);
      run = *snapshot;
      REQUIRE(fold(run, *decode_record(bytes)));
    }
    CHECK(run == history.run);
  }
}

TEST_CASE("the state of a run does not grow with what is written, only with how much happens") {
  TestRun small;
  TestRun large;
  for (int i = 1; i <= 20; ++i) {
    const std::string input = std::to_string(i);
    small.replies({says("x"), calls("pure", input)});
    small.finishes(CallId{small->calls_minted}, "y");
    large.replies({says(std::string(4000, 'x')), calls("pure", input)});
    large.finishes(CallId{large->calls_minted}, std::string(4000, 'y'));
  }
  CHECK(large.snapshot().size() <= small.snapshot().size() + 60);
}

}  // namespace
}  // namespace pawl::testing
