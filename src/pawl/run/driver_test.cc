// What a driver does between records: the inbox, the run's clock, snapshots, aborts, and what a
// second process takes over. The model is played by the test.
#include "pawl/run/driver.h"

#include <doctest/doctest.h>

#include "pawl/engine/engine.h"
#include "pawl/kernel/rules.h"
#include "pawl/kernel/transcript.h"
#include "pawl/run/driver_stage_test.h"
#include "pawl/service/service.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

using Names = std::vector<std::string>;

MessageReceived message(const std::string& text) {
  return {kRootInstance, Content(text), "somebody"};
}

TEST_CASE("what came into the inbox while a run was being parked keeps it from being let go") {
  Stage stage;
  stage.start();
  stage.model->reply(ReplyStop::suspend);  // recorded, and not known to be durable yet
  stage.post(InstanceResumed{kRootInstance, "s1", "somebody"});

  stage.loop.run_posted();

  CHECK(stage.events() == Names{"run_started", "model_replied", "run_waiting", "instance_resumed"});
  CHECK(stage.model->asked.size() == 2);
  CHECK(stage.engine->live() == 1);
  CHECK(stage.rows() == 0);
}

TEST_CASE("a run that waits is let go when nothing is in its inbox") {
  Stage stage;
  stage.start();
  stage.model->reply(ReplyStop::suspend);
  stage.loop.run_posted();
  CHECK(stage.engine->live() == 0);
  CHECK_FALSE(*stage.journal.is_driven(stage.id));
}

TEST_CASE("what a parked run refuses leaves its inbox with the next resume") {
  Stage stage;
  stage.start();
  stage.model->reply(ReplyStop::suspend);
  stage.loop.run_posted();
  stage.post(InstanceResumed{kRootInstance, "no such", "somebody"});

  stage.take_over();

  CHECK(stage.rows() == 0);
  CHECK(stage.engine->live() == 0);
  CHECK(stage.events() ==
        Names{"run_started", "model_replied", "run_waiting", "driver_attached", "run_waiting"});
}

TEST_CASE("what came into the inbox while a run was ending is part of the run") {
  Stage stage;
  stage.start();
  stage.model->reply(ReplyStop::end_turn);
  stage.post(message("one more thing"));

  stage.loop.run_posted();

  CHECK(stage.events() == Names{"run_started", "model_replied", "message_received"});
  CHECK(stage.model->asked.size() == 2);
  CHECK(stage.rows() == 0);
}

TEST_CASE("messages of other processes are noticed by the next poll") {
  Stage stage;
  stage.start();
  stage.post(message("hear"));
  stage.loop.advance(kInboxPollMs);
  CHECK(stage.events() == Names{"run_started", "message_received"});
  stage.post(message("hear this too"));
  stage.loop.advance(kInboxPollMs);
  CHECK(stage.events().size() == 3);
  CHECK(stage.rows() == 0);
}

TEST_CASE("rows of the inbox are taken by rank and then by age, and what is none is dropped") {
  Stage stage;
  stage.start();
  stage.post_bytes("nonsense");
  stage.post(message("one"));
  stage.post(message("two"));
  stage.post(ResumeRequested{"somebody"});
  stage.post(PauseRequested{"somebody"});

  stage.loop.advance(kInboxPollMs);

  CHECK(stage.events() == Names{"run_started", "pause_requested", "resume_requested",
                                "message_received", "message_received"});
  const auto records = stage.journal.read(stage.id, 3, SIZE_MAX);
  const auto first = decode_record(records->front().bytes);
  CHECK(*std::get<MessageReceived>(first->event).text.bytes() == "one");
  CHECK(stage.rows() == 0);
}

