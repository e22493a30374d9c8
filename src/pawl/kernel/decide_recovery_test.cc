// The effect ledger: what becomes of effects whose outcome is not known.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

constexpr CallId kC4{4};

std::string waits(const TestRun& run) {
  return std::string(name(run.status())) + " " + std::string(name(waits_for(run.state())));
}

// A run whose process died while one call of this tool ran.
TestRun crashed_in(const std::string& tool) {
  TestRun run;
  run.replies({calls(tool)});
  run.crashes();
  return run;
}

// --- A crash, by class ------------------------------------------------------------------------

TEST_CASE("pure and idempotent calls are run again, with the same key") {
  for (const char* tool : {"pure", "idem"}) {
    TestRun run;
    run.replies({calls(tool)});
    const std::string key = key_of(run.state(), kC1);

    run.crashes();

    CHECK(run.decided() == Decisions{AttemptDiscarded{EffectId{2}, {}}});
    CHECK(run.last().effects == Effects{RunTool{EffectId{3}, kRootInstance, kC1, 2}});
    CHECK(key_of(run.state(), kC1) == key);
    run.finishes(kC1, "ok");
    CHECK(run.dialogue() == "user: hello | assistant: [" + std::string(tool) + "] | c1: ok");
  }
}

TEST_CASE("a reconcilable call is asked about: done is its result") {
  TestRun run = crashed_in("recon");
  CHECK(run.last().effects == Effects{AskStatus{EffectId{3}, kRootInstance, kC1}});

  run.learns(kC1, StatusAnswer::done, "receipt 7");

  CHECK(run.started<RunTool>() == 1);
  CHECK(run.dialogue() == "user: hello | assistant: [recon] | c1: receipt 7");
}

TEST_CASE("a reconcilable call is asked about: absent runs it, with the same key") {
  TestRun run = crashed_in("recon");

  run.learns(kC1, StatusAnswer::absent);

  CHECK(run.last().effects == Effects{RunTool{EffectId{4}, kRootInstance, kC1, 2}});
}

TEST_CASE("a reconcilable call is asked about: unknown is a doubt, never a run") {
  TestRun run = crashed_in("recon");

  run.learns(kC1, StatusAnswer::unknown);

  CHECK(run.decided() == Decisions{CallInDoubt{kC1}});
  CHECK(run.last().effects.empty());
  CHECK(waits(run) == "waiting in_doubt");
}

TEST_CASE("a crash while asking asks again") {
  TestRun run = crashed_in("recon");

  run.crashes();

  CHECK(run.last().effects == Effects{AskStatus{EffectId{4}, kRootInstance, kC1}});
  CHECK(run.refuses(ToolStatusLearned{kRootInstance, kC1, EffectId{3}, StatusAnswer::absent, {}}) ==
        "tool_status_learned comes too late: e3 is closed");
}

