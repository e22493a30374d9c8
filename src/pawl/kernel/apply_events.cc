// What events change in a run; what decisions and effects change is in apply_decisions.cc.
#include "pawl/kernel/apply.h"

#include <algorithm>

#include "pawl/kernel/tally.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

// Whether an event that ends a call ends it well.
Presence result_success(const Event& event) {
  const auto is = [](bool good) { return good ? Presence::present : Presence::absent; };
  if (const auto* one = std::get_if<ToolFinished>(&event))
    return is(one->end == ToolEnd::succeeded);
  if (const auto* one = std::get_if<ToolStatusLearned>(&event)) {
    return is(one->answer == StatusAnswer::done);
  }
  if (const auto* one = std::get_if<DoubtResolved>(&event)) {
    return is(one->verdict == DoubtVerdict::happened);
  }
  const auto* decided = std::get_if<CallDecided>(&event);
  return is(decided != nullptr && decided->decision == InterruptDecision::input);
}

// Of a run beneath this one, by what its call has come to.
EndedHow ended_how(const Event& event, Presence success) {
  const auto* finished = std::get_if<ToolFinished>(&event);
  const RunStatus child = finished == nullptr ? RunStatus::done : finished->child;
  if (child == RunStatus::stopped) return EndedHow::stopped;
  const bool well = success == Presence::present && child == RunStatus::done;
  return well ? EndedHow::ceded : EndedHow::failed;
}

// The root instance that a RunStarted makes.
Instance root_of(const RunStarted& event, std::uint64_t seq, const ContentMeasured& measured) {
  Instance root;
  root.node = event.node;
  for (std::size_t i = 0; i < event.history.size(); ++i) {
    const std::uint64_t tokens = i < measured.past.size() ? measured.past[i] : 0;
    root.transcript.push_back({EntryKind::past, seq, i, tokens});
  }
  root.transcript.push_back({EntryKind::input, seq, 0, measured.tokens});
  root.attachments = static_cast<std::uint32_t>(event.attachments.size());
  root.context_tokens = event.base_tokens;
  for (const Entry& entry : root.transcript) {
    root.context_tokens = add_saturating(root.context_tokens, entry.tokens);
  }
  return root;
}

// Those of a run that begins; never none.
std::vector<ModelTarget> targets_of(const RunStarted& event) {
  if (!event.targets.empty()) return event.targets;
  return {ModelTarget{event.model, event.prices, 0, 0}};
}

}  // namespace

const OpenEffect* effect_stopped_by(const RunState& state, const HookStopped& event) {
  const OpenEffect* effect = find_effect(state, event.effect);
  if (effect == nullptr) return nullptr;
  switch (event.point) {
    case HookPoint::before_model:
    case HookPoint::after_model:
      return effect->kind == EffectKind::model ? effect : nullptr;
    case HookPoint::before_tool:
    case HookPoint::after_tool:
      return effect->kind == EffectKind::tool ? effect : nullptr;
    case HookPoint::before_agent:
    case HookPoint::after_agent:
      return nullptr;
  }
  return nullptr;
}

std::uint32_t failed_attempts_of(const Phase& phase) {
  return std::visit(
      [](const auto& one) -> std::uint32_t {
        if constexpr (requires { one.failed_attempts; }) return one.failed_attempts;
        return 0;
      },
      phase);
}

const ContentMeasured& Applier::measured() const {
  static const ContentMeasured kNothing;
  const ContentMeasured* first = record_.decisions.empty()
                                     ? nullptr
                                     : std::get_if<ContentMeasured>(&record_.decisions.front());
  return first == nullptr ? kNothing : *first;
}

void Applier::fail(const std::string& what) {
  if (fault_.empty()) fault_ = what;
}

Instance& Applier::instance(InstanceId id) {
  if (const Instance* found = find_instance(state_, id)) return const_cast<Instance&>(*found);
  fail("no instance " + to_string(id));
  return no_instance_ ? *no_instance_ : no_instance_.emplace();
}

Call& Applier::call(CallId id) {
  if (const Call* found = find_call(state_, id)) return const_cast<Call&>(*found);
  fail("no call " + to_string(id));
  return no_call_ ? *no_call_ : no_call_.emplace();
}

void Applier::set_phase(Instance& where, Phase phase) {
  reserved_.subtract(reserved_in(state_, where.phase));
  where.phase = std::move(phase);
  reserved_.add(reserved_in(state_, where.phase));
}

void Applier::open_effect(EffectId id, EffectKind kind, InstanceId where, CallId which) {
  state_.open.push_back({id, kind, where, which});
  state_.effects_minted = std::max(state_.effects_minted, static_cast<std::uint64_t>(id));
}

