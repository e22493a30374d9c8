// A finished run goes on: from every end, with what begins anew and what stays.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

RunReopened reopened(std::string message = "") {
  return {"ann", {}, {}, Content(std::move(message))};
}

TEST_CASE("a done run goes on with a message") {
  TestRun run;
  run.replies({says("four")});
  run.ends();
  const Tally spent = run->tally;

  run.later(60'000).takes(reopened("and twice that?"));

  CHECK(run.in<AwaitingModel>());
  CHECK(status_of(run.state()) == RunStatus::running);
  CHECK(run.dialogue() == "user: hello | assistant: four | user: and twice that?");
  CHECK(run->tally.steps == spent.steps + 1);
  CHECK(run->tally.active_ms == spent.active_ms);  // Being over is no work.
  run.replies({says("eight")});
  run.ends();
  CHECK(status_of(run.state()) == RunStatus::done);
  CHECK(std::get<Finished>(run->life).output == run.instance().last_text);
}

TEST_CASE("a done run without a message waits for one") {
  TestRun run;
  run.replies({says("four")});
  run.ends();
  run.takes(reopened());
  CHECK(run.last().effects.empty());
  CHECK(waits_for(run.state()) == WaitFor::event);
  run.takes(MessageReceived{kRootInstance, Content("more"), "ann"});
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a cancelled run takes its step up again") {
  TestRun run;
  run.cancels();
  run.aborts();
  run.ends();
  CHECK(status_of(run.state()) == RunStatus::cancelled);
  run.takes(reopened());
  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue() == "user: hello");
}

TEST_CASE("a failed run begins its failures anew, with its first target") {
  RunStarted start = a_start();
  start.retry.attempts_max = 1;
  start.retry.attempts_before_failover = 1;
  start.targets = {ModelTarget{"a/x", {}, 0, 0}, ModelTarget{"b/y", {}, 0, 0}};
  TestRun run(start);
  run.fails(ErrorCategory::network_error);
  run.fails(ErrorCategory::network_error);
  run.ends();
  CHECK(status_of(run.state()) == RunStatus::failed);
  run.takes(reopened());
  CHECK(run.instance().failures.empty());
  CHECK(std::get<AwaitingModel>(run.instance().phase).target == 0);
  CHECK(std::get<AwaitingModel>(run.instance().phase).failed_attempts == 0);
}

TEST_CASE("a run that a guard stopped goes on with a result for every call") {
  RunStarted start = a_start();
  start.guards.identical_calls = 2;
  TestRun run(start);
  run.replies({calls("pure", "1")});
  run.finishes(kC1, "ok");
  run.replies({calls("pure", "1")});
  run.ends();
  CHECK(stop_reason_of(run.state()) == StopReason::repeated_call);

  run.takes(reopened("try something else"));

  CHECK(run.dialogue() == "user: hello | assistant: [pure] | c1: ok | assistant: [pure] | c2! " +
                              std::string(rules_of(kSemantics).say.ended) +
                              " | user: try something else");
  CHECK(run.started<RunTool>() == 1);
  // The guard counts from here on.
  run.replies({calls("pure", "1")});
  CHECK(run.started<RunTool>() == 2);
}

TEST_CASE("a run that was stopped at a limit goes on once the limit is raised") {
  RunStarted start = a_start();
  start.limits.steps = 1;
  TestRun run(start);
  run.replies({calls("pure")});
  run.ends();
  CHECK(run.refuses(reopened()) == "run_reopened: a limit leaves no room to go on; raise it");
  RunReopened raised = reopened();
  raised.limits = run->limits;
  raised.limits->steps = 5;
  raised.limits->tokens -= 1;
  CHECK(run.refuses(raised) == "run_reopened lowers a limit");
  raised.limits->tokens += 1;
  raised.guards = Guards{9, 9, 9};
  run.takes(raised);
  CHECK(run.in<AwaitingModel>());
  CHECK(run->limits.steps == 5);
  CHECK(run->guards == Guards{9, 9, 9});
}

TEST_CASE("a budget can be raised or lifted, not brought in") {
  Limits had;
  had.cost_pico = 100;
  Limits now = had;
  CHECK(is_raise(had, now));
  now.cost_pico = 0;
  CHECK(is_raise(had, now));
  now.cost_pico = 99;
  CHECK_FALSE(is_raise(had, now));
  now = had;
  now.budget_ms = 1;
  CHECK_FALSE(is_raise(had, now));
}

TEST_CASE("a call in doubt is in doubt still, and is not repeated") {
  TestRun run;
  run.replies({calls("once")});
  run.cancels();
  run.crashes();
  run.ends();
  REQUIRE(calls_in_doubt(run.state()) == std::vector<CallId>{kC1});

  run.takes(reopened("go on"));

  CHECK(calls_in_doubt(run.state()) == std::vector<CallId>{kC1});
  CHECK(run.last().effects.empty());
  CHECK(waits_for(run.state()) == WaitFor::in_doubt);
  run.takes(DoubtResolved{kRootInstance, kC1, DoubtVerdict::happened, Content("it did"), "op", 1});
  CHECK(run.started<RunTool>() == 1);
  CHECK(run.dialogue() == "user: hello | assistant: [once] | c1: it did | user: go on");
}

