// A conversation that grows too long for its model.
#include "pawl/kernel/context.h"
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

RunStarted with_context(std::uint64_t tokens, std::uint32_t ratio_percent) {
  RunStarted start = a_start();
  ModelTarget target;
  target.literal = "a/x";
  target.context_tokens = tokens;
  start.targets = {target};
  start.compaction.ratio_percent = ratio_percent;
  start.compaction.keep_messages = 2;
  start.guards = {0, 0, 0};
  return start;
}

// One more call with a result of `bytes`.
void work(TestRun& run, std::size_t bytes) {
  run.replies({calls("pure", std::to_string(run->length))});
  run.finishes(CallId{run->calls_minted}, std::string(bytes, 'x'));
}

void fill(TestRun& run) {
  for (int i = 0; i < 20 && run.in<AwaitingModel>(); ++i) work(run, 300);
}

TEST_CASE("a prompt one token over the ceiling is refused before any request, one under passes") {
  RunStarted start = with_context(0, 0);
  start.input = Content(std::string(4'000, 'x'));
  const std::uint64_t size = TestRun(start).instance().context_tokens;

  start.targets[0].context_tokens = size;
  CHECK(TestRun(start).started<CallModel>() == 1);
  start.targets[0].context_tokens = size - 1;
  TestRun run(start);
  CHECK(run.started<CallModel>() == 0);
  CHECK(run.reason() == StopReason::context);
  CHECK(std::get<Ending>(run->course).detail.find("a/x takes") != std::string::npos);
}

TEST_CASE("what does not fit one model goes to the next that is large enough") {
  RunStarted start = with_context(3, 0);
  start.targets.push_back(start.targets[0]);
  start.targets[1].context_tokens = 100'000;
  TestRun run(start);
  CHECK(std::get<CallModel>(run.last().effects.at(0)).target == 1);
}

TEST_CASE("the first request over the threshold is preceded by exactly one summary") {
  TestRun run(with_context(1'000, 70));
  fill(run);
  REQUIRE(run.in<Compacting>());
  CHECK(run.started<CompactContext>() == 1);
  CHECK(run.instance().context_tokens >= 700);
  const std::size_t before = run->length;

  ContextCompacted event;
  event.effect = run.effect_of(EffectKind::compact);
  event.summary = Content("They looked at seven things.");
  event.usage = tokens(700, 20);
  run.takes(event);

  CHECK(run.in<AwaitingModel>());
  CHECK(run.instance().context_tokens < 700);
  CHECK(run.dialogue().find("They looked at seven things.") != std::string::npos);
  CHECK(run.transcript().front().role == Role::user);  // the input is pinned
  CHECK(run->tally.usage.input_tokens >= 700);
  CHECK(run.records().size() == before + 1);  // and every record is still there
}

TEST_CASE("a summary costs what its maker says, where he says it") {
  RunStarted start = with_context(1'000, 70);
  start.targets[0].prices.input = 3;
  TestRun run(start);
  fill(run);
  const std::uint64_t before = run->tally.cost_pico;
  ContextCompacted event;
  event.effect = run.effect_of(EffectKind::compact);
  event.summary = Content("Seven things.");
  event.usage = tokens(700, 20);
  event.cost_pico = 11;
  run.takes(event);
  CHECK(run->tally.cost_pico == before + 11);
}

TEST_CASE(
    "a failed summary of unknown usage is charged at the dearest rates that it may have had") {
  RunStarted start = with_context(1'000, 70);
  Prices& prices = start.targets[0].prices;
  prices = Prices{"USD", 4, 10, 1, 5, 8, {}};
  // The input is estimated below the threshold, and may be beyond it.
  prices.tiers = {{900, {40, 100, 10, 50, 80}}};
  TestRun run(start);
  fill(run);
  REQUIRE(run.in<Compacting>());
  const Usage reserved = std::get<Compacting>(run.instance().phase).reserved;
  const std::uint64_t before = run->tally.cost_pico;
  CompactionFailed event;
  event.effect = run.effect_of(EffectKind::compact);
  event.usage = reserved;

  run.takes(event);

  const std::uint64_t dearest = run->tally.cost_pico - before;
  CHECK(dearest > cost_pico(reserved, prices));
  CHECK(dearest == reserved.input_tokens * 40 + reserved.output_tokens * 100);
}

TEST_CASE("what is attached to a message counts: as input, and when the conversation is cut") {
  TestRun run;
  const std::uint64_t in = run->tally.bytes_in;
  MessageReceived message;
  message.text = Content("look");
  message.attachments = {{"image/png", "a.png", Content(std::string(1'000, 'p'))}};
  run.takes(message);
  CHECK(run->tally.bytes_in == in + 1'004);
  CHECK(run.instance().waiting_messages.at(0).tokens ==
        rules_of(kSemantics).estimate_tokens(1'004));
  CHECK(run.instance().attachments == 1);  // for those that see no images
}

TEST_CASE("images that went with what was summed up are no longer in the conversation") {
  RunStarted start = with_context(1'000, 70);
  start.attachments = {{"image/png", "kept.png", Content("p")}};  // The input stays.
  TestRun run(start);
  MessageReceived message;
  message.attachments = {{"image/png", "a.png", Content("p")},
                         {"image/png", "b.png", Content("p")}};
  run.takes(message);
  REQUIRE(run.instance().attachments == 3);
  fill(run);
  REQUIRE(run.in<Compacting>());
  ContextCompacted event;
  event.effect = run.effect_of(EffectKind::compact);
  event.summary = Content("short");

  run.takes(event);

  CHECK(run.instance().attachments == 1);
}

TEST_CASE("what has just been said counts when it is decided what a summary replaces") {
  RunStarted start = with_context(1'000, 70);
  start.compaction.keep_messages = 1;
  TestRun run(start);
  work(run, 2'000);
  REQUIRE(run.in<AwaitingModel>());  // the first result fits, and there is nothing to sum up yet

  work(run, 1'800);

  CHECK_FALSE(run.ending());
  REQUIRE(run.in<Compacting>());
  CHECK(std::get<Compacting>(run.instance().phase).to == 3);  // the second call stays whole
}

TEST_CASE("without a summary the conversation is trimmed, and says so") {
  TestRun run(with_context(1'000, 70));
  fill(run);
  CompactionFailed event;
  event.effect = run.effect_of(EffectKind::compact);
  event.message = "down";
  run.takes(event);
  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue().find("were removed") != std::string::npos);
  CHECK(run.decided<TranscriptCut>().at(0).by == CutBy::trim);
}

TEST_CASE("a crash in a compaction leaves the old conversation, and it is tried again") {
  TestRun run(with_context(1'000, 70));
  fill(run);
  const std::size_t entries = run.instance().transcript.size();
  run.crashes();
  CHECK(run.instance().transcript.size() == entries);
  CHECK(run.in<Compacting>());
  CHECK(run.started<CompactContext>() == 2);
}

TEST_CASE("a summary that was lost is charged before anything else is begun") {
  RunStarted start = with_context(1'000, 70);
  TestRun first(start);
  fill(first);
  REQUIRE(first.in<Compacting>());
  start.limits.tokens = total_tokens(first->tally.usage) + 100;  // less than what was set aside
  TestRun run(start);
  fill(run);
  REQUIRE(run.in<Compacting>());

  run.crashes();

  CHECK(run.started<CompactContext>() == 1);
  CHECK(run.reason() == StopReason::tokens);
}

TEST_CASE("a summary that was lost under a pause is asked for again after it") {
  TestRun run(with_context(1'000, 70));
  fill(run);
  run.pauses();
  run.crashes();
  CHECK(!run.in<Compacting>());
  run.resumes();
  CHECK(run.in<Compacting>());
}

TEST_CASE("a provider's session does not outlive what it remembers") {
  TestRun run(with_context(1'000, 70));
  ModelReplied reply = run.reply({calls("pure", "first")});
  reply.session = "s-1";
  run.takes(reply);
  run.finishes(kC1, "ok");
  REQUIRE(run.instance().sessions.size() == 1);
  fill(run);
  REQUIRE(run.in<Compacting>());
  ContextCompacted event;
  event.effect = run.effect_of(EffectKind::compact);
  event.summary = Content("short");
  run.takes(event);
  CHECK(run.instance().sessions.empty());
}

TEST_CASE("a provider's own count replaces the estimate, unless it cannot be believed") {
  TestRun run(with_context(0, 0));
  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(1'500, 50);
  run.takes(reply);
  CHECK(run.instance().context_tokens == 1'550);
  run.finishes(kC1, "ok");
  reply = run.reply({says("done")});
  reply.usage = tokens(1'000'000'000, 50);
  run.takes(reply);
  CHECK(run.instance().context_tokens < 2'000);
}

}  // namespace
}  // namespace pawl::testing
