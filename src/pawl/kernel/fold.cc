// Applies records to a run. It decides nothing, and it is the only code that changes a run.
#include "pawl/kernel/draft.h"

namespace pawl {

class RunFolder {
 public:
  RunFolder(Run& run, const Record& record) : state_(run.state_), record_(record) {}

  Status fold();

 private:
  Status check() const;
  void stamp();

  // Events.
  void apply(const RunStarted& event);
  void apply(const AgentBegan& event);
  void apply(const ModelReplied& event);
  void apply(const ModelFailed& event);
  void apply(const ModelAborted& event);
  void apply(const ToolFinished& event);
  void apply(const ToolStatusLearned& event);
  void apply(const DoubtResolved& event);
  void apply(const MessageReceived& event);
  void apply(const HookStopped& event);
  void apply(const ExternalTurnPushed& event);
  void apply(const RunWaiting& event);
  void apply(const RunFinished& event);
  void apply(const ResultCameLate& event);
  template <class Other>
  void apply(const Other&) {}

  // Decisions.
  void apply(const StepBegan& decision);
  void apply(const StepEnded& decision);
  void apply(const CallOpened& decision);
  void apply(const CallRefused& decision);
  void apply(const CallInDoubt& decision);
  void apply(const CallUnknown& decision);
  void apply(const CallHeld& decision);
  void apply(const ResultsTaken& decision);
  void apply(const AttemptDiscarded& decision);
  void apply(const RetryPlanned& decision);
  void apply(const NoteAdded& decision);
  void apply(const MessagesDelivered& decision);
  void apply(const InstanceReadied& decision);
  void apply(const InstanceRested& decision);
  void apply(const InstanceSuspended& decision);
  void apply(const TurnHandedOut& decision);
  void apply(const InstanceBorn& decision);
  void apply(const InstanceCeded& decision);
  void apply(const PauseBegan& decision);
  void apply(const PauseEnded& decision);
  void apply(const EndingBegan& decision);
  void apply(const EndingWithdrawn& decision);
  void apply(const CallRetried& decision);

  // Effects.
  void apply(const CallModel& effect);
  void apply(const RunTool& effect);
  void apply(const AskStatus& effect);
  void apply(const BeginAgent& effect);
  void apply(const EndAgent& effect);

  void take_blocks(Instance& instance, const std::vector<Block>& blocks);
  void open_effect(EffectId id, EffectKind kind, InstanceId instance, CallId call);
  void close_effect(EffectId id);
  void end_call(CallId id);
  void count_call(LoopGuard& guard, std::uint64_t fingerprint);
  void open_call(InstanceId instance, CallId call, std::uint32_t index, CallState state);
  void fail(const std::string& what);

  Instance& instance(InstanceId id);
  Call& call(CallId id);

