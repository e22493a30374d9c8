// Which model is asked, and what follows when it fails.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

RunStarted with_targets(std::vector<std::string> literals) {
  RunStarted start = a_start();
  for (std::string& literal : literals) {
    ModelTarget target;
    target.literal = std::move(literal);
    start.targets.push_back(std::move(target));
  }
  return start;
}

const Record& fail_as(TestRun& run, FailureKind kind, Presence output = Presence::absent,
                      std::optional<std::uint64_t> retry_after_ms = {}) {
  ModelFailed event;
  event.effect = run.model_effect();
  event.category = ErrorCategory::llm_error;
  event.message = std::string(name(kind));
  event.kind = kind;
  event.output = output;
  event.retry_after_ms = retry_after_ms;
  return run.takes(event);
}

std::uint32_t asked(const Record& record) {
  for (const Effect& effect : record.effects) {
    if (const auto* call = std::get_if<CallModel>(&effect)) return call->target;
  }
  return 99;
}

TEST_CASE("a model that is skipped after recent failures uses up no model call") {
  RunStarted start = with_targets({"a/x", "b/y"});
  start.limits.model_calls = 1;
  TestRun run(start);
  CHECK(run->tally.model_calls == 1);

  CHECK(asked(fail_as(run, FailureKind::circuit_open)) == 1);
  CHECK(run->tally.model_calls == 1);
  fail_as(run, FailureKind::circuit_open, Presence::absent, 1'000);
  REQUIRE(run.in<BackingOff>());
  CHECK(run->tally.model_calls == 0);
  run.later(1'000).ticks();
  REQUIRE(run.in<AwaitingModel>());

  // One that was asked counts.
  fail_as(run, FailureKind::transient);
  run.later(60'000).ticks();
  CHECK(run.reason() == StopReason::model_calls);
}

TEST_CASE("a model that is always skipped fails its step in the end") {
  TestRun run(with_targets({"a/x"}));
  std::size_t skips = 0;
  while (run.in<AwaitingModel>() && !run.ending() && skips < 2'000) {
    ++skips;
    fail_as(run, FailureKind::circuit_open, Presence::absent, 1'000);
    if (run.in<BackingOff>()) run.later(1'000).ticks();
  }
  CHECK(skips == 1'000);
  CHECK(run.ending());
  CHECK(run->tally.active_ms == 0);
}

TEST_CASE("what another model may do better goes to the next one at once") {
  for (const FailureKind kind :
       {FailureKind::model_not_found, FailureKind::unsupported, FailureKind::empty,
        FailureKind::circuit_open, FailureKind::rate_limited}) {
    CAPTURE(name(kind));
    TestRun run(with_targets({"a/x", "b/y"}));
    CHECK(asked(fail_as(run, kind)) == 1);
    CHECK(run.decided<TargetChanged>().size() == 1);
    run.replies({says("fine")});
    CHECK(run.ending());
  }
}

TEST_CASE("a passing failure is tried again at the same model before the next one is asked") {
  TestRun run(with_targets({"a/x", "b/y"}));
  CHECK(asked(fail_as(run, FailureKind::overloaded)) == 99);
  CHECK(asked(run.later(500).ticks()) == 0);
  CHECK(asked(fail_as(run, FailureKind::transient)) == 1);
}

TEST_CASE("a step that had to wait for money begins with the first model, too") {
  RunStarted start = with_targets({"a/x", "b/y"});
  for (ModelTarget& target : start.targets) {
    target.prices.input = 1;
    target.prices.output = 10;
    target.output_tokens = 1'000;
  }
  start.limits.cost_pico = 12'000;
  TestRun run(start);
  CHECK(asked(fail_as(run, FailureKind::circuit_open)) == 1);
  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(100, 1'000);
  run.takes(reply);
  run.finishes(kC1, "ok");
  REQUIRE(run.in<AwaitingBudget>());
  CHECK(asked(run.takes(BudgetRaised{20'000, "boss"})) == 0);
}

TEST_CASE("of branches that are told to wait, the first that is due wakes the run") {
  TestRun run(with_targets({"a/x"}));
  run.spawns("worker");
  ModelFailed root;
  root.effect = run.model_effect();
  root.category = ErrorCategory::llm_error;
  root.kind = FailureKind::rate_limited;
  root.retry_after_ms = 3'600'000;
  ModelFailed branch = root;
  branch.instance = InstanceId{2};
  branch.effect = run.model_effect(branch.instance);
  branch.retry_after_ms = 1'800'000;
  const std::int64_t now = run->at_ms;
  for (const bool root_first : {true, false}) {
    TestRun one = run;
    one.takes(root_first ? root : branch);
    one.takes(root_first ? branch : root);
    REQUIRE(one.in<RateLimited>());
    CHECK(wake_wall_at(one.state()) == now + 1'800'000);
  }
}

TEST_CASE("the next step begins with the first model again") {
  TestRun run(with_targets({"a/x", "b/y"}));
  fail_as(run, FailureKind::circuit_open);
  run.replies({calls("pure")});
  CHECK(asked(run.finishes(kC1, "ok")) == 0);
}

TEST_CASE("a permanent failure is the end, whoever else could be asked") {
  TestRun run(with_targets({"a/x", "b/y"}));
  fail_as(run, FailureKind::permanent);
  CHECK(run.ending());
  CHECK(run.reason() == StopReason::llm_error);
}

TEST_CASE("when no model is left the error names each and why") {
  TestRun run(with_targets({"a/x", "b/y"}));
  fail_as(run, FailureKind::rate_limited);
  fail_as(run, FailureKind::model_not_found);
  REQUIRE(run.ending());
  CHECK(std::get<Ending>(run->course).detail ==
        "a/x: rate_limited (attempt 1); b/y: model_not_found (attempt 1)");
}

TEST_CASE("once text was shown no other model goes on, unless the policy says so") {
  RunStarted start = with_targets({"a/x", "b/y"});
  TestRun run(start);
  for (std::uint32_t i = 1; i < start.retry.attempts_max; ++i) {
    fail_as(run, FailureKind::transient, Presence::present);
    CHECK(run.in<BackingOff>());
    run.later(10'000).ticks();
  }
  fail_as(run, FailureKind::transient, Presence::present);
  CHECK(run.ending());

  start.retry.after_output = AfterOutput::next_target;
  TestRun other(start);
  fail_as(other, FailureKind::transient, Presence::present);
  other.later(10'000).ticks();
  CHECK(asked(fail_as(other, FailureKind::transient, Presence::present)) == 1);
}

TEST_CASE("a long wait for a provider is not sat out") {
  TestRun run;
  fail_as(run, FailureKind::rate_limited, Presence::absent, 90'000);
  REQUIRE(run.in<RateLimited>());
  CHECK(waits_for(run.state()) == WaitFor::rate_limit);
  const auto due = wake_wall_at(run.state());
  REQUIRE(due);
  CHECK(*due == run->at_ms + 90'000);
  run.parks();
  CHECK(run.status() == RunStatus::waiting);

  run.crashes();  // Taken up too early: it goes on waiting.
  CHECK(run.in<RateLimited>());
  run.later(90'000).crashes();
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a model that is on the bench was not asked: that is no attempt") {
  RunStarted start = with_targets({"a/x"});
  start.retry.attempts_max = 2;
  TestRun run(start);
  for (int i = 0; i < 5; ++i) {
    fail_as(run, FailureKind::circuit_open, Presence::absent, 1'000);
    REQUIRE(run.in<BackingOff>());
    CHECK(asked(run.later(1'000).ticks()) == 0);
  }
  fail_as(run, FailureKind::overloaded, Presence::absent, 1'000);
  CHECK(run.in<BackingOff>());
}

TEST_CASE("a rate limit wakes its branch also while another one works") {
  TestRun run(with_targets({"a/x"}));
  run.spawns("worker");
  fail_as(run, FailureKind::rate_limited, Presence::absent, 120'000);
  REQUIRE(run.in<RateLimited>());
  REQUIRE(run.in<AwaitingModel>(InstanceId{2}));
  CHECK(wake_at(run.state()) == run->elapsed_ms + 120'000);
  CHECK(asked(run.later(120'000).ticks()) == 0);
}

TEST_CASE("a short wait is sat out") {
  TestRun run;
  fail_as(run, FailureKind::rate_limited, Presence::absent, 7'000);
  REQUIRE(run.in<BackingOff>());
  CHECK(wake_at(run.state()) == run->elapsed_ms + 7'000);
}

TEST_CASE("a session that the provider has forgotten is left out, once") {
  TestRun run(with_targets({"a/x"}));
  ModelReplied reply = run.reply({calls("pure")});
  reply.session = "s-1";
  run.takes(reply);
  run.finishes(kC1, "ok");
  CHECK(asked(fail_as(run, FailureKind::session_lost)) == 0);
  CHECK(run.instance().sessions.empty());
  fail_as(run, FailureKind::session_lost);
  CHECK(run.ending());
}

TEST_CASE("each provider keeps its own session") {
  TestRun run(with_targets({"a/x", "b/y"}));
  ModelReplied reply = run.reply({calls("pure")});
  reply.session = "sa";
  run.takes(reply);
  run.finishes(kC1, "ok");
  fail_as(run, FailureKind::circuit_open);
  reply = run.reply({calls("pure", "2")});
  reply.session = "sb";
  run.takes(reply);
  REQUIRE(find_session(run.instance(), "a") != nullptr);
  CHECK(find_session(run.instance(), "a")->length == 2);
  REQUIRE(find_session(run.instance(), "b") != nullptr);
  CHECK(find_session(run.instance(), "b")->length == 4);

  run.finishes(kC2, "ok");
  fail_as(run, FailureKind::session_lost);
  CHECK(find_session(run.instance(), "a") == nullptr);
  CHECK(find_session(run.instance(), "b") != nullptr);
}

TEST_CASE("an empty last reply leaves the answer that was given before") {
  TestRun run;
  run.replies({says("All is paid."), calls("pure")});
  run.finishes(kC1, "ok");
  fail_as(run, FailureKind::empty);
  run.ends();
  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "All is paid.");

  TestRun silent;
  fail_as(silent, FailureKind::empty);
  CHECK(std::get<Ending>(silent->course).status == RunStatus::failed);
}

TEST_CASE("an empty last reply of a worker ends its turn, not the run of the others") {
  TestRun run;
  run.spawns("helper");
  run.replies_as(InstanceId{2}, {says("Half of it."), calls("pure")});
  run.finishes(kC1, "ok");

  ModelFailed empty;
  empty.instance = InstanceId{2};
  empty.effect = run.model_effect(InstanceId{2});
  empty.kind = FailureKind::empty;
  run.takes(empty);

  CHECK(run.in<Resting>(InstanceId{2}));
  CHECK_FALSE(run.ending());
  run.replies({says("All of it.")});
  run.ends();
  CHECK(run.output() == "All of it.");
}

TEST_CASE("a last reply that only points back is not the answer; a short one is") {
  TestRun run;
  run.replies({says("The sum is 42."), calls("pure")});
  run.finishes(kC1, "ok");
  run.replies({says("(see above)")});
  run.ends();
  CHECK(run.output() == "The sum is 42.");

  TestRun brief;
  brief.replies({says("The sum follows."), calls("pure")});
  brief.finishes(kC1, "ok");
  brief.replies({says("42")});
  brief.ends();
  CHECK(brief.output() == "42");
}

TEST_CASE("what a call cost is by the prices of the model that answered, or by its own account") {
  RunStarted start = with_targets({"a/x", "b/y"});
  start.targets[0].prices.input = 3;
  start.targets[1].prices.input = 5;
  TestRun run(start);
  fail_as(run, FailureKind::circuit_open);
  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(10);
  run.takes(reply);
  CHECK(run->tally.cost_pico == 50);
  run.finishes(kC1, "ok");
  reply = run.reply({says("done")});
  reply.usage = tokens(10);
  reply.cost_pico = 7;
  run.takes(reply);
  CHECK(run->tally.cost_pico == 57);
}

TEST_CASE("an answer that does not fit its schema is asked for again, and not for ever") {
  TestRun run;
  for (std::uint32_t i = 0; i < rules_of(kSemantics).output_repairs_max; ++i) {
    ModelReplied reply = run.reply({says("no " + std::to_string(i))});
    reply.output_fault = "/sum is missing";
    run.takes(reply);
    CHECK_FALSE(run.ending());
    CHECK(run.dialogue().find("/sum is missing") != std::string::npos);
  }
  ModelReplied reply = run.reply({says("no")});
  reply.output_fault = "/sum is missing";
  run.takes(reply);
  CHECK(run.ending());
  CHECK(run.reason() == StopReason::validation_error);
}

}  // namespace
}  // namespace pawl::testing
