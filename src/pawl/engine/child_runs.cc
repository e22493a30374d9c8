#include "pawl/engine/child_runs.h"

#include <utility>

#include "pawl/json.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/tools/native_tool.h"

namespace pawl {
namespace {

// Whether a phase of the parent's flow is carried out by the run that this call starts.
bool is_for_phase(const RunState& parent, CallId id) {
  const Call* call = find_call(parent, id);
  const Instance* instance = call == nullptr ? nullptr : find_instance(parent, call->instance);
  return instance != nullptr && is_agent_seat(parent, *instance);
}

// Why a phase has failed that the run has carried out.
std::string failure_of(const RunState& state) {
  const Ending* ending = std::get_if<Ending>(&state.course);
  std::string why = "its run " + state.id.text + " is " + std::string(name(status_of(state))) +
                    ": " + std::string(name(stop_reason_of(state)));
  if (ending != nullptr && !ending->detail.empty()) why += " (" + ending->detail + ")";
  return why;
}

// What a model reads of a run that did not end as it should.
std::string story_of(const RunState& state, const std::string& output) {
  JsonWriter out;
  out.begin_object().field("status", name(status_of(state)));
  out.field("stop_reason", name(stop_reason_of(state))).field("output", output);
  return out.end_object().take();
}

TreeBounds bounds_of(const TreeBooks& books) {
  return {books.cost_pico, total_tokens(books.usage), books.started, books.places};
}

// It goes on by itself, in this process, and nobody has to do anything for it.
bool comes_back(const RunState& state) {
  return waits_for(state) == WaitFor::rate_limit;
}

bool is_over(const RunState& state) {
  return std::holds_alternative<Finished>(state.life);
}

// The call of a driven run that the other run belongs to, if it waits for that one.
const Call* waiting_call(const RunState& parent, const ChildRun& child) {
  const Call* call = find_call(parent, child.call);
  const auto* held = call == nullptr ? nullptr : std::get_if<CallWaiting>(&call->state);
  return held != nullptr && held->held_for == HeldFor::child ? call : nullptr;
}

const ChildRun* find_run(const RunState& parent, const RunId& run) {
  for (const ChildRun& child : parent.children) {
    if (child.run == run) return &child;
  }
  return nullptr;
}

}  // namespace

// --- Tools ---------------------------------------------------------------------------------------

// Destroying it leaves the run alone: it is driven on, or taken up by whoever drives its parent.
class ChildRuns::Handle final : public Operation {
 public:
  Handle(ChildRuns& runs, RunId child, RunId parent, std::uint64_t number)
      : runs_(runs),
        alive_(runs.alive_),
        child_(std::move(child)),
        parent_(std::move(parent)),
        number_(number) {}
  ~Handle() override {
    if (*alive_) runs_.forget(child_, number_);
  }
  void abort() override {
    if (*alive_) runs_.cancel(child_, parent_);
  }

 private:
  ChildRuns& runs_;
  std::shared_ptr<bool> alive_;
  RunId child_;
  RunId parent_;
  std::uint64_t number_;
};

class ChildRuns::AgentTool final : public Tool {
 public:
  AgentTool(ToolSpec spec, ChildRuns& runs, AdhocCharters charters)
      : spec_(std::move(spec)), runs_(runs), alive_(runs.alive_), charters_(std::move(charters)) {}
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    PAWL_ASSERT(*alive_);
    return runs_.begin(invocation, charters_, std::move(done));
  }
  // The kernel has such a call made again instead: its run is found by its key.
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    runs_.engine_.loop().post([done = std::move(done)] {
      done({ToolStatus::Kind::unknown, "its run is found by making the call again"});
    });
    return std::make_unique<Handle>(runs_, RunId{}, invocation.run, 0);
  }

 private:
  ToolSpec spec_;
  ChildRuns& runs_;
  std::shared_ptr<bool> alive_;
  AdhocCharters charters_;
};

std::vector<std::shared_ptr<Tool>> ChildRuns::tools_for(const std::vector<AgentSpec>& agents,
                                                        Presence adhoc,
                                                        const AdhocCharters& charters) {
  std::vector<std::shared_ptr<Tool>> tools;
  for (const AgentSpec& agent : agents) {
    const bool inner = agent.name.find('/') != std::string::npos;
    if (!inner) tools.push_back(std::make_shared<AgentTool>(agent_tool(agent), *this, nullptr));
  }
  if (adhoc == Presence::present) {
    tools.push_back(std::make_shared<AgentTool>(adhoc_tool(), *this, charters));
  }
  return tools;
}

