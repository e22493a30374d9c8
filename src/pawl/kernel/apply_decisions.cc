// What decisions and effects change in a run; what events change is in apply_events.cc.
#include <algorithm>

#include "pawl/kernel/apply.h"

namespace pawl {

// --- Decisions ---------------------------------------------------------------------------------

// A command is a step of its own: it leaves one that the instance is in as it is.
void Applier::on(const StepBegan& decision) {
  Instance& where = instance(decision.instance);
  if (std::holds_alternative<CommandGiven>(record_.event) &&
      decision.instance == instance_of(record_.event) && !command_counted_) {
    command_counted_ = true;
    ++where.node_steps;
    ++state_.tally.steps;
    return;
  }
  where.open_step = decision.step;
  where.attempts = 0;
  where.target = first_target(state_, where);
  where.failures.clear();
  ++where.node_steps;
  if (where.seat) ++where.seat->steps;
  where.leave.reset();
  ++state_.tally.steps;
}

void Applier::on(const StepEnded& decision) {
  const bool of_command = std::holds_alternative<CommandGiven>(record_.event);
  if (of_command && decision.yield == YieldReason::command) return;
  Instance& where = instance(decision.instance);
  where.open_step = 0;
  where.attempts = 0;
  where.failures.clear();
  LoopGuard& guard = where.guard;
  const bool same = guard.identical_steps > 0 && guard.step_fingerprint == decision.fingerprint;
  guard.identical_steps = same ? guard.identical_steps + 1 : 1;
  guard.step_fingerprint = decision.fingerprint;
}

void Applier::open_call(InstanceId where, CallId id, std::uint32_t index, CallState opened) {
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

void Applier::count_call(LoopGuard& guard, std::uint64_t fingerprint) {
  ++state_.tally.tool_calls;
  const bool same = guard.identical_calls > 0 && guard.call_fingerprint == fingerprint;
  guard.identical_calls = same ? guard.identical_calls + 1 : 1;
  guard.call_fingerprint = fingerprint;
}

void Applier::on(const CallOpened& decision) {
  Instance& where = instance(decision.instance);
  open_call(decision.instance, decision.call, decision.index, CallWaiting{});
  Call& opened = call(decision.call);
  opened.scope = decision.scope;
  opened.owner = decision.owner;
  count_call(where.guard, decision.fingerprint);
  set_phase(where, AwaitingTools{});
}

void Applier::on(const CallRefused& decision) {
  open_call(decision.instance, decision.call, decision.index,
            CallEnded{record_.seq, decision.tokens});
  if (!counts(decision)) return;
  LoopGuard& guard = instance(decision.instance).guard;
  count_call(guard, decision.fingerprint);
  ++guard.tool_errors;
}

void Applier::on(const CallInDoubt& decision) {
  call(decision.call).state = CallDoubtful{};
}

void Applier::on(const CallUnknown& decision) {
  call(decision.call).state = CallEnded{record_.seq, decision.tokens};
  if (has_flow(state_)) {
    end_agent_seat(call(decision.call), EndedHow::failed, Content(decision.text));
  }
}

void Applier::on(const CallHeld& decision) {
  call(decision.call).state = CallWaiting{decision.held_for};
}

void Applier::on(const CallRetried& decision) {
  Call& one = call(decision.call);
  one.state = CallWaiting{};
  LoopGuard& guard = instance(one.instance).guard;
  if (guard.tool_errors > 0) --guard.tool_errors;  // The event counted one, and it is none.
}

void Applier::on(const ResultsTaken& decision) {
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
    transcript.push_back(
        {EntryKind::tool_result, ended->seq, static_cast<std::uint64_t>(one.id), ended->tokens});
  }
  const auto from = transcript.begin() + results;
  std::rotate(from, from + static_cast<std::ptrdiff_t>(ceded), transcript.end());
  std::erase_if(state_.calls, [&](const Call& one) { return one.instance == decision.instance; });
  set_phase(where, Ready{});
}

void Applier::on(const AttemptDiscarded& decision) {
  const OpenEffect* found = find_effect(state_, decision.effect);
  if (found == nullptr) return fail(to_string(decision.effect) + " is not open");
  const OpenEffect effect = *found;
  close_effect(effect.id);
  state_.tally.usage = state_.tally.usage + decision.charged;
  state_.tally.cost_pico = add_saturating(state_.tally.cost_pico, decision.cost_pico);
  if (effect.kind == EffectKind::model || effect.kind == EffectKind::compact) {
    Instance& where = instance(effect.instance);
    set_phase(where, Ready{failed_attempts_of(where.phase)});
    if (effect.kind == EffectKind::compact) where.compacted_in_step = 0;
  }
  if (effect.kind == EffectKind::tool || effect.kind == EffectKind::status) {
    call(effect.call).state = CallWaiting{};
  }
  if (effect.kind == EffectKind::judge) {
    call(effect.call).state = CallWaiting{HeldFor::judgement};
  }
  if (effect.kind == EffectKind::begin_agent) state_.begin_held = Presence::present;
}

void Applier::on(const RetryPlanned& decision) {
  set_phase(instance(decision.instance),
            BackingOff{decision.failed_attempts, decision.at_elapsed_ms});
}

void Applier::on(const NoteAdded& decision) {
  Instance& where = instance(decision.instance);
  if (decision.note == Note::wrap_up) where.wrap_up = WrapUp::asked;
  if (decision.note == Note::repair) ++where.repairs;
  where.transcript.push_back(
      {EntryKind::note, record_.seq, static_cast<std::uint64_t>(decision.note), decision.tokens});
}

void Applier::on(const MessagesDelivered& decision) {
  Instance& where = instance(decision.instance);
  if (decision.count != where.waiting_messages.size()) return fail("other messages wait");
  for (const Entry& entry : where.waiting_messages) where.transcript.push_back(entry);
  where.waiting_messages.clear();
  where.silent_messages = 0;
  where.urgent_message = Presence::absent;
  where.singletons.clear();
}

void Applier::on(const InstanceReadied& decision) {
  set_phase(instance(decision.instance), Ready{decision.failed_attempts});
}

void Applier::on(const InstanceRested& decision) {
  set_phase(instance(decision.instance), Resting{});
}

void Applier::on(const InstanceSuspended& decision) {
  set_phase(instance(decision.instance),
            Suspended{decision.suspend_id, decision.reason, decision.metadata});
}

void Applier::on(const TurnHandedOut& decision) {
  set_phase(instance(decision.instance), AwaitingExternal{});
}

void Applier::on(const InstanceBorn& decision) {
  const InstanceSpawned* event = std::get_if<InstanceSpawned>(&record_.event);
  if (event == nullptr) return fail("instance_born without instance_spawned");
  Instance child;
  child.id = decision.instance;
  child.parent = decision.parent;
  child.node = event->node;
  child.transcript.push_back({EntryKind::input, record_.seq, 0, decision.tokens});
  child.context_tokens = add_saturating(state_.base_tokens, decision.tokens);
  state_.instances.push_back(std::move(child));
  state_.instances_minted =
      std::max(state_.instances_minted, static_cast<std::uint32_t>(decision.instance));
}

void Applier::on(const InstanceCeded& decision) {
  const Instance& child = instance(decision.instance);
  const InstanceId heir = child.parent;
  if (child.last_text) {
    instance(heir).transcript.push_back({EntryKind::ceded, *child.last_text, 0, 0});
  }
  set_phase(instance(decision.instance), Ready{});
  for (Instance& one : state_.instances) {
    if (one.parent == decision.instance) one.parent = heir;
  }
  std::erase_if(state_.instances, [&](const Instance& one) { return one.id == decision.instance; });
}

void Applier::on(const PauseBegan&) {
  state_.course = Pausing{};
}

void Applier::on(const PauseEnded&) {
  state_.course = Going{};
}

void Applier::on(const EndingBegan& decision) {
  const bool paused = std::holds_alternative<Pausing>(state_.course);
  state_.course = Ending{decision.status,    decision.reason,
                         decision.detail,    record_.stamp.elapsed_ms,
                         state_.tally.steps, paused ? Presence::present : Presence::absent};
}

void Applier::on(const EndingWithdrawn&) {
  const Ending* ending = std::get_if<Ending>(&state_.course);
  if (ending == nullptr) return fail("no ending to withdraw");
  if (ending->pause == Presence::present) {
    state_.course = Pausing{};
  } else {
    state_.course = Going{};
  }
}

void Applier::on(const TargetChanged& decision) {
  Instance& where = instance(decision.instance);
  where.target = decision.target;
  set_phase(where, Ready{});
}

void Applier::on(const RateLimitKept& decision) {
  set_phase(instance(decision.instance),
            RateLimited{decision.failed_attempts, decision.until_at_ms, decision.until_elapsed_ms});
}

void Applier::on(const BudgetHeld& decision) {
  Instance& where = instance(decision.instance);
  set_phase(where, AwaitingBudget{failed_attempts_of(where.phase), decision.unit,
                                  decision.until_at_ms, decision.until_elapsed_ms});
}

void Applier::on(const TranscriptCut& decision) {
  Instance& where = instance(decision.instance);
  if (decision.to > where.transcript.size()) return fail("the cut is behind the transcript's end");
  std::vector<Entry> kept;
  const auto end = where.transcript.begin() + static_cast<std::ptrdiff_t>(decision.to);
  std::copy_if(where.transcript.begin(), end, std::back_inserter(kept), is_pinned);
  std::for_each(where.transcript.begin(), end, [&where](const Entry& gone) {
    if (gone.kind != EntryKind::message) return;
    where.attachments -= std::min(where.attachments, static_cast<std::uint32_t>(gone.number));
  });
  const bool summed_up = decision.by == CutBy::summary;
  if (summed_up && !std::holds_alternative<ContextCompacted>(record_.event)) {
    return fail("there is no summary");
  }
  kept.push_back({summed_up ? EntryKind::summary : EntryKind::trimmed, record_.seq,
                  summed_up ? 0 : decision.removed, decision.tokens});
  kept.insert(kept.end(), end, where.transcript.end());
  where.transcript = std::move(kept);
  where.context_tokens = decision.context_tokens;
  where.sessions.clear();  // They remember what is gone.
}

// Who permitted it is for people to read; what a permission leads to is the effect beside it.
void Applier::on(const CallPermitted&) {}

void Applier::on(const ApprovalAsked& decision) {
  call(decision.call).state =
      CallAwaitingPerson{decision.kind, decision.binding, decision.expires_at_ms,
                         decision.expires_elapsed_ms, record_.seq};
  QuestionHour& hour = state_.question_hour;
  if (decision.asked == 1) hour.since_ms = record_.stamp.at_ms;
  hour.asked = decision.asked;
}

void Applier::on(const CallDenied& decision) {
  Call& one = call(decision.call);
  one.state = CallEnded{record_.seq, decision.tokens};
  ++instance(one.instance).guard.tool_errors;
  if (has_flow(state_)) end_agent_seat(one, EndedHow::failed, Content(decision.text));
  settle_child_of(decision.call, {});
}

void Applier::on(const AnsweredByTool& decision) {
  const CallEnded* ended = std::get_if<CallEnded>(&call(decision.call).state);
  if (ended == nullptr) return fail(to_string(decision.call) + " has no result to answer with");
  Instance& where = instance(decision.instance);
  where.last_text = ended->seq;
  if (ended->seq == record_.seq) take_last_words(where);
}

void Applier::on(const SessionLost& decision) {
  if (decision.target >= state_.targets.size()) return fail("a session with nobody is lost");
  const std::string_view provider = provider_of(state_.targets[decision.target].literal);
  std::erase_if(instance(decision.instance).sessions,
                [provider](const auto& one) { return one.provider == provider; });
}

void Applier::on(const CostAdded& decision) {
  state_.tally.cost_pico = add_saturating(state_.tally.cost_pico, decision.cost_pico);
}

void Applier::on(const LimitsRaised& decision) {
  state_.limits = decision.limits;
}

// --- Effects -----------------------------------------------------------------------------------

void Applier::on(const CallModel& effect) {
  Instance& where = instance(effect.instance);
  set_phase(where, AwaitingModel{effect.effect, failed_attempts_of(where.phase), effect.reserved,
                                 effect.target, effect.reserved_pico});
  where.target = effect.target;
  where.attempts = effect.attempt;
  where.state_shown = where.state_changes;
  ++state_.tally.model_calls;
  open_effect(effect.effect, EffectKind::model, effect.instance, {});
}

void Applier::on(const RunTool& effect) {
  Call& one = call(effect.call);
  one.state = CallRunning{effect.effect};
  one.attempts = effect.attempt;
  one.last_run = effect.effect;
  open_effect(effect.effect, EffectKind::tool, effect.instance, effect.call);
}

void Applier::on(const AskStatus& effect) {
  call(effect.call).state = CallAsking{effect.effect};
  open_effect(effect.effect, EffectKind::status, effect.instance, effect.call);
}

void Applier::on(const BeginAgent& effect) {
  state_.begin_held = Presence::absent;
  open_effect(effect.effect, EffectKind::begin_agent, kRootInstance, {});
}

void Applier::on(const EndAgent& effect) {
  open_effect(effect.effect, EffectKind::end_agent, kRootInstance, {});
}

void Applier::on(const CompactContext& effect) {
  Instance& where = instance(effect.instance);
  set_phase(where, Compacting{effect.effect, failed_attempts_of(where.phase), effect.reserved,
                              effect.target, effect.to, effect.reserved_pico});
  where.compacted_in_step = where.open_step;
  open_effect(effect.effect, EffectKind::compact, effect.instance, {});
}

void Applier::on(const JudgeCall& effect) {
  call(effect.call).state = CallJudging{effect.effect};
  open_effect(effect.effect, EffectKind::judge, effect.instance, effect.call);
}

}  // namespace pawl
