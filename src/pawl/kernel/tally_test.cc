#include "pawl/kernel/tally.h"

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("what a model wrote is measured whole: text, thinking, arguments and the unknown") {
  const std::vector<Block> blocks = {says("12345"), ThinkingBlock{Content("123"), "signature"},
                                     calls("pure", "12"), RawBlock{Content("1")},
                                     TextBlock{Content(BlobRef{{}, 1000})}};
  CHECK(bytes_of(blocks) == 1011);
  CHECK(bytes_of({}) == 0);
}

TEST_CASE("a nonsense length cannot wrap the count") {
  CHECK(bytes_of({says("x"), TextBlock{Content(BlobRef{{}, UINT64_MAX})}}) == UINT64_MAX);
}

TEST_CASE("looking ahead changes nothing, and agrees with what is applied") {
  TestRun run;
  const ModelReplied reply = run.reply({says("12345")});
  const RunState before = run.state();

  const Tally ahead = tally_after(before, reply, {1, 0, 50});

  CHECK(ahead.bytes_out == 5);
  CHECK(ahead.active_ms == 50);
  CHECK(before == run.state());
  run.later(50).takes(reply);
  CHECK(run->tally == ahead);
}

TEST_CASE("time counts from event to event while something is under way") {
  TestRun run;
  run.later(10).hears("a");
  run.later(5).pauses();
  run.later(1).aborts();
  CHECK(run->tally.active_ms == 16);
  run.later(1000).hears("b");
  CHECK(run->tally.active_ms == 16);
}

TEST_CASE("a run that starts late has used no time") {
  Run run;
  REQUIRE(advance(run, a_start(), {1, 0, 5000}));
  CHECK(run->tally.active_ms == 0);
}

}  // namespace
}  // namespace pawl::testing