TEST_CASE("a call that nobody has judged is judged after the end, not run") {
  RunStarted start = a_start();
  start.guards.tool_errors = 1;
  TestRun run(start);
  CallJudgement denied;
  denied.verdict = CallVerdict::deny;
  run.replies({calls_judged("pure", CallJudgement{}), calls_judged("once", CallJudgement{})});
  run.cancels();
  for (int i = 0; i < 2; ++i) {
    const OpenEffect open = run->open.front();
    run.takes(CallJudged{kRootInstance, open.call, open.id, CallJudgement::allowed()});
  }
  run.ends();
  run.takes(reopened());
  CHECK(run.started<RunTool>() == 2);  // They were allowed meanwhile.

  TestRun other(start);
  other.replies({calls_judged("pure", CallJudgement{}), calls_judged("once", CallJudgement{})});
  other.cancels();
  other.crashes();
  other.ends();
  other.takes(reopened());
  CHECK(other.started<RunTool>() == 0);
  CHECK(other->open.size() == 2);
  CHECK(other->open.front().kind == EffectKind::judge);
}

TEST_CASE("agent callbacks that never ran are run first") {
  RunStarted start = with_agent_callbacks();
  start.limits.bytes_in = 1;
  TestRun run(start);
  run.ends();
  RunReopened raised = reopened();
  raised.limits = run->limits;
  raised.limits->bytes_in = 1'000;
  run.takes(raised);
  REQUIRE(run.last().effects.size() == 1);
  CHECK(std::holds_alternative<BeginAgent>(run.last().effects.front()));
}

TEST_CASE("agent callbacks that stopped a run are asked again, and may stop it again") {
  TestRun run(with_agent_callbacks());
  const auto answers = [&run](HookVerdict verdict) {
    REQUIRE(run.last().effects.size() == 1);
    const auto* begin = std::get_if<BeginAgent>(&run.last().effects.front());
    REQUIRE(begin != nullptr);
    run.takes(AgentBegan{begin->effect, verdict, {}, "not today"});
  };
  answers(HookVerdict::stop);
  run.ends();
  REQUIRE(stop_reason_of(run.state()) == StopReason::callback);

  run.takes(reopened("please"));
  CHECK(run.started<CallModel>() == 0);
  answers(HookVerdict::stop);
  CHECK(stop_reason_of(run.state()) == StopReason::callback);
  run.ends();

  run.takes(reopened());
  answers(HookVerdict::proceed);
  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue() == "user: hello | user: please");
}

TEST_CASE("agent callbacks that stop a cancelled run are asked again, too") {
  TestRun run(with_agent_callbacks());
  const auto begin = std::get<BeginAgent>(run.last().effects.front());
  run.cancels();
  run.takes(AgentBegan{begin.effect, HookVerdict::stop, {}, "no"});
  run.ends();
  REQUIRE(status_of(run.state()) == RunStatus::cancelled);

  run.takes(reopened());

  CHECK(run.started<CallModel>() == 0);
  CHECK(std::holds_alternative<BeginAgent>(run.last().effects.front()));
}

TEST_CASE("where a terminal tool has answered, only a message reopens the run") {
  RunStarted start = a_start();
  start.tools[0].ends_turn = EndsTurn::yes;
  TestRun run(start);
  run.replies({calls("pure")});
  run.cancels();
  run.finishes(kC1, "ok");
  run.ends();
  REQUIRE(status_of(run.state()) == RunStatus::cancelled);

  CHECK(run.refuses(reopened()) ==
        "run_reopened: its last tool has answered, nothing is left to do; give a message");
  run.takes(reopened("and now?"));
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("only a finished run is reopened, and none whose input was not let in") {
  TestRun live;
  CHECK(live.refuses(reopened()) == "run_reopened is not accepted while going");
  live.cancels();
  CHECK(live.refuses(reopened()) == "run_reopened comes too late: the run is ending");

  RunStarted start = a_start();
  start.blocked = InputBlocked{"filter", "no"};
  TestRun blocked(start);
  blocked.ends();
  CHECK(blocked.refuses(reopened("please")) ==
        "run_reopened: the input of this run was not let in; start another one");
}

TEST_CASE("a record after the end is corrupt unless it reopens the run") {
  TestRun run;
  run.replies({says("four")});
  run.ends();
  Run over = run.run();
  Record record = run.last();
  record.seq = over->length;
  record.event = TimerFired{};
  record.decisions.clear();
  record.effects.clear();
  CHECK_FALSE(fold(over, record));
  over = run.run();
  run.takes(reopened("more"));
  CHECK(fold(over, run.last()));
  CHECK(over == run.run());
  CHECK_FALSE(fold(over, run.last()));
}

}  // namespace
}  // namespace pawl::testing
