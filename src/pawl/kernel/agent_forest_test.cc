// Random trees of runs under one cap: models, kills, pauses and lost messages. Whatever happens,
// the tree never spends more than its cap, and what all of it has spent is what the root says.
#include <deque>
#include <map>

#include "pawl/base/rng.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/scenario_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

constexpr std::uint64_t kCap = 60'000;

struct Forest {
  explicit Forest(std::uint64_t seed) : rng(seed) {}

  struct Tree {
    Run run;
    std::uint64_t spent = 0;  // by its own calls, as the world outside knows it
    bool driven = true;
  };

  Rng rng;
  std::map<RunId, Tree> runs;
  std::deque<std::pair<RunId, Event>> mail;
  Stamp now{1, 1'700'000'000'000, 0};
  std::map<std::string, int> met;

  RunStarted begin(std::vector<Ancestor> lineage) {
    RunStarted start = a_start();
    start.charter_digest = sha256("run " + std::to_string(lineage.size()));
    AgentSpec crew{"crew"};
    crew.digest = sha256("nobody");
    start.agents = {crew};
    start.tools.push_back(PinnedTool{"agent__crew", EffectClass::reconcilable, OnDoubt::wait, {}});
    start.prices.input = start.prices.output = 1;
    start.targets = {ModelTarget{"a/x", start.prices, 0, 2'000}};
    start.limits.steps = 6 + rng.below(20);
    start.limits.cost_pico = lineage.empty() ? kCap : rng.below(2) * 20'000;
    start.guards = {0, 0, 0};
    start.subagents = {3, 12, static_cast<std::uint32_t>(1 + rng.below(4))};
    start.lineage = std::move(lineage);
    return start;
  }

  void feed(const RunId& id, const Event& event) {
    Tree& tree = runs[id];
    const bool begins = std::holds_alternative<NotStarted>(tree.run->life);
    const bool attaches = std::holds_alternative<DriverAttached>(event);
    if (!tree.driven && !begins && !attaches) feed(id, DriverAttached{"p"});
    tree.driven = true;
    now.elapsed_ms += rng.below(3);
    Record record{0, now, kRootInstance, event, {}, {}};
    if (!advance(tree.run, record)) return;
    ++met[std::string(name(event))];
    CHECK(fault_of(tree.run) == "");
    for (const Effect& effect : record.effects) {
      std::visit([&](const auto& one) { perform(id, one); }, effect);
    }
    if (wants_park(tree.run.state())) feed(id, RunWaiting{});
    report(id);
  }

  // What its driver would tell the run above.
  void report(const RunId& id) {
    const RunState& state = runs[id].run.state();
    if (!has_parent(state)) return;
    const Ancestor& above = state.lineage.back();
    const Call* call = find_call(runs[above.run].run.state(), above.call);
    const auto* running = call == nullptr ? nullptr : std::get_if<CallRunning>(&call->state);
    const TreeBooks books = books_of(state, PlaceUse::rests);
    if (running == nullptr) return;
    if (std::holds_alternative<Finished>(state.life)) {
      ToolFinished event;
      event.call = above.call;
      event.effect = running->effect;
      event.content = Content("ended");
      event.books = books;
      mail.emplace_back(above.run, event);
    } else if (state.parked == Parked::yes) {
      const TreeBounds held{books.cost_pico, total_tokens(books.usage), books.started,
                            books.places};
      mail.emplace_back(above.run, ChildWaits{kRootInstance, above.call, running->effect,
                                              waits_for(state), books, held});
    }
  }

  template <class Other>
  void perform(const RunId&, const Other&) {}
  void perform(const RunId& id, const AskParent& ask) {
    const Ancestor above = runs[id].run->lineage.back();
    mail.emplace_back(above.run, ChildAsked{above.call, ask.effect, ask.kind, ask.books, ask.held,
                                            ask.least, ask.wanted});
  }
  void perform(const RunId& id, const TellParent& told) {
    const Ancestor above = runs[id].run->lineage.back();
    mail.emplace_back(above.run, ChildReported{above.call, told.books, told.held,
                                               ChildLife::goes_on, told.asks_place});
  }
  void perform(const RunId&, const AnswerChild& answer) {
    mail.emplace_back(answer.run, ParentAnswered{answer.ask, answer.verdict, answer.allowed, ""});
  }
  void perform(const RunId&, const SteerChild& steer) {
    if (steer.steer == Steer::cancel) mail.emplace_back(steer.run, CancelRequested{"above", ""});
  }
  void perform(const RunId& id, const RunTool& tool) {
    const RunState& state = runs[id].run.state();
    const ChildRun* child = find_child(state, tool.call);
    if (child == nullptr) return;
    const RunId run = child->run;
    if (runs.contains(run)) {
      mail.emplace_back(run, DriverAttached{"p"});
      return;
    }
    std::vector<Ancestor> lineage = state.lineage;
    lineage.push_back(as_ancestor(state, tool.call));
    RunStarted start = begin(std::move(lineage));
    start.run = run;
    start.asks_parent = is_asked_by_children(state);
    runs[run];
    mail.emplace_back(run, start);
  }

  // A model or a tool of a run answers.
  void work(const RunId& id) {
    Tree& tree = runs[id];
    const std::vector<OpenEffect> open = tree.run->open;
    if (open.empty() || !tree.driven) return;
    const OpenEffect effect = rng.pick(open);
    if (effect.kind == EffectKind::end_agent) return feed(id, RunFinished{effect.id, {}});
    if (effect.kind == EffectKind::tool && find_child(tree.run.state(), effect.call) == nullptr) {
      ToolFinished done;
      done.call = effect.call;
      done.effect = effect.id;
      done.content = Content("ok");
      return feed(id, done);
    }
    if (effect.kind != EffectKind::model) return;
    const auto& asked = std::get<AwaitingModel>(tree.run->instances[0].phase);
    ModelReplied reply;
    reply.effect = effect.id;
    reply.usage.input_tokens = rng.below(asked.reserved.input_tokens + 1);
    reply.usage.output_tokens = rng.below(asked.reserved.output_tokens + 1);
    tree.spent += total_tokens(reply.usage);
    const std::uint64_t what = rng.below(5);
    if (what == 0) reply.blocks = {says("done")};
    if (what == 1) reply.blocks = {calls("pure")};
    for (std::uint64_t i = 0; what > 1 && i < what - 1; ++i) {
      reply.blocks.push_back(calls("agent__crew", R"({"input":"go"})"));
    }
    feed(id, reply);
  }

  // The process that drives all of them dies; what was on its way is lost.
  void kill() {
    mail.clear();
    ++now.epoch;
    std::vector<RunId> ids;
    for (const auto& [id, tree] : runs) ids.push_back(id);
    for (const RunId& id : ids) {
      Tree& tree = runs[id];
      if (std::holds_alternative<NotStarted>(tree.run->life)) {
        runs.erase(id);
        continue;
      }
      if (!std::exchange(tree.driven, false)) continue;
      // Nobody knows what a lost call has cost: at most what was set aside, and that is charged.
      for (const OpenEffect& effect : tree.run->open) {
        if (effect.kind != EffectKind::model) continue;
        tree.spent += total_tokens(std::get<AwaitingModel>(tree.run->instances[0].phase).reserved);
      }
    }
    const RunId root{"r1"};
    for (const RunId& id : ids) {
      if (runs.contains(id) && (id == root || rng.one_in(2))) feed(id, DriverAttached{"p"});
    }
  }

  void step() {
    const std::uint64_t what = rng.below(100);
    if (what < 55 && !mail.empty()) {
      const auto [id, event] = mail.front();
      mail.pop_front();
      return feed(id, event);
    }
    if (what == 99) return kill();
    auto chosen = runs.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng.below(runs.size())));
    const RunId id = chosen->first;
    work(id);
  }

