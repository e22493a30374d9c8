// The transition table against the code: every legal pair happens, every other is refused by name.
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "pawl/kernel/flow_stage_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

struct Scene {
  Run run;
  Stamp now;
};

// Late enough for whatever is due.
Scene scene_of(const TestRun& run) {
  return {run.run(), {run->epoch, run->at_ms, run->elapsed_ms + 4'000'000}};
}

TestRun with_worker() {
  TestRun run;
  run.spawns("helper");
  return run;
}

// Suspends the worker too, so that the run waits.
TestRun and_worker_suspended(TestRun run) {
  run.replies_as(InstanceId{2}, {says("hold")}, ReplyStop::suspend);
  return run;
}

TestRun cancelled(TestRun run) {
  run.cancels();
  return run;
}

TestRun paused(TestRun run) {
  run.pauses();
  return run;
}

TestRun running_a_tool() {
  TestRun run;
  run.replies({calls("pure")});
  return run;
}

TestRun wound_up() {
  TestRun run;
  run.replies({says("done")});
  return run;
}

TestRun paused_and_ready() {
  TestRun run;
  run.pauses();
  run.aborts();
  return run;
}

TestRun backing_off() {
  TestRun run;
  run.fails(ErrorCategory::timeout);
  return run;
}

TestRun awaiting_tools() {
  TestRun run;
  run.replies({calls("pure", "1"), calls("recon", "2"), calls("once", "3")});
  run.crashes();
  return run;
}

TestRun awaiting_a_person() {
  CallJudgement judgement;
  judgement.verdict = CallVerdict::ask;
  judgement.binding = sha256("it");
  TestRun run;
  run.replies({calls_judged("once", judgement), calls_judged("pure", CallJudgement{})});
  return run;
}

TestRun in_doubt() {
  TestRun run;
  run.replies({calls("once")});
  run.crashes();
  return run;
}

TestRun yielded(ReplyStop stop) {
  TestRun run = with_worker();
  run.replies({says("over")}, stop);
  return run;
}

TestRun with_spawned(TestRun run) {
  run.spawns("helper");
  return run;
}

TestRun rate_limited() {
  TestRun run;
  ModelFailed event;
  event.effect = run.model_effect();
  event.kind = FailureKind::rate_limited;
  event.retry_after_ms = kParkAfterMs;
  run.takes(event);
  return run;
}

RunStarted with_prices() {
  RunStarted start = a_start();
  start.prices.input = 1;
  start.prices.output = 1;
  return start;
}

TestRun awaiting_budget() {
  RunStarted start = with_prices();
  start.limits.cost_pico = 1;
  return TestRun(start);
}