void Applier::close_effect(EffectId id) {
  const OpenEffect* found = find_effect(state_, id);
  if (found != nullptr) state_.open.erase(state_.open.begin() + (found - state_.open.data()));
}

void Applier::end_call(CallId id) {
  const Presence success = result_success(record_.event);
  call(id).state = CallEnded{record_.seq, measured().tokens, success};
  if (has_flow(state_))
    end_agent_seat(call(id), ended_how(record_.event, success), words_in(record_.event));
}

// --- Events ------------------------------------------------------------------------------------

void Applier::on(const RunStarted& event) {
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
  state_.started_by = event.started_by;
  state_.approvers = event.approvers;
  state_.started_at_ms = record_.stamp.at_ms;
  state_.forked_from = event.forked_from;
  state_.targets = targets_of(event);
  state_.base_tokens = event.base_tokens;
  state_.output_tokens = event.output_tokens;
  state_.compaction = event.compaction;
  state_.life = Live{};
  state_.begin_held = event.agent_callbacks;  // until they are begun
  state_.instances.push_back(root_of(event, record_.seq, measured()));
  state_.instances_minted = 1;
  start_tree(event);
  start_agents(event);
}

void Applier::on(const AgentBegan& event) {
  close_effect(event.effect);
  // A run that they stopped has not begun: they are asked again if it is reopened.
  if (event.verdict == HookVerdict::stop) state_.begin_held = Presence::present;
  if (event.verdict == HookVerdict::replace) take_words(instance(kRootInstance));
}

// What a model wrote, or somebody in its place.
void Applier::take_words(Instance& where) {
  where.transcript.push_back({EntryKind::assistant, record_.seq, 0, measured().tokens});
  if (measured().output != Presence::present) return;
  where.last_text = record_.seq;
  take_last_words(where);
}

void Applier::remember_session(Instance& where, const ModelReplied& event) {
  const AwaitingModel* phase = std::get_if<AwaitingModel>(&where.phase);
  if (event.session.empty() || phase == nullptr || phase->target >= state_.targets.size()) return;
  const std::string_view provider = provider_of(state_.targets[phase->target].literal);
  std::erase_if(where.sessions, [provider](const auto& one) { return one.provider == provider; });
  // It knows what it answered, too.
  const std::uint64_t length = where.transcript.size() + (event.blocks.empty() ? 0 : 1);
  where.sessions.push_back({std::string(provider), event.session, length});
}

void Applier::on(const ModelReplied& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  ++where.position;
  ++where.node_position;
  remember_session(where, event);
  set_phase(where, Ready{});
  if (!event.blocks.empty()) take_words(where);
}

void Applier::on(const ModelFailed& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  if (event.kind == FailureKind::budget) {  // nobody was asked: nothing has failed
    set_phase(where, Ready{failed_attempts_of(where.phase)});
    return;
  }
  ++where.position;
  ++where.node_position;
  if (const AwaitingModel* phase = std::get_if<AwaitingModel>(&where.phase)) {
    add_failure(where.failures, phase->target, event.category, event.message);
  }
  set_phase(where, Ready{});
}

void Applier::end_compaction(InstanceId id, EffectId effect) {
  Instance& where = instance(id);
  close_effect(effect);
  set_phase(where, Ready{failed_attempts_of(where.phase)});
}

void Applier::on(const ModelAborted& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  const AwaitingModel* phase = std::get_if<AwaitingModel>(&where.phase);
  set_phase(where, Ready{phase == nullptr ? 0 : phase->failed_attempts});
}

void Applier::on(const ToolFinished& event) {
  close_effect(event.effect);
  end_call(event.call);
  LoopGuard& guard = instance(event.instance).guard;
  guard.tool_errors = event.end == ToolEnd::succeeded ? 0 : guard.tool_errors + 1;
  settle_child_of(event.call, event.books);
}

void Applier::on(const ToolStatusLearned& event) {
  close_effect(event.effect);
  call(event.call).state = CallWaiting{};  // unless what was decided says otherwise
  if (event.answer == StatusAnswer::done) end_call(event.call);
}

void Applier::on(const DoubtResolved& event) {
  call(event.call).state = CallWaiting{};
  if (event.verdict == DoubtVerdict::happened) end_call(event.call);
}

void Applier::on(const CallJudged& event) {
  close_effect(event.effect);
  Call& one = call(event.call);
  // What was not started was no attempt.
  if (std::holds_alternative<CallRunning>(one.state) && one.attempts > 0) --one.attempts;
  one.state = CallWaiting{};
  one.approved.reset();
  one.edited.reset();
}

void Applier::remember_denial(const Digest& binding) {
  std::vector<Denial>& denials = state_.denials;
  const auto found = std::find_if(denials.begin(), denials.end(),
                                  [&](const Denial& one) { return one.binding == binding; });
  Denial denial = found == denials.end() ? Denial{binding, 0} : *found;
  if (found != denials.end()) denials.erase(found);
  ++denial.times;
  denials.push_back(denial);
  if (denials.size() > kDenialsKeptMax) denials.erase(denials.begin());
}