TEST_CASE(
    "the time that a run took before a crash counts after it, and the time between does not") {
  Stage stage;
  stage.limits.time_ms = 1'000;
  stage.start();
  stage.loop.advance(600);
  stage.model->reply(ReplyStop::max_tokens);  // so that the time is on record
  stage.loop.run_posted();
  stage.engine.reset();
  stage.loop.advance(50'000);
  stage.take_over();

  stage.loop.advance(399);
  CHECK(stage.listed().status == "running");
  stage.loop.advance(1);
  CHECK(stage.events().back() == "timer_fired");
  stage.loop.advance(10'000);
  CHECK(stage.listed().reason == "time");
}

TEST_CASE("a snapshot is the state after its record, and the end needs none") {
  Stage stage;
  stage.snapshot_bytes = 1;
  stage.start();
  stage.model->reply(ReplyStop::max_tokens);
  stage.loop.run_posted();
  const auto taken = stage.journal.snapshot(stage.id);
  REQUIRE((taken && taken->has_value()));
  const StoredSnapshot& snapshot = **taken;
  const auto records = stage.journal.read(stage.id, 0, SIZE_MAX);
  CHECK(snapshot.chain == records->at(snapshot.seq).chain);
  CHECK((*decode_snapshot(snapshot.state))->length == snapshot.seq + 1);
  stage.model->reply(ReplyStop::end_turn);
  stage.loop.run_posted();
  CHECK(stage.listed().status == "done");
  CHECK_FALSE(stage.journal.snapshot(stage.id)->has_value());
}

TEST_CASE("the list follows when only the reason for waiting changes") {
  Stage stage;
  stage.start();
  stage.model->reply(ReplyStop::suspend);
  stage.loop.run_posted();
  CHECK(stage.listed().reason == "event");
  stage.post(PauseRequested{"somebody"});
  stage.take_over();
  CHECK(stage.listed().status == "waiting");
  CHECK(stage.listed().reason == "paused");
}

TEST_CASE("whoever takes a run over goes on with its variables, its tenant and its session") {
  Stage stage;
  stage.instructions = "Greet {{who}}.";
  stage.defaults = {{"who", "nobody"}};
  stage.start(InvocationContextBuilder().tenant("acme").variable("who", "Ada").build());
  stage.model->asked[0].sink(SessionStarted{"session 1"});
  stage.model->asked[0].sink(ToolCallProposed{"wait", "{}", ""});
  stage.model->reply(ReplyStop::tool_use);
  stage.loop.run_posted();
  stage.take_over();
  REQUIRE(stage.tool->invoked.size() == 2);
  CHECK(stage.tool->invoked[1].context->tenant() == "acme");
  CHECK(stage.tool->invoked[1].key == stage.tool->invoked[0].key);

  REQUIRE(stage.engine->feed(stage.id, CancelRequested{"somebody", ""}));
  stage.loop.run_posted();
  CHECK(*stage.tool->invoked[1].stop);

  Stage other;
  other.instructions = "Greet {{who}}.";
  other.defaults = {{"who", "nobody"}};
  other.start(InvocationContextBuilder().variable("who", "Ada").build());
  other.model->asked[0].sink(SessionStarted{"session 1"});
  other.model->reply(ReplyStop::max_tokens);
  other.loop.run_posted();
  other.take_over();
  REQUIRE(other.model->asked.size() == 3);
  CHECK(other.model->asked[2].request.system_prompt == "Greet Ada.");
  CHECK(other.model->asked[2].request.session == "session 1");
}

TEST_CASE("a verdict is about the attempt that is in doubt now") {
  Stage stage;
  stage.tool->become(EffectClass::once);
  stage.start();
  stage.model->asked[0].sink(ToolCallProposed{"wait", "{}", ""});
  stage.model->reply(ReplyStop::tool_use);
  stage.loop.run_posted();
  for (std::size_t attempt = 1; attempt <= 3; ++attempt) {
    CAPTURE(attempt);
    REQUIRE(stage.tool->invoked.size() == attempt);
    stage.take_over();  // the process before it died
    REQUIRE(stage.listed().reason == "in_doubt");
    const auto verdict = Service(*stage.engine)
                             .resolution(stage.id, CallId{1}, DoubtVerdict::did_not_happen,
                                         std::nullopt, "somebody");
    REQUIRE(verdict);
    stage.post(*verdict);
    stage.take_over();
  }
}

TEST_CASE("resuming a run that was paused ends its pause") {
  Stage stage;
  stage.start();
  stage.post(PauseRequested{"somebody"});
  stage.loop.advance(kInboxPollMs);
  stage.model->asked[0].sink(PhaseDone{PhaseAborted{}});
  stage.loop.run_posted();
  REQUIRE(stage.listed().reason == "paused");
  stage.new_process();

  REQUIRE(Service(*stage.engine).resume(stage.id));

  stage.loop.run_posted();
  CHECK(stage.model->asked.size() == 2);
  CHECK(stage.listed().status == "running");
}

TEST_CASE("a run that is over is reopened by another process, and goes on") {
  Stage stage;
  stage.start();
  stage.model->reply(ReplyStop::end_turn);
  stage.loop.run_posted();
  REQUIRE(stage.listed().status == "done");
  stage.new_process();
  CHECK_FALSE(stage.engine->resume(stage.id));

  REQUIRE(stage.engine->reopen(stage.id, RunReopened{"somebody", {}, {}, Content("and now?")}));
  stage.loop.run_posted();

  CHECK(stage.listed().status == "running");
  REQUIRE(stage.model->asked.size() == 2);
  CHECK_FALSE(stage.engine->reopen(stage.id, RunReopened{"somebody", {}, {}, Content("again")}));
  stage.model->reply(ReplyStop::end_turn);
  stage.loop.run_posted();
  CHECK(stage.listed().status == "done");
  CHECK(stage.events() == Names{"run_started", "model_replied", "run_finished", "run_reopened",
                                "model_replied", "run_finished"});
}

TEST_CASE("a run that does not accept to be reopened stays as it was, and is nobody's") {
  Stage stage;
  stage.start();
  stage.model->reply(ReplyStop::end_turn);
  stage.loop.run_posted();
  stage.new_process();
  RunReopened lower{"somebody", Limits{}, {}, Content("and now?")};
  lower.limits->steps = 0;
  const Status refused = stage.engine->reopen(stage.id, lower);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "run_reopened lowers a limit");
  CHECK(stage.events().size() == 3);
  CHECK_FALSE(*stage.journal.is_driven(stage.id));
}

class Stamping final : public Processor {
 public:
  std::string_view name() const override { return "stamp"; }
  ProcessorVerdict process(const ProcessedText& text) const override {
    return TextModified{"seen: " + std::string(text.text)};
  }
};

TEST_CASE("a long message that reopens a run is processed like every other") {
  Stage stage;
  const auto processors = std::make_shared<Processors>();
  REQUIRE(processors->input.add({std::make_shared<Stamping>()}));
  stage.processors = processors;
  stage.start();
  stage.model->reply(ReplyStop::end_turn);
  stage.loop.run_posted();
  stage.new_process();
  Ingress ingress;
  const Content text = ingress.keep(std::string(10'000, 'x'));
  REQUIRE(text.blob() != nullptr);

  const Status reopened =
      stage.engine->reopen(stage.id, RunReopened{"somebody", {}, {}, text}, ingress.take_blobs());

  REQUIRE_MESSAGE(reopened, reopened.error().message);
  stage.loop.run_posted();
  REQUIRE(stage.model->asked.size() == 2);
  const auto messages = stage.model->asked.back().request.transcript->load({});
  REQUIRE(messages);
  CHECK(*messages->back().text.bytes() == "seen: " + std::string(10'000, 'x'));
  CHECK_FALSE(stage.journal.blob(stage.id, text.blob()->digest));
}

// Its first timer comes a millisecond early, as clocks that round do.
class HastyLoop final : public Loop {
 public:
  explicit HastyLoop(Loop& inner) : inner_(inner) {}
  void post(std::function<void()> work) override { inner_.post(std::move(work)); }
  std::unique_ptr<Timer> after(std::int64_t delay_ms, std::function<void()> due) override {
    const bool early = delay_ms == 500 && std::exchange(hasty_, false);
    return inner_.after(early ? delay_ms - 1 : delay_ms, std::move(due));
  }
  std::int64_t wall_ms() const override { return inner_.wall_ms(); }
  std::int64_t monotonic_ms() const override { return inner_.monotonic_ms(); }
  bool hasty() const { return hasty_; }

 private:
  Loop& inner_;
  bool hasty_ = true;
};

TEST_CASE("a timer that comes too early is waited for again") {
  Stage stage;
  HastyLoop hasty(stage.loop);
  Engine engine(
      {hasty, {&stage.journal, &stage.journal, &stage.journal, &stage.journal}, {}, {}, "hasty"});
  engine.start({stage.agent(), "go", stage.id, nullptr}, [](const Result<RunId>&) {});
  stage.loop.run_posted();
  stage.model->asked[0].sink(PhaseDone{PhaseFailed{ErrorCategory::timeout, "slow", std::nullopt}});
  stage.loop.advance(499);
  CHECK_FALSE(hasty.hasty());
  CHECK(stage.model->asked.size() == 1);
  stage.loop.advance(1);
  CHECK(stage.model->asked.size() == 2);
}

TEST_CASE("the last steps are announced to the model") {
  Stage stage;
  stage.limits.steps = 2;
  stage.start();
  stage.model->reply(ReplyStop::max_tokens);
  stage.loop.run_posted();
  REQUIRE(stage.model->asked.size() == 2);
  CHECK(stage.model->asked[0].request.note == step_warning(rules_of(kSemantics), 1));
  CHECK(stage.model->asked[1].request.note == step_warning(rules_of(kSemantics), 0));
}

TEST_CASE("a reply that grows without end is aborted, and the run fails by name") {
  Stage stage;
  stage.start();
  const HandExecutor::Asked& asked = stage.model->asked[0];
  asked.sink(TextDelta{std::string(kReplyBytesMax, 'x')});
  CHECK(*asked.aborts == 0);
  asked.sink(TextDelta{"y"});
  CHECK(*asked.aborts == 1);
  PhaseEventSink(asked.sink)(PhaseDone{PhaseAborted{}});
  stage.loop.run_posted();
  CHECK(stage.listed().status == "failed");
  CHECK(stage.listed().reason == "validation_error");
}

TEST_CASE("a subscriber that is shown a piece of a reply may end the driver") {
  Stage stage;
  stage.start();
  const std::shared_ptr<int> owners = stage.model->asked.back().aborts;  // and the operation
  const long owners_before = owners.use_count();
  long owners_inside = 0;
  const auto listening = stage.engine->subscribe([&](const RunEvent& event) {
    if (!std::holds_alternative<Preview>(event)) return;
    stage.writer.refuses = true;
    CHECK(stage.engine->feed(stage.id, message("and?")));
    owners_inside = owners.use_count();
  });

  stage.model->reply(ReplyStop::end_turn);

  CHECK(owners_inside == owners_before);  // An operation is not destroyed while it calls back.
  stage.loop.run_posted();
  CHECK(owners.use_count() == owners_before - 1);
  CHECK(stage.engine->live() == 0);
  CHECK(stage.events() == Names{"run_started"});
}

TEST_CASE("what was given up before its intent was durable is never begun") {
  Stage stage;
  SUBCASE("a model call") {
    stage.writer.slow = true;
    stage.start();
  }
  SUBCASE("a tool call") {
    stage.start();
    stage.writer.slow = true;
    stage.model->asked[0].sink(ToolCallProposed{"wait", "{}", ""});
    stage.model->reply(ReplyStop::tool_use);
  }
  stage.loop.run_posted();
  const std::size_t asked = stage.model->asked.size();
  REQUIRE(stage.engine->feed(stage.id, CancelRequested{"somebody", ""}));
  stage.loop.advance(static_cast<std::int64_t>(rules_of(kSemantics).ending_grace_ms));

  stage.writer.catch_up();

  stage.loop.run_posted();
  CHECK(stage.model->asked.size() == asked);
  CHECK(stage.tool->invoked.empty());
  CHECK(stage.listed().status == "cancelled");
}

TEST_CASE("sc-D14: the next step begins when the result before it is durable, and not sooner") {
  Stage stage;
  stage.start();
  stage.writer.slow = true;
  stage.model->reply(ReplyStop::max_tokens);  // another step follows
  stage.loop.advance(5'000);
  CHECK(stage.events() == Names{"run_started", "model_replied"});
  CHECK(stage.model->asked.size() == 1);
  stage.writer.catch_up();
  stage.loop.run_posted();
  CHECK(stage.model->asked.size() == 2);
}

TEST_CASE("sc-E17: a reply that is in the journal is not asked for again") {
  Stage stage;
  stage.start();
  stage.model->asked[0].sink(ToolCallProposed{"wait", "{}", ""});
  stage.model->reply(ReplyStop::tool_use);
  stage.loop.run_posted();
  REQUIRE(stage.tool->invoked.size() == 1);
  for (int crashes = 0; crashes < 2; ++crashes) stage.take_over();
  CHECK(stage.tool->invoked.size() == 3);
  CHECK(stage.model->asked.size() == 1);
}

TEST_CASE("what snapshots take grows no faster than the run") {
  Stage stage;
  stage.snapshot_bytes = 1;
  stage.limits.steps = 400;
  stage.limits.model_calls = 400;
  stage.limits.tokens = 1'000'000'000;
  stage.start();
  std::size_t taken = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < 300; ++i) {
    stage.post(message("more"));
    stage.model->reply(ReplyStop::end_turn, std::to_string(i) + std::string(200, 'x'));
    stage.loop.advance(kInboxPollMs);
    const auto snapshot = stage.journal.snapshot(stage.id);
    if (!snapshot->has_value() || (*snapshot)->seq == last) continue;
    last = (*snapshot)->seq;
    taken += (*snapshot)->state.size();
  }
  std::size_t written = 0;
  const auto records = stage.journal.read(stage.id, 0, SIZE_MAX);
  for (const StoredRecord& one : *records) written += one.bytes.size();
  REQUIRE(written > 60'000);
  CHECK(taken < written);
}

TEST_CASE("a cancel aborts the model call under way") {
  Stage stage;
  stage.start();
  stage.post(CancelRequested{"somebody", ""});
  stage.loop.advance(kInboxPollMs);
  CHECK(*stage.model->asked[0].aborts == 1);
}

TEST_CASE("what a callback stops before it begins is never begun") {
  Stage stage;
  stage.callbacks.before_model.push_back([](const ModelCallbackContext& asked) {
    return asked.step == 2 ? CallbackResult::stop("enough") : CallbackResult::proceed();
  });
  stage.callbacks.before_tool.push_back(
      [](const ToolCallbackContext&) { return CallbackResult::stop("not that"); });
  SUBCASE("a model call") {
    stage.start();
    stage.model->reply(ReplyStop::max_tokens);
    stage.loop.run_posted();
    CHECK(stage.model->asked.size() == 1);
  }
  SUBCASE("a tool call") {
    stage.start();
    stage.model->asked[0].sink(ToolCallProposed{"wait", "{}", ""});
    stage.model->reply(ReplyStop::tool_use);
    stage.loop.run_posted();
    CHECK(stage.tool->invoked.empty());
  }
  CHECK(stage.listed().status == "stopped");
  CHECK(stage.listed().reason == "callback");
}

TEST_CASE("a reply that after_model replaces is the end of its turn") {
  Stage stage;
  stage.callbacks.after_model.push_back(
      [](const ModelCallbackContext&) { return CallbackResult::replace("something else"); });
  stage.start();
  stage.model->reply(ReplyStop::max_tokens);
  stage.loop.run_posted();
  CHECK(stage.listed().status == "done");
  CHECK(stage.model->asked.size() == 1);
}

}  // namespace
}  // namespace pawl