  std::uint64_t spent() const {
    std::uint64_t sum = 0;
    for (const auto& [id, tree] : runs) sum += tree.spent;
    return sum;
  }

  void play() {
    RunStarted start = begin({});
    start.run = RunId{"r1"};
    feed(start.run, start);
    const RunId root{"r1"};
    for (int i = 0; i < 4'000; ++i) {
      step();
      REQUIRE(spent() <= kCap);
      REQUIRE(runs[root].run->tally.cost_pico <= kCap);
      const RunState& state = runs[root].run.state();
      if (std::holds_alternative<Finished>(state.life)) break;
      if (state.parked == Parked::yes && mail.empty()) feed(root, DriverAttached{"p"});
    }
    for (const auto& [id, tree] : runs) {
      CHECK(tree.run->lineage.size() <= 3);
      CHECK(tree.run->children.size() <= tree.run->subagents.at_a_time);
    }
    CHECK(runs.size() <= 13);
    if (!std::holds_alternative<Finished>(runs[root].run->life)) return;
    ++met["ends"];
    // No run beneath it is left behind but those that were given up: all of it is in the books.
    CHECK(runs[root].run->tally.cost_pico >= spent());
  }
};

TEST_CASE("M28: random trees never spend more than their cap, whatever is killed and lost") {
  std::map<std::string, int> met;
  const std::uint64_t seeds = setting("PAWL_LONG_TESTS", "").empty() ? 150 : 20'000;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    Forest forest(seed);
    forest.play();
    for (const auto& [what, times] : forest.met) met[what] += times;
  }
  for (const char* what : {"child_asked", "child_reported", "child_waits", "parent_answered",
                           "driver_attached", "tool_finished", "ends"}) {
    CHECK_MESSAGE(met[what] > 20, what);
  }
}

}  // namespace
}  // namespace pawl::testing