  RunState& state_;
  const Record& record_;
  std::string fault_;
  // Where references that lead nowhere point, so that a damaged record cannot crash the reader.
  Instance no_instance_;
  Call no_call_;
};

void RunFolder::fail(const std::string& what) {
  if (fault_.empty()) fault_ = what;
}

Instance& RunFolder::instance(InstanceId id) {
  for (Instance& one : state_.instances) {
    if (one.id == id) return one;
  }
  fail("no instance " + to_string(id));
  return no_instance_;
}

Call& RunFolder::call(CallId id) {
  for (Call& one : state_.calls) {
    if (one.id == id) return one;
  }
  fail("no call " + to_string(id));
  return no_call_;
}

void RunFolder::open_effect(EffectId id, EffectKind kind, InstanceId where, CallId which) {
  state_.open.push_back({id, kind, where, which});
  state_.effects_minted = std::max(state_.effects_minted, static_cast<std::uint64_t>(id));
}

void RunFolder::close_effect(EffectId id) {
  std::erase_if(state_.open, [id](const OpenEffect& one) { return one.id == id; });
}

void RunFolder::end_call(CallId id) {
  call(id).state = CallEnded{record_.seq};
}

// --- Events ------------------------------------------------------------------------------------

void RunFolder::apply(const RunStarted& event) {
  state_.id = event.run;
  state_.tenant = event.tenant;
  state_.name = event.name;
  state_.model = event.model;
  state_.directory = event.directory;
  state_.semantics = event.semantics;
  state_.charter_digest = event.charter_digest;
  state_.limits = event.limits;
  state_.guards = event.guards;
  state_.retry = event.retry;
  state_.prices = event.prices;
  state_.tools = event.tools;
  state_.started_at_ms = record_.stamp.at_ms;
  state_.forked_from = event.forked_from;
  state_.life = Live{};
  state_.instances.push_back(root_of(event, record_.seq));
  state_.instances_minted = 1;
}

void RunFolder::apply(const AgentBegan& event) {
  close_effect(event.effect);
  if (event.verdict != HookVerdict::replace) return;
  Instance& root = instance(kRootInstance);
  root.last_text = record_.seq;
  root.transcript.push_back({EntryKind::assistant, record_.seq, 0});
}

void RunFolder::take_blocks(Instance& where, const std::vector<Block>& blocks) {
  if (!blocks.empty()) where.transcript.push_back({EntryKind::assistant, record_.seq, 0});
  for (const Block& block : blocks) {
    const TextBlock* text = std::get_if<TextBlock>(&block);
    if (text != nullptr && !text->text.empty()) where.last_text = record_.seq;
  }
}

void RunFolder::apply(const ModelReplied& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  ++where.position;
  where.phase = Ready{};
  if (!event.session.empty()) where.session = event.session;
  take_blocks(where, event.blocks);
}

void RunFolder::apply(const ModelFailed& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  ++where.position;
  where.phase = Ready{};
}

void RunFolder::apply(const ModelAborted& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  const AwaitingModel* phase = std::get_if<AwaitingModel>(&where.phase);
  where.phase = Ready{phase == nullptr ? 0 : phase->failed_attempts};
}

void RunFolder::apply(const ToolFinished& event) {
  close_effect(event.effect);
  end_call(event.call);
  LoopGuard& guard = instance(event.instance).guard;
  guard.tool_errors = event.end == ToolEnd::succeeded ? 0 : guard.tool_errors + 1;
}

void RunFolder::apply(const ToolStatusLearned& event) {
  close_effect(event.effect);
  call(event.call).state = CallWaiting{};  // unless what was decided says otherwise
  if (event.answer == StatusAnswer::done) end_call(event.call);
}

void RunFolder::apply(const DoubtResolved& event) {
  call(event.call).state = CallWaiting{};
  if (event.verdict == DoubtVerdict::happened) end_call(event.call);
}

void RunFolder::apply(const MessageReceived& event) {
  instance(event.instance).waiting_messages.push_back(record_.seq);
}

void RunFolder::apply(const HookStopped& event) {
  const OpenEffect* found = effect_stopped_by(state_, event);
  if (found == nullptr) return;
  const OpenEffect effect = *found;
  close_effect(effect.id);
  if (effect.kind == EffectKind::model) instance(effect.instance).phase = Ready{};
  if (effect.kind == EffectKind::tool) call(effect.call).state = CallWaiting{};
}

void RunFolder::apply(const ExternalTurnPushed& event) {
  Instance& where = instance(event.instance);
  ++where.position;
  where.phase = Ready{};
  take_blocks(where, event.blocks);
}

void RunFolder::apply(const RunWaiting&) {
  state_.parked = Parked::yes;
}

void RunFolder::apply(const RunFinished& event) {
  close_effect(event.effect);
  if (!std::holds_alternative<Ending>(state_.course)) return fail("run_finished without an ending");
  const auto output = event.output ? std::optional(record_.seq) : instance(kRootInstance).last_text;
  state_.life = Finished{output};
}

void RunFolder::apply(const ResultCameLate& event) {
  call(event.call).late_result = record_.seq;
}

// --- Decisions ---------------------------------------------------------------------------------

void RunFolder::apply(const StepBegan& decision) {
  Instance& where = instance(decision.instance);
  where.open_step = decision.step;
  where.attempts = 0;
  ++state_.tally.steps;
}

void RunFolder::apply(const StepEnded& decision) {
  Instance& where = instance(decision.instance);
  where.open_step = 0;
  where.attempts = 0;
  LoopGuard& guard = where.guard;
  const bool same = guard.identical_steps > 0 && guard.step_fingerprint == decision.fingerprint;
  guard.identical_steps = same ? guard.identical_steps + 1 : 1;
  guard.step_fingerprint = decision.fingerprint;
}

void RunFolder::open_call(InstanceId where, CallId id, std::uint32_t index, CallState opened) {
  const std::vector<Block>* blocks = nullptr;
  if (const auto* reply = std::get_if<ModelReplied>(&record_.event)) blocks = &reply->blocks;
  if (const auto* turn = std::get_if<ExternalTurnPushed>(&record_.event)) blocks = &turn->blocks;
  const CallBlock* block = blocks != nullptr && index < blocks->size()
                               ? std::get_if<CallBlock>(&(*blocks)[index])
                               : nullptr;
  if (block == nullptr) return fail(to_string(id) + " names no call of its reply");
  Call one;
  one.id = id;
  one.instance = where;
  one.tool = block->tool;
  one.seq = record_.seq;
  one.index = index;
  one.state = std::move(opened);
  state_.calls.push_back(std::move(one));
  state_.calls_minted = std::max(state_.calls_minted, static_cast<std::uint64_t>(id));
}

void RunFolder::count_call(LoopGuard& guard, std::uint64_t fingerprint) {
  ++state_.tally.tool_calls;
  const bool same = guard.identical_calls > 0 && guard.call_fingerprint == fingerprint;
  guard.identical_calls = same ? guard.identical_calls + 1 : 1;
  guard.call_fingerprint = fingerprint;
}

void RunFolder::apply(const CallOpened& decision) {
  Instance& where = instance(decision.instance);
  open_call(decision.instance, decision.call, decision.index, CallWaiting{});
  count_call(where.guard, decision.fingerprint);
  where.phase = AwaitingTools{};
}

void RunFolder::apply(const CallRefused& decision) {
  open_call(decision.instance, decision.call, decision.index, CallEnded{record_.seq});
  if (!counts(decision)) return;
  LoopGuard& guard = instance(decision.instance).guard;
  count_call(guard, decision.fingerprint);
  ++guard.tool_errors;
}

void RunFolder::apply(const CallInDoubt& decision) {
  call(decision.call).state = CallDoubtful{};
}

void RunFolder::apply(const CallUnknown& decision) {
  end_call(decision.call);
}

void RunFolder::apply(const CallHeld& decision) {
  call(decision.call).state = CallWaiting{decision.held_for};
}

void RunFolder::apply(const CallRetried& decision) {
  Call& one = call(decision.call);
  one.state = CallWaiting{};
  LoopGuard& guard = instance(one.instance).guard;
  if (guard.tool_errors > 0) --guard.tool_errors;  // The event counted one, and it is none.
}

void RunFolder::apply(const ResultsTaken& decision) {
  Instance& where = instance(decision.instance);
  std::vector<Entry>& transcript = where.transcript;
  // Results follow the reply that asked for them; what workers ceded meanwhile comes after.
  std::size_t ceded = 0;
  while (ceded < transcript.size() &&
         transcript[transcript.size() - 1 - ceded].kind == EntryKind::ceded) {
    ++ceded;
  }
  const auto results = static_cast<std::ptrdiff_t>(transcript.size() - ceded);
  for (const Call& one : state_.calls) {
    if (one.instance != decision.instance) continue;
    const CallEnded* ended = std::get_if<CallEnded>(&one.state);
    if (ended == nullptr) return fail(to_string(one.id) + " has no result to take");
    transcript.push_back({EntryKind::tool_result, ended->seq, static_cast<std::uint64_t>(one.id)});
  }
  const auto from = transcript.begin() + results;
  std::rotate(from, from + static_cast<std::ptrdiff_t>(ceded), transcript.end());
  std::erase_if(state_.calls, [&](const Call& one) { return one.instance == decision.instance; });
  where.phase = Ready{};
}

void RunFolder::apply(const AttemptDiscarded& decision) {
  const OpenEffect* found = find_effect(state_, decision.effect);
  if (found == nullptr) return fail(to_string(decision.effect) + " is not open");
  const OpenEffect effect = *found;
  close_effect(effect.id);
  state_.tally.usage = state_.tally.usage + decision.charged;
  state_.tally.cost_pico =
      add_saturating(state_.tally.cost_pico, cost_pico(decision.charged, state_.prices));
  if (effect.kind == EffectKind::model) {
    Instance& where = instance(effect.instance);
    const AwaitingModel* phase = std::get_if<AwaitingModel>(&where.phase);
    where.phase = Ready{phase == nullptr ? 0 : phase->failed_attempts};
  }
  if (effect.kind == EffectKind::tool || effect.kind == EffectKind::status) {
    call(effect.call).state = CallWaiting{};
  }
  if (effect.kind == EffectKind::begin_agent) state_.begin_held = Presence::present;
}

void RunFolder::apply(const RetryPlanned& decision) {
  instance(decision.instance).phase = BackingOff{decision.failed_attempts, decision.at_elapsed_ms};
}

void RunFolder::apply(const NoteAdded& decision) {
  Instance& where = instance(decision.instance);
  where.wrap_up = WrapUp::asked;
  where.transcript.push_back(
      {EntryKind::note, record_.seq, static_cast<std::uint64_t>(decision.note)});
}

void RunFolder::apply(const MessagesDelivered& decision) {
  Instance& where = instance(decision.instance);
  if (decision.count != where.waiting_messages.size()) return fail("other messages wait");
  for (const std::uint64_t seq : where.waiting_messages) {
    where.transcript.push_back({EntryKind::message, seq, 0});
  }
  where.waiting_messages.clear();
}

void RunFolder::apply(const InstanceReadied& decision) {
  instance(decision.instance).phase = Ready{decision.failed_attempts};
}

void RunFolder::apply(const InstanceRested& decision) {
  instance(decision.instance).phase = Resting{};
}

void RunFolder::apply(const InstanceSuspended& decision) {
  instance(decision.instance).phase =
      Suspended{decision.suspend_id, decision.reason, decision.metadata};
}

void RunFolder::apply(const TurnHandedOut& decision) {
  instance(decision.instance).phase = AwaitingExternal{};
}

void RunFolder::apply(const InstanceBorn& decision) {
  const InstanceSpawned* event = std::get_if<InstanceSpawned>(&record_.event);
  if (event == nullptr) return fail("instance_born without instance_spawned");
  Instance child;
  child.id = decision.instance;
  child.parent = decision.parent;
  child.node = event->node;
  child.transcript.push_back({EntryKind::input, record_.seq, 0});
  state_.instances.push_back(std::move(child));
  state_.instances_minted =
      std::max(state_.instances_minted, static_cast<std::uint32_t>(decision.instance));
}

void RunFolder::apply(const InstanceCeded& decision) {
  const Instance& child = instance(decision.instance);
  const InstanceId heir = child.parent;
  if (child.last_text) {
    instance(heir).transcript.push_back({EntryKind::ceded, *child.last_text, 0});
  }
  for (Instance& one : state_.instances) {
    if (one.parent == decision.instance) one.parent = heir;
  }
  std::erase_if(state_.instances, [&](const Instance& one) { return one.id == decision.instance; });
}

void RunFolder::apply(const PauseBegan&) {
  state_.course = Pausing{};
}

void RunFolder::apply(const PauseEnded&) {
  state_.course = Going{};
}

void RunFolder::apply(const EndingBegan& decision) {
  const bool paused = std::holds_alternative<Pausing>(state_.course);
  state_.course = Ending{decision.status,    decision.reason,
                         decision.detail,    record_.stamp.elapsed_ms,
                         state_.tally.steps, paused ? Presence::present : Presence::absent};
}

void RunFolder::apply(const EndingWithdrawn&) {
  const Ending* ending = std::get_if<Ending>(&state_.course);
  if (ending == nullptr) return fail("no ending to withdraw");
  if (ending->pause == Presence::present) {
    state_.course = Pausing{};
  } else {
    state_.course = Going{};
  }
}

// --- Effects -----------------------------------------------------------------------------------

void RunFolder::apply(const CallModel& effect) {
  Instance& where = instance(effect.instance);
  std::uint32_t failed = 0;
  if (const Ready* ready = std::get_if<Ready>(&where.phase)) failed = ready->failed_attempts;
  if (const BackingOff* off = std::get_if<BackingOff>(&where.phase)) failed = off->failed_attempts;
  where.phase = AwaitingModel{effect.effect, failed, effect.reserved};
  where.attempts = effect.attempt;
  ++state_.tally.model_calls;
  open_effect(effect.effect, EffectKind::model, effect.instance, {});
}

void RunFolder::apply(const RunTool& effect) {
  Call& one = call(effect.call);
  one.state = CallRunning{effect.effect};
  one.attempts = effect.attempt;
  one.last_run = effect.effect;
  open_effect(effect.effect, EffectKind::tool, effect.instance, effect.call);
}

void RunFolder::apply(const AskStatus& effect) {
  call(effect.call).state = CallAsking{effect.effect};
  open_effect(effect.effect, EffectKind::status, effect.instance, effect.call);
}

void RunFolder::apply(const BeginAgent& effect) {
  state_.begin_held = Presence::absent;
  open_effect(effect.effect, EffectKind::begin_agent, kRootInstance, {});
}

void RunFolder::apply(const EndAgent& effect) {
  open_effect(effect.effect, EffectKind::end_agent, kRootInstance, {});
}

// --- The record as a whole ---------------------------------------------------------------------

Status RunFolder::check() const {
  const bool first = std::holds_alternative<RunStarted>(record_.event);
  if (record_.seq != state_.length) return Error{ErrorCode::corrupt, "it does not come next"};
  if (record_.stamp.epoch < state_.epoch) return Error{ErrorCode::corrupt, "its epoch is older"};
  if (record_.stamp.elapsed_ms < state_.elapsed_ms) {
    return Error{ErrorCode::corrupt, "its elapsed time is earlier"};
  }
  if (first != std::holds_alternative<NotStarted>(state_.life)) {
    return Error{ErrorCode::corrupt, "run_started comes first, and only once"};
  }
  if (std::holds_alternative<Finished>(state_.life)) {
    return Error{ErrorCode::corrupt, "the run was already over"};
  }
  return ok();
}

void RunFolder::stamp() {
  state_.tally = tally_after(state_, record_.event, record_.stamp);
  state_.epoch = record_.stamp.epoch;
  state_.at_ms = record_.stamp.at_ms;
  state_.elapsed_ms = record_.stamp.elapsed_ms;
  state_.length = record_.seq + 1;
  state_.parked = Parked::no;
}

Status RunFolder::fold() {
  Status fits = check();
  if (fits) {
    stamp();
    const auto apply_one = [this](const auto& one) { apply(one); };
    std::visit(apply_one, record_.event);
    for (const Decision& decision : record_.decisions) std::visit(apply_one, decision);
    for (const Effect& effect : record_.effects) std::visit(apply_one, effect);
    if (fault_.empty()) return ok();
    fits = Error{ErrorCode::corrupt, fault_};
  }
  return Error{ErrorCode::corrupt, "record " + std::to_string(record_.seq) + " (" +
                                       std::string(name(record_.event)) +
                                       ") does not fit the run: " + fits.error().message};
}

Status fold(Run& run, const Record& record) {
  return RunFolder(run, record).fold();
}

}  // namespace pawl