// The root's next call is too dear as long as the worker's is under way.
TestRun awaiting_budget_and_a_worker() {
  RunStarted start = with_prices();
  start.limits.cost_pico = 9'000;
  TestRun run(start);
  run.spawns("helper");
  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(4'700);
  run.takes(reply);
  run.finishes(kC1, "ok");
  REQUIRE(run.in<AwaitingBudget>());
  return run;
}

TestRun compacting() {
  RunStarted start = a_start();
  start.targets = {ModelTarget{"a/x", {}, 400, 0}};
  start.compaction.keep_messages = 1;
  TestRun run(start);
  for (int i = 0; i < 9 && run.in<AwaitingModel>(); ++i) {
    run.replies({calls("pure", std::to_string(i))});
    run.finishes(CallId{run->calls_minted}, std::string(200, 'x'));
  }
  REQUIRE(run.in<Compacting>());
  return run;
}

TestRun owned_outside() {
  RunStarted start = a_machine({a_node("main")}, "main");
  start.nodes[0].state = a_state("", "{}");
  start.nodes[0].state->owner = StateOwner::external;
  NodeCommand go;
  go.name = "go";
  go.actions = R"([{"message":"look"}])";
  start.nodes[0].commands = {go};
  start.limits.time_ms = 8'000'000;  // A command is refused where a limit leaves no room for it.
  return TestRun(start);
}

TestRun failing() {
  TestRun run(a_family());
  run.replies({spawns_watcher()});
  ModelFailed failed;
  failed.effect = run.model_effect();
  failed.kind = FailureKind::permanent;
  run.takes(failed);
  REQUIRE(run.in<Failing>());
  return run;
}

// A run beneath another, with one beneath itself.
TestRun with_child() {
  RunStarted start = a_start();
  start.agents = {AgentSpec{"helper"}};
  start.agents[0].digest = sha256("helper");
  start.lineage = {Ancestor{RunId{"above"}, kC1, "me", sha256("above"), 3}};
  start.tools.push_back(PinnedTool{"agent__helper", EffectClass::reconcilable, OnDoubt::wait, {}});
  TestRun run(start);
  run.replies({calls("agent__helper", R"({"input":"go"})")});
  const EffectId ask = run.effect_of(EffectKind::ask_place);
  run.takes(ParentAnswered{ask, AskVerdict::given, {0, 0, 1, 1}, ""});
  return run;
}

TestRun child_waiting() {
  TestRun run = with_child();
  run.takes(ChildWaits{kRootInstance, kC1, run.call_effect(kC1), WaitFor::approval, {}, {}});
  return run;
}

TestRun flowing() {
  PhaseSpec phase = a_checkpoint("c", {});
  return TestRun(a_flow({phase, a_phase("a", "n"), an_await("b", "merged", {"a"})}));
}

TestRun flow_over() {
  TestRun run(a_flow({a_phase("a", "n")}));
  run.replies_as(kI2, {says("done")});
  run.ends();
  return run;
}

TestRun finished() {
  TestRun run;
  run.replies({says("done")});
  run.ends();
  return run;
}

// Runs whose root is in the phase, in as many ways as it takes for everything legal to happen.
std::map<std::string, std::vector<Scene>> scenes() {
  std::map<std::string, std::vector<Scene>> all;
  all["not_started"] = {{}};
  const TestRun beginning(with_agent_callbacks());
  all["ready"] = {scene_of(beginning), scene_of(paused(beginning)), scene_of(cancelled(beginning)),
                  scene_of(paused_and_ready()), scene_of(cancelled(paused_and_ready()))};
  all["awaiting_model"] = {scene_of(TestRun()), scene_of(cancelled(TestRun())),
                           scene_of(owned_outside()), scene_of(paused(owned_outside()))};
  all["failing"] = {scene_of(failing()), scene_of(cancelled(failing()))};
  all["flowing"] = {scene_of(flowing()), scene_of(paused(flowing())),
                    scene_of(cancelled(flowing()))};
  all["backing_off"] = {scene_of(backing_off()), scene_of(cancelled(backing_off()))};
  all["awaiting_tools"] = {scene_of(awaiting_tools()),         scene_of(in_doubt()),
                           scene_of(cancelled(in_doubt())),    scene_of(awaiting_a_person()),
                           scene_of(paused(running_a_tool())), scene_of(with_child()),
                           scene_of(paused(with_child())),     scene_of(cancelled(with_child())),
                           scene_of(child_waiting())};
  const std::map<std::string, ReplyStop> yields = {{"suspended", ReplyStop::suspend},
                                                   {"awaiting_external", ReplyStop::external},
                                                   {"resting", ReplyStop::end_turn}};
  for (const auto& [phase, stop] : yields) {
    const TestRun waiting = and_worker_suspended(yielded(stop));
    all[phase] = {scene_of(yielded(stop)), scene_of(waiting), scene_of(cancelled(waiting))};
  }
  // At once: later there would be no time left to answer in.
  const TestRun done = wound_up();
  all["resting"].push_back({done.run(), {done->epoch, done->at_ms, done->elapsed_ms}});
  all["rate_limited"] = {scene_of(rate_limited()), scene_of(cancelled(rate_limited())),
                         scene_of(with_spawned(rate_limited()))};
  all["awaiting_budget"] = {scene_of(awaiting_budget()), scene_of(cancelled(awaiting_budget())),
                            scene_of(awaiting_budget_and_a_worker())};
  all["compacting"] = {scene_of(compacting()), scene_of(with_spawned(compacting()))};
  // At once, as above.
  const TestRun over = finished();
  all["finished"] = {scene_of(over),
                     {over.run(), {over->epoch, over->at_ms, over->elapsed_ms}},
                     scene_of(flow_over())};
  return all;
}

template <class State>
CallId call_in(const RunState& state) {
  for (const Call& call : state.calls) {
    if (std::holds_alternative<State>(call.state)) return call.id;
  }
  return {};
}

Digest binding_asked(const RunState& state) {
  const Call* call = find_call(state, call_in<CallAwaitingPerson>(state));
  return call == nullptr ? Digest{} : std::get<CallAwaitingPerson>(call->state).binding;
}

EffectId effect_of(const RunState& state, EffectKind kind, CallId call = {}) {
  for (const OpenEffect& effect : state.open) {
    if (effect.kind == kind && effect.call == call) return effect.id;
  }
  return {};
}

EffectId last_run_of(const RunState& state, CallId call) {
  const Call* found = find_call(state, call);
  return found == nullptr ? EffectId{} : found->last_run;
}

// One event of every type, each as fitting as the state allows.
bool is_over(const RunState& state) {
  return std::holds_alternative<Finished>(state.life);
}

std::vector<Event> events_for(const RunState& state) {
  const CallId running = call_in<CallRunning>(state);
  const CallId asking = call_in<CallAsking>(state);
  const CallId doubtful = call_in<CallDoubtful>(state);
  const CallId judging = call_in<CallJudging>(state);
  const EffectId model = effect_of(state, EffectKind::model);
  const CallId child = state.children.empty() ? CallId{} : state.children.front().call;
  ModelReplied replied;
  replied.effect = model;
  ToolFinished tool;
  tool.call = running;
  tool.effect = effect_of(state, EffectKind::tool, running);
  return {
      a_start(),
      DriverAttached{"p"},
      AgentBegan{effect_of(state, EffectKind::begin_agent), HookVerdict::proceed, {}, ""},
      replied,
      ModelFailed{kRootInstance, model, ErrorCategory::timeout, "", {}, {}},
      ModelAborted{kRootInstance, model, {}},
      tool,
      ToolStatusLearned{kRootInstance,
                        asking,
                        effect_of(state, EffectKind::status, asking),
                        StatusAnswer::done,
                        {}},
      DoubtResolved{kRootInstance, doubtful, DoubtVerdict::happened, {}, "op"},
      MessageReceived{kRootInstance, Content("m"), "u"},
      PauseRequested{"u"},
      ResumeRequested{"u"},
      CancelRequested{"u", ""},
      TimerFired{},
      HookFailed{HookPoint::before_model, "threw"},
      HookStopped{HookPoint::before_model, {}, "no"},
      InstanceSpawned{kRootInstance, "n", {}},
      InstanceResumed{kRootInstance, "s1", "u"},
      ExternalTurnPushed{kRootInstance, {}, {}, "host"},
      RunWaiting{},
      RunFinished{effect_of(state, EffectKind::end_agent), {}},
      ResultCameLate{kRootInstance, doubtful, last_run_of(state, doubtful), ToolEnd::succeeded, {}},
      ContextCompacted{kRootInstance, effect_of(state, EffectKind::compact), {}, "", {}, {}},
      CompactionFailed{kRootInstance, effect_of(state, EffectKind::compact), "", {}},
      BudgetRaised{1'000'000, "u"},
      CallJudged{kRootInstance, judging, effect_of(state, EffectKind::judge, judging),
                 CallJudgement::allowed()},
      CallDecided{kRootInstance,
                  call_in<CallAwaitingPerson>(state),
                  InterruptDecision::approve,
                  binding_asked(state),
                  "u",
                  {},
                  {},
                  {},
                  0},
      RunReopened{"u", {}, {}, Content("more")},
      StateSet{kRootInstance, Content("{}"), "u"},
      ChildAsked{child, EffectId{3}, AskKind::money, {}, {}, {}, {}},
      ChildReported{child, {}, {}, ChildLife::goes_on},
      ChildWaits{kRootInstance,
                 running,
                 effect_of(state, EffectKind::tool, running),
                 WaitFor::approval,
                 {},
                 {}},
      ChildStirred{kRootInstance, call_in<CallWaiting>(state)},
      ParentAnswered{effect_of(state, EffectKind::ask_money), AskVerdict::given, {}, ""},
      PhaseControlled{"a", is_over(state) ? PhaseAction::rerun : PhaseAction::abandon, "u"},
      EventReceived{"merged", {}, "u"},
      CommandGiven{kRootInstance, "go", Content("{}"), "u"},
      Unrecognised{99, "?"}};
}

std::set<std::string> pairs_of(const std::string& table) {
  std::set<std::string> pairs;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string phase;
    words >> phase;
    for (std::string event; words >> event;) pairs.insert(phase + " " + event);
  }
  return pairs;
}

