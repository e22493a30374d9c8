// How a driver performs effects: callbacks, executors, tools.
#include "pawl/kernel/transcript.h"
#include "pawl/runtime/driver.h"
#include "pawl/runtime/thrown.h"

namespace pawl {
namespace {

ToolEnd end_of(ToolOutcome::Kind kind) {
  switch (kind) {
    case ToolOutcome::Kind::succeeded:
      return ToolEnd::succeeded;
    case ToolOutcome::Kind::failed:
      return ToolEnd::failed;
    case ToolOutcome::Kind::timed_out:
      return ToolEnd::timed_out;
    case ToolOutcome::Kind::aborted:
      return ToolEnd::aborted;
  }
  return ToolEnd::failed;
}

}  // namespace

bool Driver::is_open(EffectId effect) const {
  return !over_ && find_effect(loaded_.run.state(), effect) != nullptr;
}

// An operation is not destroyed from inside its own callback, but when the record that it leads to
// is durable: that comes from the loop.
void Driver::retire(EffectId effect) {
  if (const auto stop = stops_.take(effect)) *stop = true;
  if (auto operation = operations_.take(effect)) retired_.push_back(std::move(operation));
}

void Driver::report_thrown(HookPoint point, const HookAnswer& answer) {
  for (const std::string& message : answer.thrown) {
    if (const Status fed = feed(HookFailed{point, message}); !fed) log(fed.error().message);
  }
}

// Reports what callbacks before an effect threw or asked for. True when the run is to stop.
bool Driver::report_hook(HookPoint point, EffectId effect, const HookAnswer& answer) {
  report_thrown(point, answer);
  if (answer.result.verdict != HookVerdict::stop) return false;
  retire(effect);
  if (const Status fed = feed(HookStopped{point, effect, answer.result.reason}); !fed) {
    log(fed.error().message);
  }
  return true;
}

// A store that cannot be read is not the run's fault: it is left as it is, to be taken up again.
// What becomes of a damaged one its engine says.
void Driver::end_unreadable(const Error& error) {
  end(Error{error.code, "run " + id_.text + " cannot be driven on: " + error.message});
}

// --- Agents ------------------------------------------------------------------------------------

Result<std::string> Driver::input_text() const {
  PAWL_TRY(const Record first, read_record(*services_.store.reader, id_, 0));
  const auto* started = std::get_if<RunStarted>(&first.event);
  if (started == nullptr) return std::string();
  return resolve(*services_.store.reader, id_, started->input);
}

void Driver::perform(const Record&, const BeginAgent& effect) {
  if (!is_open(effect.effect)) return;
  const auto input = input_text();
  if (!input) return end_unreadable(input.error());
  const AgentCallbackContext context{id_, setup_.context, loaded_.run->tally, *input};
  const HookAnswer answer = ask(services_.callbacks.before_agent, context);
  report_thrown(HookPoint::before_agent, answer);
  Ingress ingress;
  AgentBegan event;
  event.effect = effect.effect;
  event.verdict = answer.result.verdict;
  event.reason = answer.result.reason;
  event.replacement = ingress.keep(answer.result.replacement);
  if (const Status fed = feed(std::move(event), ingress.take_blobs()); !fed) {
    log(fed.error().message);
  }
}

void Driver::perform(const Record&, const EndAgent& effect) {
  take_inbox();  // what was accepted before the end is part of the run
  if (!is_open(effect.effect)) return;
  RunFinished event;
  event.effect = effect.effect;
  Ingress ingress;
  if (!services_.callbacks.after_agent.empty()) {
    const auto output = output_text(*services_.store.reader, loaded_.run.state());
    if (!output) return end_unreadable(output.error());
    const AgentCallbackContext context{id_, setup_.context, loaded_.run->tally, *output};
    const HookAnswer answer = ask(services_.callbacks.after_agent, context);
    report_thrown(HookPoint::after_agent, answer);
    if (answer.result.verdict == HookVerdict::replace) {
      event.output = ingress.keep(answer.result.replacement);
    }
  }
  if (const Status fed = feed(std::move(event), ingress.take_blobs()); !fed) {
    log(fed.error().message);
  }
}

void Driver::perform(const Record&, const AbortEffect& effect) {
  if (const auto* stop = stops_.find(effect.target)) **stop = true;
  if (const auto* operation = operations_.find(effect.target)) (*operation)->abort();
}

// --- Tools -------------------------------------------------------------------------------------

Result<ToolInvocation> Driver::invocation_for(const Record& record, CallId id,
                                              std::uint32_t attempt) {
  const Call* call = find_call(loaded_.run.state(), id);
  PAWL_ASSERT(call != nullptr);
  Record stored;
  if (call->seq != record.seq) {
    PAWL_TRY(stored, read_record(*services_.store.reader, id_, call->seq));
  }
  const Record& opened = call->seq == record.seq ? record : stored;
  PAWL_TRY(const CallBlock* const block, call_block(*call, opened));
  ToolInvocation invocation;
  invocation.run = id_;
  invocation.instance = call->instance;
  invocation.call = id;
  invocation.key = key_of(loaded_.run.state(), id);
  PAWL_TRY(invocation.input, resolve(*services_.store.reader, id_, block->input));
  if (call->edited) {
    PAWL_TRY(const Record decided, read_record(*services_.store.reader, id_, *call->edited));
    const auto* edit = std::get_if<CallDecided>(&decided.event);
    if (edit == nullptr || !edit->edited) {
      return Error{ErrorCode::corrupt, "record " + std::to_string(*call->edited) +
                                           " does not hold the arguments of " + to_string(id)};
    }
    PAWL_TRY(invocation.input, resolve(*services_.store.reader, id_, *edit->edited));
  }
  invocation.attempt = attempt;
  if (call->approved) invocation.consent = Consent::a_person;
  invocation.context = setup_.context;
  if (setup_.context) invocation.on_behalf = setup_.context->on_behalf();
  return invocation;
}

void Driver::answer_tool(const RunTool& effect, ToolEnd end, std::string text, Origin origin) {
  const std::uint64_t length = text.size();
  report_tool(effect, end, {ToolOutcome::Kind::failed, std::move(text), length, {}, {}}, origin);
}

// Of an attempt that was given up: whoever decides about the call can read it.
void Driver::report_late(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome) {
  Ingress ingress;
  ResultCameLate event;
  event.instance = effect.instance;
  event.call = effect.call;
  event.effect = effect.effect;
  event.end = end;
  event.content = ingress.keep(std::move(outcome.content));
  event.egress = std::move(outcome.egress);
  const Status fed = feed(std::move(event), ingress.take_blobs());
  log("late_result: " + to_string(effect.call) + ": " +
      (fed ? "kept as evidence" : fed.error().message));
}

void Driver::report_tool(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome, Origin origin,
                         std::optional<std::string> callback_stop) {
  if (!is_open(effect.effect)) return report_late(effect, end, std::move(outcome));
  Ingress ingress;
  ToolFinished event;
  event.instance = effect.instance;
  event.call = effect.call;
  event.effect = effect.effect;
  event.end = end;
  event.content_length = outcome.content_length;
  event.content = ingress.keep(std::move(outcome.content));
  event.origin = origin;
  event.callback_stop = std::move(callback_stop);
  if (outcome.user_reply) event.user_reply = ingress.keep(*std::move(outcome.user_reply));
  event.level = std::move(outcome.level);
  event.egress = std::move(outcome.egress);
  if (const Status fed = feed(std::move(event), ingress.take_blobs()); !fed) {
    log("late_result: " + to_string(effect.call) + ": " + fed.error().message);
  }
}

void Driver::perform(const Record& record, const RunTool& effect) {
  if (!is_open(effect.effect)) return;
  const std::string name = find_call(loaded_.run.state(), effect.call)->tool;
  Tool* tool = setup_.tools.find(name);
  if (tool == nullptr) {
    return answer_tool(effect, ToolEnd::failed, "not run: this process has no tool called " + name,
                       Origin::host);
  }
  auto invocation = invocation_for(record, effect.call, effect.attempt);
  if (!invocation) return end_unreadable(invocation.error());
  if (auto judgement = objection(record, effect, *invocation)) {
    if (is_unseen(effect.call, *judgement)) return judge_edited(effect, *std::move(invocation));
    const Status fed =
        feed(CallJudged{effect.instance, effect.call, effect.effect, *std::move(judgement)});
    if (!fed) log(fed.error().message);
    return;
  }
  start_tool(effect, *tool, *std::move(invocation));
}

void Driver::start_tool(const RunTool& effect, Tool& tool, ToolInvocation&& invocation) {
  const std::string name = tool.spec().name;
  if (!services_.callbacks.before_tool.empty()) {
    const ToolCallbackContext context{
        id_,  effect.instance,  effect.call, setup_.context, loaded_.run->tally,
        name, invocation.input, nullptr};
    const HookAnswer answer = ask(services_.callbacks.before_tool, context);
    if (report_hook(HookPoint::before_tool, effect.effect, answer)) return;
    if (!answer.thrown.empty()) {
      return answer_tool(effect, ToolEnd::denied,
                         "denied: a before_tool callback failed: " + answer.thrown.front(),
                         Origin::callback);
    }
    if (answer.result.verdict == HookVerdict::replace) {
      return answer_tool(effect, ToolEnd::succeeded, answer.result.replacement, Origin::callback);
    }
    if (!is_open(effect.effect)) return;
  }
  invoke_tool(effect, tool, std::move(invocation));
}

void Driver::invoke_tool(const RunTool& effect, Tool& tool, ToolInvocation&& invocation) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  stops_.put(effect.effect, stop);
  invocation.stop = stop;
  // Nobody else looks at it afterwards.
  std::string input = services_.callbacks.after_tool.empty() ? "" : invocation.input;
  try {
    auto operation =
        tool.invoke(invocation, [weak = weak_from_this(), effect, name = tool.spec().name,
                                 input = std::move(input)](ToolOutcome&& outcome) {
          const auto self = weak.lock();
          if (!self || self->over_) return;
          self->retire(effect.effect);
          self->finish_tool(effect, name, input, std::move(outcome));
        });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // A tool of the host's may throw; the run survives it.
    stops_.take(effect.effect);
    answer_tool(effect, ToolEnd::failed, "the tool threw: " + what_was_thrown(), Origin::host);
  }
}