TEST_CASE("a once call is in doubt, and stays so over any number of crashes") {
  TestRun run = crashed_in("once");
  CHECK(run.decided() == Decisions{AttemptDiscarded{EffectId{2}, {}}, CallInDoubt{kC1}});
  CHECK(waits(run) == "waiting in_doubt");

  for (int i = 0; i < 20; ++i) {
    run.parks();
    run.crashes();
    CHECK(run.last().decisions.empty());
    CHECK(run.last().effects.empty());
  }
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("where the tool says tell_model, the model learns that nobody knows") {
  TestRun run = crashed_in("tell");

  const std::string text(rules_of(kSemantics).say.outcome_unknown);
  const std::uint64_t tokens = rules_of(kSemantics).estimate_tokens(text.size());
  CHECK(run.decided() == Decisions{AttemptDiscarded{EffectId{2}, {}},
                                   CallUnknown{kC1, text, tokens}, ResultsTaken{},
                                   StepBegan{kRootInstance, 2}});
  CHECK(run.started<RunTool>() == 1);
  CHECK(run.dialogue() == "user: hello | assistant: [tell] | c1! " +
                              std::string(rules_of(kSemantics).say.outcome_unknown));
}

TEST_CASE(
    "of calls side by side, the done one stays, the open one is in doubt, the held one waits") {
  TestRun run;
  run.replies({calls("once", "1"), calls("once", "2"), calls("pure", "3")});
  run.finishes(kC1, "a");

  run.crashes();
  CHECK(run.call_is<CallEnded>(kC1));
  CHECK(run.call_is<CallDoubtful>(kC2));
  CHECK(run.last().effects == Effects{RunTool{EffectId{5}, kRootInstance, kC3, 2}});
  run.finishes(kC3, "c");
  CHECK(waits(run) == "waiting in_doubt");
  run.resolves(kC2, DoubtVerdict::happened, "b, says the operator");

  CHECK(run.dialogue() ==
        "user: hello | assistant: [once] [once] [pure] | c1: a | c2: b, says the operator | c3: c");
}

TEST_CASE("a call that was held and never started is no doubt after a crash") {
  TestRun run;
  run.pauses();
  run.replies({calls("once")});

  run.crashes();

  CHECK(run.call_is<CallWaiting>(kC1));
  run.resumes();
  CHECK(run.last().effects == Effects{RunTool{EffectId{2}, kRootInstance, kC1, 1}});
}

TEST_CASE("an open model call is made again, and the lost attempt charged as reserved") {
  TestRun run;
  run.replies({calls("pure")});
  run.finishes(kC1, "ok");

  run.crashes();

  const Usage reserved = std::get<CallModel>(run.last().effects.at(0)).reserved;
  CHECK(run.decided() == Decisions{AttemptDiscarded{EffectId{3}, reserved}});
  CHECK(run->tally.usage == reserved);
  CHECK(run->tally.steps == 2);
  const auto& again = std::get<CallModel>(run.last().effects.at(0));
  CHECK(again.step == 2);
  CHECK(again.attempt == 2);
  CHECK(again.position == 1);
}

TEST_CASE("a lost attempt costs what was reserved, and is not one of those that failed") {
  RunStarted start = a_start();
  start.prices.input = 3;
  start.prices.output = 15;
  TestRun run(start);
  run.fails(ErrorCategory::timeout);
  run.later(500).ticks();
  const Usage before = run->tally.usage;
  const Usage reserved = std::get<CallModel>(run.last().effects.at(0)).reserved;

  run.crashes();

  CHECK(run->tally.usage == before + reserved);
  CHECK(run->tally.cost_pico == cost_pico(before + reserved, start.prices));
  run.fails(ErrorCategory::timeout);
  CHECK(std::get<RetryPlanned>(run.last().decisions.at(0)).failed_attempts == 2);
}

TEST_CASE("a crash loop is bounded: each lost attempt is a model call") {
  Limits limits;
  limits.model_calls = 5;
  TestRun run(with_limits(limits));
  int crashes = 0;
  while (!run.ending() && crashes < 100) {
    run.crashes();
    ++crashes;
  }
  CHECK(crashes == 5);
  CHECK(run.reason() == StopReason::model_calls);
}

TEST_CASE("a crash at a journaled reply uses the reply") {
  TestRun run;
  run.replies({calls("idem")});
  run.crashes();
  CHECK(run.started<CallModel>() == 1);
}

TEST_CASE("a crash after a bound was crossed restarts nothing and aborts nothing") {
  Limits limits;
  limits.time_ms = 1000;
  TestRun run(with_limits(limits));
  run.replies({calls("pure", "1"), calls("once", "2")});

  run.later(1001).crashes();

  CHECK(run.reason() == StopReason::time);
  CHECK(run.call_is<CallDoubtful>(kC2));
  CHECK(run.last().effects == Effects{EndAgent{EffectId{4}}});
}

TEST_CASE("the charge for a lost attempt can cross the bound: then there is no further attempt") {
  Limits limits;
  limits.tokens = 4096;
  TestRun run(with_limits(limits));

  run.crashes();

  CHECK(run.reason() == StopReason::tokens);
  CHECK(run.last().effects == Effects{EndAgent{EffectId{2}}});
}

TEST_CASE("what one instance restarts is not started when recovery of another ends the run") {
  Limits limits;
  limits.tokens = 4096;
  TestRun run(with_limits(limits));
  run.replies({calls("pure", "1"), calls("recon", "2")});
  run.spawns("helper");

  run.crashes();

  CHECK(run.reason() == StopReason::tokens);
  CHECK(run.last().effects == Effects{EndAgent{EffectId{5}}});
  CHECK(run.call_is<CallWaiting>(kC1));
  CHECK(run.call_is<CallDoubtful>(kC2));
}

TEST_CASE("agent callbacks that lost their process are called anew") {
  TestRun run(with_agent_callbacks());

  run.crashes();

  CHECK(run.decided() == Decisions{AttemptDiscarded{EffectId{1}, {}}});
  CHECK(run.last().effects == Effects{BeginAgent{EffectId{2}}});
  CHECK(run.refuses(AgentBegan{EffectId{1}, HookVerdict::proceed, {}, ""}) ==
        "agent_began comes too late: e1 is closed");
  run.takes(AgentBegan{EffectId{2}, HookVerdict::proceed, {}, ""});
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a retry that is planned survives the crash") {
  TestRun run;
  run.fails(ErrorCategory::timeout);
  run.crashes();
  CHECK(run.in<BackingOff>());
  run.later(500).ticks();
  CHECK(run.in<AwaitingModel>());
}

// --- Timeouts, by class -----------------------------------------------------------------------

TEST_CASE("a timeout of a reconcilable call is asked about, of a once call is a doubt") {
  TestRun recon;
  recon.replies({calls("recon")});
  recon.finishes(kC1, "", ToolEnd::timed_out);
  CHECK(recon.last().effects == Effects{AskStatus{EffectId{3}, kRootInstance, kC1}});
  recon.learns(kC1, StatusAnswer::done, "it was done");
  CHECK(recon.dialogue() == "user: hello | assistant: [recon] | c1: it was done");

  TestRun once;
  once.replies({calls("once")});
  once.finishes(kC1, "", ToolEnd::timed_out);
  CHECK(waits(once) == "waiting in_doubt");

  TestRun tell;
  tell.replies({calls("tell")});
  tell.finishes(kC1, "", ToolEnd::timed_out);
  CHECK(tell.dialogue() == "user: hello | assistant: [tell] | c1! " +
                               std::string(rules_of(kSemantics).say.outcome_unknown));
}

TEST_CASE("a timeout that trips a guard or a bound is a doubt: nothing is asked any more") {
  RunStarted start = a_start();
  start.guards.tool_errors = 1;
  TestRun run(start);
  run.replies({calls("recon")});

  run.finishes(kC1, "", ToolEnd::timed_out);

  CHECK(run.reason() == StopReason::tool_errors);
  CHECK(run.call_is<CallDoubtful>(kC1));
  CHECK(run.last().effects == Effects{EndAgent{EffectId{3}}});
}

TEST_CASE("a failure and a denial are known outcomes of every class") {
  for (const char* tool : {"pure", "idem", "recon", "once", "tell"}) {
    for (const ToolEnd end : {ToolEnd::failed, ToolEnd::denied}) {
      TestRun run;
      run.replies({calls(tool)});
      run.finishes(kC1, "no", end);
      CHECK(run.dialogue() == "user: hello | assistant: [" + std::string(tool) + "] | c1! no");
    }
  }
}

// --- Resolving --------------------------------------------------------------------------------

TEST_CASE("a doubt resolved as happened is a result; resolved as not, one run with the same key") {
  TestRun happened = crashed_in("once");
  happened.parks();
  happened.resolves(kC1, DoubtVerdict::happened, "charged");
  CHECK(happened.started<RunTool>() == 1);
  CHECK(happened.dialogue() == "user: hello | assistant: [once] | c1: charged");

  TestRun not_happened = crashed_in("once");
  const std::string key = key_of(not_happened.state(), kC1);
  not_happened.resolves(kC1, DoubtVerdict::did_not_happen);
  CHECK(not_happened.last().effects == Effects{RunTool{EffectId{3}, kRootInstance, kC1, 2}});
  CHECK(key_of(not_happened.state(), kC1) == key);
}

TEST_CASE("only what is in doubt can be resolved, and only once") {
  TestRun run = crashed_in("once");
  const DoubtResolved verdict{kRootInstance, kC1, DoubtVerdict::did_not_happen, {}, "op"};
  run.takes(verdict);

  CHECK(run.refuses(verdict) == "c1 is not in doubt");
  CHECK(run.refuses(DoubtResolved{kRootInstance, kC4, DoubtVerdict::happened, {}, "op"}) ==
        "c4 is not in doubt");
}

TEST_CASE("a verdict about an earlier attempt says nothing about a later doubt") {
  TestRun run = crashed_in("once");
  const DoubtResolved verdict{kRootInstance, kC1, DoubtVerdict::did_not_happen, {}, "op", 1};
  run.takes(verdict);
  run.crashes();

  CHECK(run.refuses(verdict) == "the verdict is about attempt 1 at c1, in doubt is attempt 2");
  run.resolves(kC1, DoubtVerdict::happened, "paid");
}

TEST_CASE("the first result of an effect counts: a second, or one after a doubt, is late") {
  TestRun twice;
  twice.replies({calls("once", "1"), calls("pure", "2")});
  const ToolFinished result = twice.finish(kC1, "a");
  twice.takes(result);
  ToolFinished other = result;
  other.content = Content("b");
  CHECK(twice.refuses(other) == "tool_finished comes too late: e2 is closed");

  TestRun zombie;
  zombie.replies({calls("once")});
  const ToolFinished late = zombie.finish(kC1, "from the old process");
  zombie.crashes();
  CHECK(zombie.refuses(late) == "tool_finished comes too late: e2 is closed");
}

}  // namespace
}  // namespace pawl::testing
