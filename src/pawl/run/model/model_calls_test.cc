// Runs against an executor that a test scripts as a function of the request.
#include "pawl/testing/stage/model_stage_test.h"

namespace pawl {
namespace {

TEST_CASE("the second model is asked when the first has no such model, by its own name") {
  ModelStage stage;
  stage.model->line_up_failure(FailureKind::model_not_found);
  stage.model->line_up("fine");
  CHECK(stage.start());
  REQUIRE(stage.model->asked.size() == 2);
  CHECK(stage.model->asked[0].model == "a/x");
  CHECK(stage.model->asked[1].model == "b/y");
  CHECK(stage.listed().status == "done");
}

TEST_CASE("a request to a provider that was asked before carries its own session, and no other") {
  ModelStage stage;
  stage.model->keeps_sessions = true;
  stage.model->line_up("one", ReplyStop::pause_turn);
  stage.model->line_up_failure(FailureKind::circuit_open);
  stage.model->line_up("two", ReplyStop::pause_turn);
  stage.model->line_up("three");
  CHECK(stage.start());
  const auto& asked = stage.model->asked;
  REQUIRE(asked.size() == 4);
  CHECK(asked[0].model == "a/x");
  CHECK(asked[0].session.empty());
  CHECK(asked[2].model == "b/y");
  CHECK(asked[2].session.empty());
  CHECK(asked[3].model == "a/x");
  CHECK(asked[3].session == "session of a/x");
  CHECK(asked[3].session_length == 2);  // the question and its own answer: not what b/y said
  CHECK(asked[3].transcript->length() == 3);
}

TEST_CASE("a target that nobody supports is refused before anything is asked") {
  ModelStage stage;
  stage.agent.targets.push_back(ModelStage::target("a/unknown"));
  CHECK_FALSE(stage.start());
  CHECK(stage.model->asked.empty());
}

TEST_CASE("one run is paid in one currency") {
  ModelStage stage;
  stage.agent.targets[1].facts.prices.currency = "EUR";
  CHECK_FALSE(stage.start());
  ModelStage bounded;
  bounded.agent.charter.spending = {1'000'000, 0, "EUR"};
  CHECK_FALSE(bounded.start());
  CHECK(bounded.model->asked.empty());
}

TEST_CASE("an executor's own MCP server is among those of its requests") {
  ModelStage stage;
  stage.model->own_server = McpServerConfig{"mine", {"serve"}, ""};
  stage.model->line_up("fine");
  CHECK(stage.start());
  REQUIRE(stage.model->asked.at(0).mcp_servers.size() == 1);
  CHECK(stage.model->asked[0].mcp_servers[0].name == "mine");
}

TEST_CASE("an executor that throws about its capabilities fails the call, not the process") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.model->line_up("fine");
  stage.model->throws_at = "a/x";
  CHECK(stage.start());
  CHECK(stage.listed().status == "failed");
}

TEST_CASE("sc-P04: a ladder of failures leaves one reply, and each attempt its record") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  for (int i = 0; i < 4; ++i) stage.model->line_up_failure(FailureKind::transient);
  stage.model->line_up("up at last");
  CHECK(stage.start());
  stage.loop.advance(120'000);
  CHECK(stage.listed().status == "done");
  CHECK(stage.output() == "up at last");
  std::size_t failed = 0;
  std::size_t replied = 0;
  for (const Record& record : stage.records()) {
    failed += std::holds_alternative<ModelFailed>(record.event);
    replied += std::holds_alternative<ModelReplied>(record.event);
  }
  CHECK(failed == 4);
  CHECK(replied == 1);
  CHECK(stage.model->asked.size() == 5);
}

TEST_CASE("an empty answer fails over") {
  ModelStage stage;
  stage.model->line_up("  ");
  stage.model->line_up("fine");
  CHECK(stage.start());
  CHECK(stage.model->asked.size() == 2);
  CHECK(stage.output() == "fine");
}

TEST_CASE("a long rate limit parks the run, and this process takes it up when it is over") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.model->line_up_failure(FailureKind::rate_limited, 120'000);
  CHECK(stage.start());
  CHECK(stage.listed().status == "waiting");
  CHECK(stage.listed().reason == "rate_limit");
  CHECK(stage.engine.live() == 0);
  CHECK(stage.engine.wakes(stage.id));
  stage.model->line_up("fine");
  const std::uint64_t records = stage.listed().length;
  stage.loop.advance(119'000);
  CHECK(stage.model->asked.size() == 1);
  CHECK(stage.listed().length == records);  // nobody has taken it up before its time
  stage.loop.advance(2'000);
  CHECK(stage.model->asked.size() == 2);
  CHECK(stage.listed().status == "done");
}

TEST_CASE("a run that somebody has ended meanwhile is not taken up when its time comes") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.model->line_up_failure(FailureKind::rate_limited, 120'000);
  CHECK(stage.start());
  REQUIRE(stage.engine.wakes(stage.id));
  stage.service.post(stage.id, CancelRequested{"ann", ""},
                     [](const Status& status) { CHECK(status); });
  stage.loop.advance(10);

  CHECK(stage.service.resume(stage.id));
  stage.loop.advance(300);

  CHECK(stage.listed().status == "cancelled");
  CHECK_FALSE(stage.engine.wakes(stage.id));
}

TEST_CASE("a run that cannot be taken up again when its time has come is told of") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.model->line_up_failure(FailureKind::rate_limited, 120'000);
  CHECK(stage.start());
  std::vector<std::string> told;
  stage.engine.on_ended([&told](const RunId& run, const Status& status) {
    told.push_back(run.text + ": " + (status ? "ok" : status.error().message));
  });
  stage.agent.executor = nullptr;
  stage.loop.advance(121'000);
  CHECK(told == std::vector<std::string>{"r: the agent has no executor"});
}

TEST_CASE("sc-T02: a time of the wall's that passes while the machine sleeps has passed") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.model->line_up_failure(FailureKind::rate_limited, 900'000);
  CHECK(stage.start());
  stage.model->line_up("fine");
  stage.loop.advance(10'000);
  stage.loop.jump_wall(600'000);  // asleep: no timer runs, and nothing is counted as work
  stage.loop.advance(kWakeLookMs);
  CHECK(stage.model->asked.size() == 1);  // it is not over yet
  stage.loop.jump_wall(600'000);
  stage.loop.advance(kWakeLookMs);
  CHECK(stage.model->asked.size() == 2);
  CHECK(stage.listed().status == "done");
}

TEST_CASE("sc-T02: a clock that is set back does not wake a run before its time") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.model->line_up_failure(FailureKind::rate_limited, 120'000);
  CHECK(stage.start());
  stage.model->line_up("fine");
  stage.loop.jump_wall(-60'000);
  stage.loop.advance(130'000);
  CHECK(stage.model->asked.size() == 1);
  stage.loop.advance(60'000);
  CHECK(stage.model->asked.size() == 2);
}

TEST_CASE("a rate limit that ended while nobody was there is noticed by whoever comes") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.model->line_up_failure(FailureKind::rate_limited, 120'000);
  CHECK(stage.start());
  ModelStage other;  // of another process, with the same store
  Engine engine(
      EngineOptions{stage.loop,
                    {&stage.journal, &stage.journal, &stage.journal, &stage.journal},
                    {},
                    [&](const PinnedCharter&) -> Result<PreparedAgent> { return stage.agent; },
                    "other"});
  stage.loop.jump_wall(500'000);
  stage.model->line_up("fine");
  REQUIRE(engine.resume(stage.id));
  stage.loop.advance(100);
  CHECK(stage.listed().status == "done");
}

TEST_CASE("a run without the money for its first call makes no request, and goes on when raised") {
  ModelStage stage;
  stage.agent.charter.spending.cost_pico = 1'000;
  CHECK(stage.start());
  CHECK(stage.model->asked.empty());
  CHECK(stage.listed().reason == "budget");
  stage.model->line_up("fine");
  const auto event = stage.service.budget_raise(stage.id, {100'000'000, 0, 0}, "ann");
  REQUIRE(event);
  stage.service.post(stage.id, *event, [](const Status& status) { CHECK(status); });
  stage.loop.run_posted();
  REQUIRE(stage.service.resume(stage.id));
  stage.loop.advance(100);
  CHECK(stage.model->asked.size() == 1);
  CHECK(stage.listed().status == "done");
}

TEST_CASE("the room for a reply is what the money allows") {
  ModelStage stage;
  stage.agent.charter.spending.cost_pico = 5'000'000;
  stage.model->line_up("fine");
  CHECK(stage.start());
  REQUIRE(stage.model->asked.size() == 1);
  CHECK(*stage.model->asked[0].sampling.max_output_tokens < 500);
}

TEST_CASE("an executor may know a tenant's own prices") {
  ModelStage stage;
  stage.model->line_up("fine");
  CHECK(stage.start({}, "friend"));
  CHECK(stage.details().state.tally.cost_pico == 1);
}

TEST_CASE("an answer that does not fit its schema is asked for again with what was wrong") {
  ModelStage stage;
  stage.agent.charter.output_schema =
      R"({"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}})";
  stage.model->line_up("the sum is 42");
  stage.model->line_up(R"({"sum":"42"})");
  stage.model->line_up(R"({"sum":42})");
  CHECK(stage.start());
  REQUIRE(stage.model->asked.size() == 3);
  CHECK(stage.model->asked[0].output_schema == stage.agent.charter.output_schema);
  CHECK(stage.listed().status == "done");
  CHECK(stage.output() == R"({"sum":42})");
}

TEST_CASE("an image reaches a model that takes it, and no other") {
  ModelStage stage;
  const std::vector<PendingAttachment> image = {{"image/png", "a.png", std::string(10'000, 'p')}};
  CHECK(stage.start(image));
  CHECK(stage.model->asked.empty());
  CHECK(stage.listed().status == "failed");

  ModelStage able;
  able.model->bits_.supports_image_input = true;
  able.model->line_up("a cat");
  CHECK(able.start(image));
  REQUIRE(able.model->asked.size() == 1);
  const auto message = able.records().front();
  CHECK(std::get<RunStarted>(message.event).attachments.at(0).media_type == "image/png");
}

TEST_CASE("effort is a hint for models that think, and nothing for others") {
  for (const bool thinks : {true, false}) {
    ModelStage stage;
    stage.agent.charter.sampling.effort = ReasoningEffort::high;
    stage.model->bits_.supports_thinking = thinks;
    stage.model->line_up("fine");
    CHECK(stage.start());
    const auto expected = thinks ? ReasoningEffort::high : ReasoningEffort::unset;
    CHECK(stage.model->asked.at(0).sampling.effort == expected);
  }
}

TEST_CASE("a conversation that grows too long is summed up by the model, once") {
  ModelStage stage;
  stage.agent.targets.resize(1);
  stage.agent.targets[0].facts.context_tokens = 2'000;
  stage.agent.charter.compaction.keep_messages = 1;
  stage.model->usage = {};
  for (int i = 0; i < 4; ++i) {
    stage.model->line_up(std::string(1'200, static_cast<char>('a' + i)), ReplyStop::pause_turn);
  }
  stage.model->line_up("They wrote letters.");  // the summary
  stage.model->line_up("done");
  CHECK(stage.start());
  std::size_t cuts = 0;
  for (const Record& record : stage.records()) {
    cuts += std::holds_alternative<ContextCompacted>(record.event);
  }
  CHECK(cuts == 1);
  CHECK(stage.listed().status == "done");
  const Instance root = stage.details().state.instances.at(0);
  CHECK(root.transcript.at(1).kind == EntryKind::summary);
}

}  // namespace
}  // namespace pawl