// --- Starting ------------------------------------------------------------------------------------

std::unique_ptr<Operation> ChildRuns::begin(const ToolInvocation& invocation,
                                            AdhocCharters charters,
                                            std::function<void(ToolOutcome)> done) {
  const Run* parent = engine_.find(invocation.run);
  PAWL_ASSERT(parent != nullptr);
  const ChildRun* admitted = find_child(parent->state(), invocation.call);
  PAWL_ASSERT(admitted != nullptr);
  const RunId child = admitted->run;
  Waiter& waiter = waiters_[child];
  waiter = Waiter{invocation.run, invocation.call, std::move(done), ++begun_, false, {}};
  engine_.loop().post([this, child, number = begun_, input = invocation.input,
                       charters = std::move(charters), alive = alive_] {
    const auto found = *alive ? waiters_.find(child) : waiters_.end();
    if (!*alive || found == waiters_.end() || found->second.number != number) return;
    launch(child, input, charters);
  });
  return std::make_unique<Handle>(*this, child, invocation.run, begun_);
}

void ChildRuns::launch(const RunId& child, const std::string& input,
                       const AdhocCharters& charters) {
  if (engine_.find(child) != nullptr) return;  // its end is told
  const auto first = engine_.store().reader->read(child, 0, 1);
  if (first) return resume(child);
  if (first.error().code != ErrorCode::not_found) return fail(child, first.error().message);
  start(child, input, charters);
}

void ChildRuns::start(const RunId& child, const std::string& input, const AdhocCharters& charters) {
  const RunId parent = waiters_.at(child).parent;
  auto request = engine_.child_request(parent, waiters_.at(child).call, input, charters);
  if (!request) return fail(child, "not started: " + request.error().message);
  engine_.start(*std::move(request), [this, child, alive = alive_](const Result<RunId>& id) {
    if (*alive && !id) fail(child, "not started: " + id.error().message);
  });
  if (waiters_.contains(child) && waiters_.at(child).cancelled) cancel(child, parent);
}

// A run that is there goes on where it was, or has ended.
void ChildRuns::resume(const RunId& child) {
  engine_.take_up(child, [this, child, alive = alive_](const Status& taken) {
    if (*alive && !taken && waiters_.contains(child)) on_not_taken(child, taken.error());
  });
}

void ChildRuns::on_not_taken(const RunId& child, const Error& why) {
  const auto state = state_of(child);
  if (!state) return fail(child, state.error().message);
  if (is_over(*state)) return report_end(child, *state);
  // Another process drives it, or it has just ended there.
  if (why.code == ErrorCode::conflict) return look_later(child);
  fail(child, why.message);
}

void ChildRuns::look_later(const RunId& child) {
  waiters_.at(child).look = engine_.loop().after(kChildLookMs, [this, child] {
    engine_.loop().post([this, child, alive = alive_] {
      if (*alive && waiters_.contains(child) && engine_.find(child) == nullptr) resume(child);
    });
  });
}

// --- Ending --------------------------------------------------------------------------------------

void ChildRuns::forget(const RunId& child, std::uint64_t number) {
  const auto found = waiters_.find(child);
  if (found != waiters_.end() && found->second.number == number) waiters_.erase(found);
}

void ChildRuns::cancel(const RunId& child, const RunId& parent) {
  if (engine_.find(parent) != nullptr) given_up_.insert(child);
  const auto found = waiters_.find(child);
  if (found != waiters_.end()) found->second.cancelled = true;
  const CancelRequested event{"run " + parent.text, "the run that started it has ended"};
  deliver(child, event, [this, child, event] {
    const auto state = state_of(child);
    if (state && is_over(*state)) return report_end(child, *state);
    post(child, event, [this, child, alive = alive_](const Status& posted) {
      if (*alive && posted) engine_.take_up(child, [](const Status&) {});
    });
  });
}

void ChildRuns::finish(const RunId& child, ToolOutcome outcome) {
  const auto found = waiters_.find(child);
  if (found == waiters_.end()) return;
  const auto done = std::move(found->second.done);
  waiters_.erase(found);
  done(std::move(outcome));
}