void Driver::finish_tool(const RunTool& effect, const std::string& tool, const std::string& input,
                         ToolOutcome&& outcome) {
  Origin origin = Origin::executor;
  std::optional<std::string> stop;
  if (!services_.callbacks.after_tool.empty() && is_open(effect.effect)) {
    const ToolCallbackContext context{
        id_,  effect.instance, effect.call, setup_.context, loaded_.run->tally,
        tool, input,           &outcome};
    const HookAnswer answer = ask(services_.callbacks.after_tool, context);
    report_thrown(HookPoint::after_tool, answer);
    if (answer.result.verdict == HookVerdict::replace) {
      outcome.content = answer.result.replacement;
      outcome.content_length = outcome.content.size();
      origin = Origin::callback;
    }
    // The effect has happened: its result and the stop are one record.
    if (answer.result.verdict == HookVerdict::stop) stop = answer.result.reason;
  }
  const ToolEnd end = end_of(outcome.kind);
  outcome.content = for_the_model(std::move(outcome.content), tool);
  report_tool(effect, end, std::move(outcome), origin, std::move(stop));
}

void Driver::perform(const Record& record, const AskStatus& effect) {
  if (!is_open(effect.effect)) return;
  const auto report = [weak = weak_from_this(), effect](ToolStatus status) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    self->retire(effect.effect);
    Ingress ingress;
    ToolStatusLearned event;
    event.instance = effect.instance;
    event.call = effect.call;
    event.effect = effect.effect;
    event.answer = static_cast<StatusAnswer>(status.kind);
    event.content = ingress.keep(std::move(status.content));
    if (const Status fed = self->feed(std::move(event), ingress.take_blobs()); !fed) {
      self->log("late_result: " + to_string(effect.call) + ": " + fed.error().message);
    }
  };
  Tool* tool = setup_.tools.find(find_call(loaded_.run.state(), effect.call)->tool);
  const auto invocation = invocation_for(record, effect.call, 1);
  if (!invocation) return end_unreadable(invocation.error());
  if (tool == nullptr) {
    return report({ToolStatus::Kind::unknown, "its status cannot be asked here"});
  }
  try {
    operations_.put(effect.effect, tool->status(*invocation, report));
  } catch (...) {  // Failing to find out is not knowing.
    report({ToolStatus::Kind::unknown, "asking threw: " + what_was_thrown()});
  }
}

}  // namespace pawl