TEST_CASE("there is one event of every type to try") {
  const std::vector<Event> events = events_for({});
  REQUIRE(events.size() == std::variant_size_v<Event>);
  for (std::size_t i = 0; i < events.size(); ++i) CHECK(events[i].index() == i);
}

// What the run as a whole is in.
std::string state_of(const RunState& state) {
  const auto name_of = [](const auto& one) { return std::string(one.kName); };
  if (!std::holds_alternative<Live>(state.life)) return std::visit(name_of, state.life);
  return std::visit(name_of, state.course);
}

// An event of an instance is looked up under its phase, all others under the state of the run.
bool is_of_instance(const Event& event) {
  static const std::string table = transition_table();
  static const std::string phases = table.substr(table.find("\n\n"));
  return phases.find(" " + std::string(name(event))) != std::string::npos;
}

std::string refusal_of(const Event& event, const std::string& state) {
  const bool late = state == "ending";
  return std::string(name(event)) +
         (late ? " comes too late: the run is ending" : " is not accepted while " + state);
}

TEST_CASE("every legal pair of state and event happens, and every illegal one is refused by name") {
  const std::set<std::string> legal = pairs_of(transition_table());
  std::set<std::string> accepted;
  std::size_t refused = 0;
  for (const auto& [phase, ways] : scenes()) {
    for (const Scene& scene : ways) {
      for (const Event& event : events_for(scene.run.state())) {
        const bool live = std::holds_alternative<Live>(scene.run->life);
        const std::string state =
            live && is_of_instance(event) ? phase : state_of(scene.run.state());
        const std::string pair = state + ": " + std::string(name(event));
        Run run = scene.run;
        const auto record = advance(run, event, scene.now);
        if (record) {
          accepted.insert(pair);
          CHECK(fault_of(run) == "");
          continue;
        }
        CHECK_MESSAGE(encode_snapshot(run) == encode_snapshot(scene.run), pair);
        CHECK(record.error().code == ErrorCode::conflict);
        if (legal.count(pair) > 0) continue;  // Legal in this state, but not in this scene.
        ++refused;
        CHECK(record.error().message == refusal_of(event, state));
      }
    }
  }

  for (const std::string& pair : legal) CHECK_MESSAGE(accepted.count(pair) > 0, pair);
  for (const std::string& pair : accepted) CHECK_MESSAGE(legal.count(pair) > 0, pair);
  MESSAGE("transitions: " << accepted.size() << " of " << legal.size() << " legal ones taken, "
                          << refused << " refusals");
}

TEST_CASE("docs/transitions.md holds the table as the code has it") {
  std::ifstream file(source_directory() + "/docs/transitions.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("```\n" + transition_table() + "```\n") != std::string::npos);
}

}  // namespace
}  // namespace pawl::testing