void ChildRuns::fail(const RunId& child, const std::string& why) {
  ToolOutcome outcome;
  outcome.kind = ToolOutcome::Kind::failed;
  outcome.content = cut_output(why, kToolOutputDefaultBytes);
  outcome.content_length = why.size();
  finish(child, std::move(outcome));
}

Result<RunState> ChildRuns::state_of(const RunId& run) {
  PAWL_TRY(const LoadedRun loaded, load_run(*engine_.store().reader, run, UseSnapshot::yes));
  return loaded.run.state();
}

Result<ToolOutcome> ChildRuns::outcome_of(const Waiter& waiter, const RunState& state) {
  PAWL_TRY(std::string text, output_text(*engine_.store().reader, state));
  const RunStatus status = status_of(state);
  const Run* parent = engine_.find(waiter.parent);
  const bool phase = parent != nullptr && is_for_phase(parent->state(), waiter.call);
  if (!phase && status != RunStatus::done) text = story_of(state, text);
  if (phase && status != RunStatus::done && status != RunStatus::stopped) text = failure_of(state);
  ToolOutcome outcome;
  outcome.kind = ToolOutcome::Kind::succeeded;
  outcome.content_length = text.size();
  // A phase hands on all of it or fails.
  outcome.content = phase ? std::move(text) : cut_output(text, kToolOutputDefaultBytes);
  outcome.child =
      std::make_shared<ChildOutcome>(ChildOutcome{books_of(state, PlaceUse::acts), {}, status});
  return outcome;
}

void ChildRuns::report_end(const RunId& child, const RunState& state) {
  const bool given_up = given_up_.erase(child) > 0;
  if (const auto waiter = waiters_.find(child); waiter != waiters_.end()) {
    auto outcome = outcome_of(waiter->second, state);
    if (!outcome) return fail(child, outcome.error().message);
    return finish(child, *std::move(outcome));
  }
  if (state.lineage.empty()) return;
  // Nobody awaits it any more, but what it has used counts.
  const Ancestor parent = state.lineage.back();
  const TreeBooks books = books_of(state, PlaceUse::acts);
  const Run* driven = engine_.find(parent.run);
  const auto drive = [this, run = parent.run, given_up] {
    if (given_up) (void)engine_.resume(run);
  };
  if (driven == nullptr) return leave_word(parent, books, drive);
  const ChildRun* known = find_child(driven->state(), parent.call);
  if (known == nullptr) return;
  if (const Call* call = waiting_call(driven->state(), *known)) {
    return deliver(parent.run, ChildStirred{call->instance, call->id});
  }
  deliver(parent.run, ChildReported{parent.call, books, bounds_of(books), ChildLife::over},
          [this, parent, books] {  // It has just been let go.
            leave_word(parent, books, [this, run = parent.run] { (void)engine_.resume(run); });
          });
}

// Nobody drives the run above here. One whose call waits will look; one that has given the call up
// would keep a place for ever.
void ChildRuns::leave_word(const Ancestor& parent, const TreeBooks& books,
                           std::function<void()> left) {
  const auto above = state_of(parent.run);
  if (!above || is_over(*above) || find_child(*above, parent.call) == nullptr) return;
  const Call* call = find_call(*above, parent.call);
  if (call != nullptr && !std::holds_alternative<CallEnded>(call->state)) return;
  post(parent.run, ChildReported{parent.call, books, bounds_of(books), ChildLife::over},
       [left = std::move(left)](const Status& posted) {
         if (posted) left();
       });
}

void ChildRuns::on_ended(const RunId& run, const RunState& state, const Status& status) {
  if (status && is_over(state)) return report_end(run, state);
  const auto found = waiters_.find(run);
  if (found == waiters_.end() || (status && comes_back(state))) return;
  ToolOutcome outcome;
  outcome.child = std::make_shared<ChildOutcome>(
      ChildOutcome{books_of(state, PlaceUse::rests), waits_for(state)});
  finish(run, std::move(outcome));
}

// A run that waited goes on: whoever started it drives with it.
void ChildRuns::on_driven(const RunId& run) {
  if (waiters_.contains(run)) return;
  const Run* driven = engine_.find(run);
  if (driven == nullptr || !has_parent(driven->state())) return;
  const RunId parent = driven->state().lineage.back().run;
  const Run* above = engine_.find(parent);
  const ChildRun* child = above == nullptr ? nullptr : find_run(above->state(), run);
  const Call* call = child == nullptr ? nullptr : waiting_call(above->state(), *child);
  if (call != nullptr) deliver(parent, ChildStirred{call->instance, call->id});
}