void Applier::on(const CallDecided& event) {
  Call& one = call(event.call);
  one.state = CallWaiting{};
  if (event.decision == InterruptDecision::input) end_call(event.call);
  if (event.decision == InterruptDecision::reject) remember_denial(event.binding);
  if (event.decision != InterruptDecision::approve) return;
  one.approved = event.granted.value_or(event.binding);
  if (event.edited) one.edited = record_.seq;
}

void Applier::on(const MessageReceived& event) {
  Instance& where = instance(event.instance);
  const auto attached = static_cast<std::uint32_t>(event.attachments.size());
  where.attachments += attached;
  where.waiting_messages.push_back({EntryKind::message, record_.seq, attached, measured().tokens});
  if (event.delivery == Delivery::silent) ++where.silent_messages;
  if (event.delivery == Delivery::urgent) where.urgent_message = Presence::present;
  if (event.singleton.empty()) return;
  const bool known = std::any_of(where.singletons.begin(), where.singletons.end(),
                                 [&](const Singleton& one) { return one.key == event.singleton; });
  if (!known) where.singletons.push_back({event.singleton, record_.seq, 1});
}

void Applier::on(const HookStopped& event) {
  const OpenEffect* found = effect_stopped_by(state_, event);
  if (found == nullptr) return;
  const OpenEffect effect = *found;
  close_effect(effect.id);
  if (effect.kind == EffectKind::model) set_phase(instance(effect.instance), Ready{});
  if (effect.kind == EffectKind::tool) call(effect.call).state = CallWaiting{};
}

void Applier::on(const ExternalTurnPushed& event) {
  Instance& where = instance(event.instance);
  ++where.position;
  ++where.node_position;
  set_phase(where, Ready{});
  if (!event.blocks.empty()) take_words(where);
}

void Applier::on(const RunWaiting&) {
  state_.parked = Parked::yes;
  give_back_rest();
}

void Applier::on(const RunFinished& event) {
  close_effect(event.effect);
  if (!std::holds_alternative<Ending>(state_.course)) return fail("run_finished without an ending");
  const auto said = state_.final_output ? state_.final_output : instance(kRootInstance).last_text;
  const auto output = event.output ? std::optional(record_.seq) : said;
  state_.life = Finished{output};
}

// What an instance of a reopened run does not take along.
void Applier::begin_anew(Instance& where) {
  where.guard = {};
  where.wrap_up = WrapUp::not_asked;
  where.repairs = 0;
  where.failures.clear();
  where.target = first_target(state_, where);
  where.open_step = 0;
  where.attempts = 0;
  where.compacted_in_step = 0;
  if (auto* limited = std::get_if<RateLimited>(&where.phase)) limited->failed_attempts = 0;
  const bool asks_again = std::holds_alternative<Ready>(where.phase) ||
                          std::holds_alternative<BackingOff>(where.phase) ||
                          std::holds_alternative<Failing>(where.phase) ||
                          std::holds_alternative<AwaitingBudget>(where.phase);
  if (asks_again) set_phase(where, Ready{});
  if (has_flow(state_) && where.id == kRootInstance) set_phase(where, Flowing{});
}

void Applier::reopen() {
  state_.life = Live{};
  state_.course = Going{};
  for (Instance& one : state_.instances) begin_anew(one);
  state_.final_output.reset();
}

void Applier::on(const RunReopened& event) {
  if (event.limits) state_.limits = *event.limits;
  if (event.guards) state_.guards = *event.guards;
  reopen();
  if (event.message.empty()) return;
  instance(kRootInstance)
      .waiting_messages.push_back({EntryKind::message, record_.seq, 0, measured().tokens});
}

void Applier::on(const ResultCameLate& event) {
  call(event.call).late_result = record_.seq;
}

// --- The record as a whole ---------------------------------------------------------------------

void Applier::stamp() {
  forget_ended();
  state_.tally = tally_after(state_, record_.event, record_.stamp);
  const InstanceId about = instance_of(record_.event);
  if (find_instance(state_, about) != nullptr) {
    std::uint64_t& context = instance(about).context_tokens;
    context = measured().context_tokens > 0 ? measured().context_tokens
                                            : add_saturating(context, measured().tokens);
  }
  state_.epoch = record_.stamp.epoch;
  state_.at_ms = record_.stamp.at_ms;
  state_.elapsed_ms = record_.stamp.elapsed_ms;
  state_.length = record_.seq + 1;
  state_.parked = Parked::no;
}

void Applier::apply_event() {
  stamp();
  visit_and_apply(record_.event);
}

}  // namespace pawl
