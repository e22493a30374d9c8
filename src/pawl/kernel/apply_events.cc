// Applies records to a run. It decides nothing, and it is the only code that changes a run.
#include "pawl/kernel/apply.h"

#include "pawl/kernel/context.h"
#include "pawl/kernel/draft.h"

namespace pawl {
namespace {

std::uint64_t result_tokens(const Record& record) {
  std::uint64_t bytes = 0;
  if (const auto* event = std::get_if<ToolFinished>(&record.event)) bytes = event->content.length();
  if (const auto* event = std::get_if<ToolStatusLearned>(&record.event)) {
    bytes = event->content.length();
  }
  if (const auto* event = std::get_if<DoubtResolved>(&record.event)) bytes = event->result.length();
  if (const auto* event = std::get_if<CallDecided>(&record.event)) bytes = event->text.length();
  return estimate_tokens(bytes);
}

}  // namespace

std::uint32_t failed_attempts_of(const Phase& phase) {
  return std::visit(
      [](const auto& one) -> std::uint32_t {
        if constexpr (requires { one.failed_attempts; }) return one.failed_attempts;
        return 0;
      },
      phase);
}

void RunFolder::fail(const std::string& what) {
  if (fault_.empty()) fault_ = what;
}

Instance& RunFolder::instance(InstanceId id) {
  for (Instance& one : state_.instances) {
    if (one.id == id) return one;
  }
  fail("no instance " + to_string(id));
  return no_instance_ ? *no_instance_ : no_instance_.emplace();
}

Call& RunFolder::call(CallId id) {
  for (Call& one : state_.calls) {
    if (one.id == id) return one;
  }
  fail("no call " + to_string(id));
  return no_call_ ? *no_call_ : no_call_.emplace();
}

void RunFolder::open_effect(EffectId id, EffectKind kind, InstanceId where, CallId which) {
  state_.open.push_back({id, kind, where, which});
  state_.effects_minted = std::max(state_.effects_minted, static_cast<std::uint64_t>(id));
}

void RunFolder::close_effect(EffectId id) {
  std::erase_if(state_.open, [id](const OpenEffect& one) { return one.id == id; });
}

void RunFolder::end_call(CallId id) {
  call(id).state = CallEnded{record_.seq, result_tokens(record_), result_success(record_.event)};
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
  state_.started_by = event.started_by;
  state_.approvers = event.approvers;
  state_.started_at_ms = record_.stamp.at_ms;
  state_.forked_from = event.forked_from;
  state_.targets = targets_of(event);
  state_.base_tokens = event.base_tokens;
  state_.output_tokens = event.output_tokens;
  state_.compaction = event.compaction;
  state_.life = Live{};
  state_.instances.push_back(root_of(event, record_.seq));
  state_.instances_minted = 1;
}

void RunFolder::apply(const AgentBegan& event) {
  close_effect(event.effect);
  if (event.verdict != HookVerdict::replace) return;
  Instance& root = instance(kRootInstance);
  root.last_text = record_.seq;
  root.transcript.push_back(
      {EntryKind::assistant, record_.seq, 0, estimate_tokens(event.replacement.length())});
}

void RunFolder::take_blocks(Instance& where, const std::vector<Block>& blocks) {
  if (!blocks.empty()) {
    where.transcript.push_back(
        {EntryKind::assistant, record_.seq, 0, estimate_tokens(bytes_of(blocks))});
  }
  for (const Block& block : blocks) {
    const TextBlock* text = std::get_if<TextBlock>(&block);
    if (text == nullptr || text->text.empty()) continue;
    // "(see above)" is no answer where there is one above.
    if (!where.last_text || !refers_back(text->text)) where.last_text = record_.seq;
  }
}

void RunFolder::remember_session(Instance& where, const ModelReplied& event) {
  const AwaitingModel* phase = std::get_if<AwaitingModel>(&where.phase);
  if (event.session.empty() || phase == nullptr || phase->target >= state_.targets.size()) return;
  const std::string_view provider = provider_of(state_.targets[phase->target].literal);
  std::erase_if(where.sessions, [provider](const auto& one) { return one.provider == provider; });
  // It knows what it answered, too.
  const std::uint64_t length = where.transcript.size() + (event.blocks.empty() ? 0 : 1);
  where.sessions.push_back({std::string(provider), event.session, length});
}

void RunFolder::apply(const ModelReplied& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  ++where.position;
  remember_session(where, event);
  where.phase = Ready{};
  take_blocks(where, event.blocks);
}

void RunFolder::apply(const ModelFailed& event) {
  Instance& where = instance(event.instance);
  close_effect(event.effect);
  if (event.kind == FailureKind::budget) {  // nobody was asked: nothing has failed
    where.phase = Ready{failed_attempts_of(where.phase)};
    return;
  }
  ++where.position;
  if (const AwaitingModel* phase = std::get_if<AwaitingModel>(&where.phase)) {
    add_failure(where.failures, phase->target, event.category, event.message);
    if (event.kind == FailureKind::session_lost && phase->target < state_.targets.size()) {
      const std::string_view provider = provider_of(state_.targets[phase->target].literal);
      std::erase_if(where.sessions,
                    [provider](const auto& one) { return one.provider == provider; });
    }
  }
  where.phase = Ready{};
}

void RunFolder::end_compaction(InstanceId id, EffectId effect) {
  Instance& where = instance(id);
  close_effect(effect);
  where.phase = Ready{failed_attempts_of(where.phase)};
}

void RunFolder::apply(const BudgetRaised& event) {
  state_.limits = limits_after(state_, event);
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

void RunFolder::apply(const CallJudged& event) {
  close_effect(event.effect);
  Call& one = call(event.call);
  // What was not started was no attempt.
  if (std::holds_alternative<CallRunning>(one.state) && one.attempts > 0) --one.attempts;
  one.state = CallWaiting{};
  one.approved.reset();
  one.edited.reset();
}

void RunFolder::remember_denial(const Digest& binding) {
  std::vector<Denial>& denials = state_.denials;
  const auto found = std::find_if(denials.begin(), denials.end(),
                                  [&](const Denial& one) { return one.binding == binding; });
  Denial denial = found == denials.end() ? Denial{binding, 0} : *found;
  if (found != denials.end()) denials.erase(found);
  ++denial.times;
  denials.push_back(denial);
  if (denials.size() > kDenialsKeptMax) denials.erase(denials.begin());
}

void RunFolder::apply(const CallDecided& event) {
  Call& one = call(event.call);
  one.state = CallWaiting{};
  if (event.decision == InterruptDecision::input) end_call(event.call);
  if (event.decision == InterruptDecision::reject) remember_denial(event.binding);
  if (event.decision != InterruptDecision::approve) return;
  one.approved = event.granted.value_or(event.binding);
  if (event.edited) one.edited = record_.seq;
}

void RunFolder::apply(const MessageReceived& event) {
  std::uint64_t bytes = event.text.length();
  const auto attached = static_cast<std::uint32_t>(event.attachments.size());
  instance(event.instance).attachments += attached;
  for (const Attachment& one : event.attachments) bytes = add_saturating(bytes, one.bytes.length());
  instance(event.instance)
      .waiting_messages.push_back(
          {EntryKind::message, record_.seq, attached, estimate_tokens(bytes)});
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
  const InstanceId about = instance_of(record_.event);
  for (Instance& one : state_.instances) {
    if (one.id == about) one.context_tokens = context_after(state_, record_.event, about);
  }
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