void ChildRuns::look() {
  for (const auto& [parent, event] : engine_.stirred_children()) deliver(parent, event);
}

// --- What runs say to each other -----------------------------------------------------------------

void ChildRuns::carry(const RunId& from, const Effect& effect) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { this->say(from, one); }) say(from, one);
      },
      effect);
}

void ChildRuns::post(const RunId& to, const Event& event, std::function<void(const Status&)> done) {
  Inbox* const inbox = engine_.store().inbox;
  if (inbox == nullptr) return done(Error{ErrorCode::unavailable, "the store has no inbox"});
  ++under_way_;
  inbox->post(to, engine_.loop().wall_ms(), encode_event(event),
              [this, done = std::move(done), alive = alive_](const Status& status) {
                if (!*alive) return;
                --under_way_;
                done(status);
              });
}

void ChildRuns::deliver(const RunId& to, Event event, std::function<void()> undriven) {
  ++under_way_;
  engine_.loop().post(
      [this, to, event = std::move(event), undriven = std::move(undriven), alive = alive_] {
        if (!*alive) return;
        --under_way_;
        if (engine_.find(to) != nullptr) {
          static_cast<void>(engine_.feed(to, event));  // refused: it has moved on
          return;
        }
        const auto driven = engine_.store().catalog->is_driven(to);
        if (driven && *driven) return post(to, event, [](const Status&) {});
        if (undriven) undriven();
      });
}

// The run above is needed for its word: it is driven from now on.
void ChildRuns::say(const RunId& from, const AskParent& effect) {
  const Run* run = engine_.find(from);
  if (run == nullptr || run->state().lineage.empty()) return;
  const Ancestor parent = run->state().lineage.back();
  const ChildAsked event{parent.call, effect.effect, effect.kind,  effect.books,
                         effect.held, effect.least,  effect.wanted};
  deliver(parent.run, event, [this, from, parent, event] {
    engine_.take_up(parent.run, [this, from, parent, event, alive = alive_](const Status& taken) {
      if (!*alive) return;
      if (taken) return deliver(parent.run, event);
      const ParentAnswered no{
          event.ask, AskVerdict::refused, event.held,
          "the run that started this one gives nothing more: " + taken.error().message};
      deliver(from, no);
    });
  });
}

void ChildRuns::say(const RunId& from, const TellParent& effect) {
  const Run* run = engine_.find(from);
  if (run == nullptr || run->state().lineage.empty()) return;
  const Ancestor& parent = run->state().lineage.back();
  deliver(parent.run, ChildReported{parent.call, effect.books, effect.held, ChildLife::goes_on,
                                    effect.asks_place});
}

void ChildRuns::say(const RunId&, const AnswerChild& effect) {
  deliver(effect.run, ParentAnswered{effect.ask, effect.verdict, effect.allowed, effect.text});
}

void ChildRuns::say(const RunId& from, const SteerChild& effect) {
  const std::string by = "run " + from.text;
  switch (effect.steer) {
    case Steer::cancel:
      return cancel(effect.run, from);
    case Steer::pause:
      return deliver(effect.run, PauseRequested{by});
    case Steer::resume:
      return deliver(effect.run, ResumeRequested{by});
  }
}

// --- Other processes -----------------------------------------------------------------------------

// What happened to runs that wait, and that driven runs have started.
std::vector<std::pair<RunId, ChildStirred>> Engine::stirred_children() const {
  std::vector<std::pair<RunId, ChildStirred>> stirred;
  const auto addressed = options_.store.inbox->addressed();
  for (const auto& [parent, driver] : drivers_) {
    for (const ChildRun& child : driver->run()->children) {
      const Call* call = waiting_call(driver->run().state(), child);
      if (call == nullptr) continue;
      ListQuery query;
      query.id_prefix = child.run.text;
      query.count_max = 1;
      const auto found = options_.store.catalog->list(query);
      const bool over = found && !found->empty() && is_terminal(found->front().status);
      const bool news = addressed && std::find(addressed->begin(), addressed->end(), child.run) !=
                                         addressed->end();
      if (over || news) stirred.emplace_back(parent, ChildStirred{call->instance, call->id});
    }
  }
  return stirred;
}

}  // namespace pawl
