// Runs beneath a run: rules M25 to M30 of docs/charter.md, "Agents".
#include "pawl/kernel/decide_agents.h"

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

constexpr std::uint64_t kDollar = 1'000'000'000'000;

RunStarted a_parent() {
  RunStarted start = a_start();
  AgentSpec crew{"crew"};
  crew.digest = sha256("crew");
  AgentSpec self{"self"};
  self.digest = start.charter_digest = sha256("me");
  start.agents = {crew, self};
  start.tools.push_back(PinnedTool{"agent__crew", EffectClass::reconcilable, OnDoubt::wait, {}});
  start.tools.push_back(PinnedTool{"agent__self", EffectClass::reconcilable, OnDoubt::wait, {}});
  return start;
}

RunStarted a_child_of(std::uint32_t depth) {
  RunStarted start = a_parent();
  start.run = RunId{"s-1"};
  start.charter_digest = sha256("child");
  start.agents[1].digest = sha256("above");
  start.lineage = {Ancestor{RunId{"above"}, kC1, "me", sha256("above"), depth}};
  return start;
}

RunStarted with_prices(RunStarted start) {
  start.prices.input = 1;
  start.prices.output = 1;
  start.targets = {ModelTarget{"a/x", start.prices, 0, 1'000}};
  return start;
}

Block starts_crew() {
  return calls("agent__crew", R"({"input":"go"})");
}

TreeBooks spent(std::uint64_t pico) {
  TreeBooks books;
  books.usage = tokens(pico);
  books.cost_pico = pico;
  return books;
}

template <class E>
std::vector<E> effects(const TestRun& run) {
  std::vector<E> found;
  for (const Effect& effect : run.last().effects) {
    if (const E* one = std::get_if<E>(&effect)) found.push_back(*one);
  }
  return found;
}

ToolFinished ended(const TestRun& run, CallId call, const TreeBooks& books) {
  ToolFinished event = run.finish(call, "its answer");
  event.books = books;
  return event;
}

ChildWaits waits(const TestRun& run, CallId call) {
  return {kRootInstance, call, run.call_effect(call), WaitFor::approval, {}, {}};
}

TEST_CASE("M30: a run ends while it is judged whether a call may start another") {
  TestRun run(a_parent());
  run.replies({starts_crew()});
  CallJudgement later;
  later.verdict = CallVerdict::undecided;
  run.takes(CallJudged{kRootInstance, kC1, run.call_effect(kC1), later});
  run.cancels();  // The invariants say that what judges it is still awaited.
  CHECK(run->children.empty());
}

TEST_CASE("M29: a run that did not begin after all may be refused, and its call has that result") {
  RunStarted start = a_parent();
  start.subagents.descendants = 1;
  TestRun run(start);
  run.replies({starts_crew()});
  run.finishes(kC1, "", ToolEnd::aborted);
  run.learns(kC1, StatusAnswer::unknown);
  run.resolves(kC1, DoubtVerdict::did_not_happen);
  CHECK(run.dialogue().find("no more than 1 runs") != std::string::npos);
  CHECK(run.in<AwaitingModel>());
}

// --- M25, M26 ------------------------------------------------------------------------------------

TEST_CASE("M25: a call of an agent starts a run, and the run's output is the call's result") {
  TestRun run(a_parent());
  run.replies({starts_crew()});
  REQUIRE(run.decided<ChildAdmitted>().size() == 1);
  CHECK(run.decided<ChildAdmitted>()[0].agent == "crew");
  CHECK(run.started<RunTool>() == 1);
  CHECK(!is_waiting(run.state()));

  run.takes(ended(run, kC1, {}));
  CHECK(run.dialogue() == "user: hello | assistant: [agent__crew] | c1: its answer");
  CHECK(run->children.empty());
}

TEST_CASE(
    "M26: the id of a run beneath another follows from the key of its call and nothing else") {
  TestRun run(a_parent());
  run.replies({starts_crew()});
  const RunId child = run.decided<ChildAdmitted>().at(0).run;
  CHECK(child == child_run_id(run.state(), kC1));
  CHECK(child != child_run_id(run.state(), kC2));
  CHECK(parse_run_id(child.text));
  RunStarted other = a_parent();
  other.run = RunId{"r2"};
  TestRun second(other);
  CHECK(child_run_id(second.state(), kC1) != child);
}

TEST_CASE("M26: after a crash the call finds its run again, however often it crashes") {
  TestRun run(a_parent());
  run.replies({starts_crew()});
  for (int i = 0; i < 40; ++i) {
    run.crashes();
    CHECK(effects<RunTool>(run).size() == 1);
  }
  CHECK(run.started<AskStatus>() == 0);
  CHECK(run.decided<ChildAdmitted>().size() == 1);
  CHECK(calls_in_doubt(run.state()).empty());
}

TEST_CASE("M26: a run waits for runs beneath it that wait, and goes on when they do") {
  TestRun run(a_parent());
  run.replies({starts_crew()});
  run.takes(waits(run, kC1));
  CHECK(waits_for(run.state()) == WaitFor::children);
  run.parks();

  run.crashes();  // Whoever drives it drives the tree.
  CHECK(effects<RunTool>(run).size() == 1);
  run.takes(waits(run, kC1));
  run.takes(ChildStirred{kRootInstance, kC1});
  CHECK(effects<RunTool>(run).size() == 1);
  CHECK(run.refuses(ChildStirred{kRootInstance, kC1}) == "c1 does not wait for a run");
}

// --- M28 -----------------------------------------------------------------------------------------

TEST_CASE("M28: what a run beneath another has used is part of the other's totals, once") {
  TestRun run(a_parent());
  run.replies({starts_crew()});
  for (int i = 0; i < 2; ++i) {
    run.takes(ChildReported{kC1, spent(7), {7, 7, 0, 0}, ChildLife::goes_on});
    CHECK(run->tally.cost_pico == 7);
    CHECK(total_tokens(run->tally.usage) == 7);
  }
  const std::uint64_t steps = run->tally.steps;
  run.takes(ended(run, kC1, spent(9)));
  CHECK(run->tally.cost_pico == 9);
  CHECK(run->tally.steps == steps + 1);
}

TEST_CASE("M28: money for a run beneath another is set aside in both, and comes back") {
  RunStarted start = with_prices(a_parent());
  start.limits.cost_pico = 10'000;
  TestRun run(start);
  run.replies({starts_crew(), calls("agent__crew", R"({"input":"two"})")});
  const std::uint64_t left = 10'000 - run->tally.cost_pico;

  run.takes(ChildAsked{kC1, EffectId{3}, AskKind::money, {}, {}, {left, 1, 0, 0}, {left, 1, 0, 0}});
  REQUIRE(effects<AnswerChild>(run).size() == 1);
  CHECK(effects<AnswerChild>(run)[0].allowed.cost_pico == left);
  // The other one waits, since something may come back, and gets what does.
  run.takes(ChildAsked{kC2, EffectId{3}, AskKind::money, {}, {}, {100, 1, 0, 0}, {500, 1, 0, 0}});
  CHECK(effects<AnswerChild>(run).empty());
  run.takes(ChildReported{kC1, spent(left - 200), {left - 200, 1, 0, 0}, ChildLife::goes_on});
  REQUIRE(effects<AnswerChild>(run).size() == 1);
  CHECK(effects<AnswerChild>(run)[0].verdict == AskVerdict::given);
  CHECK(effects<AnswerChild>(run)[0].allowed.cost_pico == 200);
  // Nothing is on its way back any more.
  run.takes(ended(run, kC2, spent(200)));
  run.takes(ChildAsked{kC1,
                       EffectId{9},
                       AskKind::money,
                       spent(left - 200),
                       {left - 200, 1, 0, 0},
                       {left, 1, 0, 0},
                       {left, 1, 0, 0}});
  REQUIRE(effects<AnswerChild>(run).size() == 1);
  CHECK(effects<AnswerChild>(run)[0].verdict == AskVerdict::refused);
}

TEST_CASE("M28: a run asks the one above before each model call, and gives back what is left") {
  RunStarted start = with_prices(a_child_of(3));
  start.asks_parent = Presence::present;
  TestRun run(start);
  REQUIRE(run.in<AwaitingBudget>());
  REQUIRE(effects<AskParent>(run).size() == 1);
  const AskParent asked = effects<AskParent>(run)[0];
  CHECK(asked.wanted.cost_pico > asked.least.cost_pico);
  CHECK(!is_waiting(run.state()));

  TreeBounds allowed = asked.least;  // less than wanted, and enough
  run.takes(ParentAnswered{asked.effect, AskVerdict::given, allowed, ""});
  REQUIRE(run.in<AwaitingModel>());
  CHECK(run.run().reserved().pico <= allowed.cost_pico);

  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(3, 2);
  run.takes(reply);
  REQUIRE(effects<TellParent>(run).size() == 1);
  CHECK(effects<TellParent>(run)[0].held.cost_pico == 5);
  CHECK(effects<TellParent>(run)[0].books.cost_pico == 5);
}

TEST_CASE("M28: a run that is given nothing waits for money, and asks again when it is taken up") {
  RunStarted start = with_prices(a_child_of(3));
  start.asks_parent = Presence::present;
  TestRun run(start);
  run.takes(ParentAnswered{run.effect_of(EffectKind::ask_money), AskVerdict::refused, {}, ""});
  CHECK(waits_for(run.state()) == WaitFor::budget);
  run.parks();
  run.crashes();
  CHECK(effects<AskParent>(run).size() == 1);
}

TEST_CASE("M28: what is asked of a run beneath the root is asked of the root") {
  RunStarted start = with_prices(a_child_of(3));
  start.asks_parent = Presence::present;
  TestRun run(start);
  const auto answers = [&](AskVerdict verdict, TreeBounds allowed) {
    run.takes(ParentAnswered{run.effect_of(EffectKind::ask_money), verdict, allowed, ""});
  };
  answers(AskVerdict::given, effects<AskParent>(run)[0].wanted);
  run.replies({starts_crew()});
  run.takes(
      ParentAnswered{run.effect_of(EffectKind::ask_place), AskVerdict::given, {0, 0, 1, 1}, ""});
  const ChildAsked asks{kC1, EffectId{3}, AskKind::money, {}, {}, {100, 1, 0, 0}, {500, 9, 0, 0}};

  run.takes(asks);
  CHECK(effects<AnswerChild>(run).empty());
  REQUIRE(effects<AskParent>(run).size() == 1);
  CHECK(effects<AskParent>(run)[0].wanted.cost_pico == run->tally.cost_pico + 500);
  answers(AskVerdict::given, {run->tally.cost_pico + 300, 1'000'000, 0, 0});
  REQUIRE(effects<AnswerChild>(run).size() == 1);
  CHECK(effects<AnswerChild>(run)[0].allowed.cost_pico == 300);

  run.takes(ChildAsked{kC1,
                       EffectId{4},
                       AskKind::money,
                       spent(300),
                       {300, 300, 0, 0},
                       {400, 301, 0, 0},
                       {400, 301, 0, 0}});
  answers(AskVerdict::refused, {});
  REQUIRE(effects<AnswerChild>(run).size() == 1);
  CHECK(effects<AnswerChild>(run)[0].verdict == AskVerdict::refused);
}

// --- M29 -----------------------------------------------------------------------------------------

TEST_CASE("M29: depth, descendants and calls to oneself are refused in words") {
  TestRun deep(a_child_of(1));
  deep.replies({starts_crew()});
  CHECK(deep.decided<CallDenied>().at(0).text ==
        "not done: runs start others at most 1 levels beneath the first one; do it yourself");
  CHECK(deep.decided<CallDenied>().at(0).rule == "subagents.depth");

  TestRun self(a_parent());
  self.replies({calls("agent__self", R"({"input":"go"})")});
  CHECK(self.decided<CallDenied>().at(0).rule == "subagents.self");
  TestRun through(a_child_of(9));
  through.replies({calls("agent__self", R"({"input":"go"})")});
  CHECK(through.decided<CallDenied>().at(0).rule == "subagents.self");
  CHECK(through.in<AwaitingModel>());  // It reads why, and goes on.

  RunStarted start = a_parent();
  start.subagents.descendants = 1;
  TestRun many(start);
  many.replies({starts_crew()});
  many.takes(ended(many, kC1, {}));  // Those that ever were count.
  many.replies({calls("agent__crew", R"({"input":"two"})")});
  CHECK(many.decided<CallDenied>().at(0).rule == "subagents.descendants");
}

TEST_CASE("M29: beyond at_a_time calls wait, and start in order") {
  RunStarted start = a_parent();
  start.subagents.at_a_time = 1;
  TestRun run(start);
  run.replies({starts_crew(), calls("agent__crew", R"({"input":"2"})"),
               calls("agent__crew", R"({"input":"3"})")});
  CHECK(run->children.size() == 1);
  CHECK(run.call_is<CallWaiting>(kC2));
  run.crashes();
  CHECK(run->children.size() == 1);
  run.takes(ended(run, kC1, {}));
  CHECK(run.call_is<CallRunning>(kC2));
  CHECK(run.call_is<CallWaiting>(kC3));
  run.takes(ended(run, kC2, {}));
  run.takes(ended(run, kC3, {}));
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("M29: places for runs further down are given by the root, which counts them all") {
  RunStarted start = a_parent();
  start.subagents.at_a_time = 2;
  start.subagents.descendants = 2;
  TestRun run(start);
  run.replies({starts_crew()});
  TreeBooks busy;
  const auto asks = [&](std::uint64_t ask, std::uint32_t number, const TreeBooks& books) {
    run.takes(ChildAsked{kC1,
                         EffectId{ask},
                         AskKind::place,
                         books,
                         {},
                         {0, 0, number, number},
                         {0, 0, number, number}});
    return effects<AnswerChild>(run);
  };
  REQUIRE(asks(3, 1, busy).size() == 1);
  CHECK(effects<AnswerChild>(run)[0].allowed.places == 1);
  TreeBooks one;
  one.started = one.places = 1;
  const auto refused = asks(4, 2, one);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].verdict == AskVerdict::refused);
  CHECK(refused[0].text.find("no more than 2 runs") == 0);
}

TEST_CASE("M29: a run that rests lends its place to one beneath it") {
  RunStarted start = a_parent();
  start.subagents.at_a_time = 1;
  TestRun run(start);
  run.replies({starts_crew()});
  TreeBooks acts;
  run.takes(ChildAsked{kC1, EffectId{3}, AskKind::place, acts, {}, {0, 0, 1, 1}, {0, 0, 1, 1}});
  CHECK(effects<AnswerChild>(run).empty());
  TreeBooks rests;
  rests.use = PlaceUse::rests;
  run.takes(ChildReported{kC1, rests, {}, ChildLife::goes_on});
  REQUIRE(effects<AnswerChild>(run).size() == 1);
  CHECK(effects<AnswerChild>(run)[0].verdict == AskVerdict::given);
}

TEST_CASE("M29: a call whose place is refused above is refused in words") {
  TestRun run(a_child_of(3));
  run.replies({starts_crew()});
  REQUIRE(run.call_is<CallWaiting>(kC1));
  run.takes(ParentAnswered{run.effect_of(EffectKind::ask_place), AskVerdict::refused, {}, "no"});
  CHECK(run.decided<CallDenied>().at(0).text == "not done: no");
  CHECK(run.in<AwaitingModel>());
}

// --- M30 -----------------------------------------------------------------------------------------

TEST_CASE("M30: a pause and a resume reach the runs beneath") {
  TestRun run(a_parent());
  run.replies({starts_crew()});
  run.pauses();
  REQUIRE(effects<SteerChild>(run).size() == 1);
  CHECK(effects<SteerChild>(run)[0].steer == Steer::pause);
  run.takes(waits(run, kC1));
  CHECK(waits_for(run.state()) == WaitFor::paused);
  run.resumes();
  CHECK(effects<RunTool>(run).size() == 1);
  CHECK(effects<SteerChild>(run).at(0).steer == Steer::resume);
}

TEST_CASE("M30: a cancel reaches runs beneath that go on, and those that wait") {
  TestRun run(a_parent());
  run.replies({starts_crew(), calls("agent__crew", R"({"input":"2"})")});
  run.takes(waits(run, kC2));
  run.cancels();
  CHECK(effects<AbortEffect>(run).size() == 1);
  REQUIRE(effects<SteerChild>(run).size() == 1);
  CHECK(effects<SteerChild>(run)[0].run == child_run_id(run.state(), kC2));
  run.takes(ended(run, kC1, spent(4)));  // What it had used counts.
  CHECK(run->tally.cost_pico == 4);
  run.ends();
}

TEST_CASE("M30: a run that ends for another reason leaves those alone that are to be detached") {
  RunStarted start = with_prices(a_parent());
  start.limits.cost_pico = kDollar;
  start.agents[0].on_parent_end = OnParentEnd::detach;
  const auto begun = [&] {
    TestRun run(start);
    run.replies({starts_crew()});
    return run;
  };
  TestRun run = begun();
  run.takes(HookStopped{HookPoint::before_model, {}, "no"});
  CHECK(effects<AbortEffect>(run).empty());
  REQUIRE(effects<AnswerChild>(run).size() == 1);  // the rest of the money goes with it
  CHECK(effects<AnswerChild>(run)[0].allowed.cost_pico > 0);
  CHECK(run->tally.cost_pico == kDollar);
  CHECK(run.decided<ChildLeft>().at(0).how == ChildLeave::detached);
  run.ends();

  TestRun cancelled = begun();
  cancelled.cancels();  // A cancel reaches every one.
  CHECK(effects<AbortEffect>(cancelled).size() == 1);
}

TEST_CASE("M30: what does not end in time is given up, and what it held counts as used") {
  RunStarted start = with_prices(a_parent());
  start.limits.cost_pico = 10'000;
  TestRun run(start);
  run.replies({starts_crew()});
  const std::uint64_t before = run->tally.cost_pico;
  run.takes(ChildAsked{kC1, EffectId{3}, AskKind::money, {}, {}, {100, 1, 0, 0}, {100, 1, 0, 0}});
  run.cancels();
  run.later(10'000).ticks();
  CHECK(run->tally.cost_pico == before + 100);
  run.ends();
  CHECK(run->children.empty());
}

}  // namespace
}  // namespace pawl::testing
