#include "pawl/run/tool_calls.h"

#include "pawl/base/thrown.h"
#include "pawl/journal/ingress.h"
#include "pawl/run/agent/descent.h"
#include "pawl/run/driver_processors.h"

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

Result<ToolInvocation> ToolCalls::invocation_for(const Record& record, CallId id,
                                                 std::uint32_t attempt) {
  const Call* call = find_call(run_.state(), id);
  PAWL_ASSERT(call != nullptr);
  ToolInvocation invocation;
  invocation.run = run_.id();
  invocation.instance = call->instance;
  invocation.call = id;
  invocation.key = key_of(run_.state(), id);
  PAWL_TRY(invocation.input, arguments_of(run_, record, *call));
  invocation.attempt = attempt;
  if (call->approved) invocation.consent = Consent::a_person;
  invocation.context = run_.setup().context;
  if (invocation.context) invocation.on_behalf = invocation.context->on_behalf();
  return invocation;
}

// --- Starting ----------------------------------------------------------------------------------

void ToolCalls::perform(const Record& record, const RunTool& effect) {
  if (!run_.is_open(effect.effect)) return;
  const std::string key = key_of_tool(*find_call(run_.state(), effect.call));
  Tool* tool = run_.setup().tools.find(key);
  if (tool == nullptr) {
    return answer(effect, ToolEnd::failed, "not run: this process has no tool called " + key,
                  Origin::host);
  }
  auto invocation = invocation_for(record, effect.call, effect.attempt);
  if (!invocation) return run_.end_unreadable(invocation.error());
  auto judgement = judge_.objection(record, effect, invocation->input);
  if (!judgement) return start(effect, *tool, *std::move(invocation));
  if (judge_.is_unseen(effect.call, *judgement)) {
    // The judge calls this back only while the driver, and so this object and the tool, lives.
    return judge_.judge_edited(effect, invocation->input,
                               [this, effect, tool, invocation = *invocation] {
                                 start(effect, *tool, ToolInvocation(invocation));
                               });
  }
  const Status fed =
      run_.feed(CallJudged{effect.instance, effect.call, effect.effect, *std::move(judgement)});
  if (!fed) run_.log(fed.error().message);
}

void ToolCalls::start(const RunTool& effect, Tool& tool, ToolInvocation&& invocation) {
  const auto& before_tool = run_.services().callbacks.before_tool;
  const std::string name = tool.spec().name;
  if (!before_tool.empty()) {
    const ToolCallbackContext context{
        run_.id(), effect.instance,  effect.call, run_.setup().context, run_.state().tally,
        name,      invocation.input, nullptr};
    const HookAnswer said = ask(before_tool, context);
    if (callbacks_.report_stop(HookPoint::before_tool, effect.effect, said)) return;
    if (!said.thrown.empty()) {
      return answer(effect, ToolEnd::denied,
                    "denied: a before_tool callback failed: " + said.thrown.front(),
                    Origin::callback);
    }
    if (said.result.verdict == HookVerdict::replace) {
      return answer(effect, ToolEnd::succeeded, said.result.replacement, Origin::callback);
    }
    if (!run_.is_open(effect.effect)) return;
  }
  invoke(effect, tool, std::move(invocation));
}

void ToolCalls::invoke(const RunTool& effect, Tool& tool, ToolInvocation&& invocation) {
  invocation.stop = operations_.add_stop_flag(effect.effect);
  // Only after_tool callbacks read it afterwards.
  std::string input = run_.services().callbacks.after_tool.empty() ? "" : invocation.input;
  try {
    auto operation =
        tool.invoke(invocation, [weak = run_.weak(*this), effect, name = tool.spec().name,
                                 input = std::move(input)](ToolOutcome&& outcome) {
          const auto self = weak.lock();
          if (!self || self->run_.is_over()) return;
          self->operations_.retire(effect.effect);
          if (outcome.child && outcome.child->waits) return self->park(effect, *outcome.child);
          self->finish(effect, name, input, std::move(outcome));
        });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // A host-supplied tool may throw; the run survives it.
    operations_.drop_stop_flag(effect.effect);
    answer(effect, ToolEnd::failed, "the tool threw: " + what_was_thrown(), Origin::host);
  }
}

// --- Finishing ---------------------------------------------------------------------------------

void ToolCalls::finish(const RunTool& effect, const std::string& tool, const std::string& input,
                       ToolOutcome&& outcome) {
  Origin origin = Origin::executor;
  std::optional<std::string> stop;
  const auto& after_tool = run_.services().callbacks.after_tool;
  if (!after_tool.empty() && run_.is_open(effect.effect)) {
    const ToolCallbackContext context{
        run_.id(), effect.instance, effect.call, run_.setup().context, run_.state().tally,
        tool,      input,           &outcome};
    const HookAnswer said = ask(after_tool, context);
    callbacks_.report_thrown(HookPoint::after_tool, said);
    if (said.result.verdict == HookVerdict::replace) {
      outcome.content = said.result.replacement;
      outcome.content_length = outcome.content.size();
      origin = Origin::callback;
    }
    // The effect has happened: its result and the stop are one record.
    if (said.result.verdict == HookVerdict::stop) stop = said.result.reason;
  }
  const ToolEnd end = end_of(outcome.kind);
  outcome.content = process_for_model(run_, std::move(outcome.content), tool);
  report(effect, end, std::move(outcome), origin, std::move(stop));
}

// The run that the call has started waits, and this one may have to wait with it.
void ToolCalls::park(const RunTool& effect, const ChildOutcome& child) {
  ChildWaits event;
  event.instance = effect.instance;
  event.call = effect.call;
  event.effect = effect.effect;
  event.wait = child.waits.value_or(WaitFor::nothing);
  event.books = child.books;
  const TreeBooks& books = event.books;
  event.held = {books.cost_pico, total_tokens(books.usage), books.started, books.places};
  const Status fed = run_.feed(std::move(event));
  if (!fed) run_.log(to_string(effect.call) + ": " + fed.error().message);
}

void ToolCalls::answer(const RunTool& effect, ToolEnd end, std::string text, Origin origin) {
  const std::uint64_t length = text.size();
  report(effect, end, {ToolOutcome::Kind::failed, std::move(text), length, {}, {}}, origin);
}

// Its result is the answer of its instance.
bool ToolCalls::becomes_words(const RunTool& effect) const {
  const Call* call = find_call(run_.state(), effect.call);
  const Instance* instance = find_instance(run_.state(), effect.instance);
  if (call == nullptr || instance == nullptr) return false;
  if (is_agent_seat(run_.state(), *instance)) return true;
  const PinnedTool* tool = tool_in_scope(run_.state(), *instance, call->tool);
  return tool != nullptr && tool->ends_turn != EndsTurn::no;
}

void ToolCalls::report(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome, Origin origin,
                       std::optional<std::string> callback_stop) {
  if (!run_.is_open(effect.effect)) return report_late(effect, end, std::move(outcome));
  Ingress ingress(run_.words_max(effect.instance));
  ToolFinished event;
  event.instance = effect.instance;
  event.call = effect.call;
  event.effect = effect.effect;
  event.end = end;
  event.content_length = outcome.content_length;
  event.content = becomes_words(effect) ? ingress.keep_words(std::move(outcome.content))
                                        : ingress.keep(std::move(outcome.content));
  event.origin = origin;
  event.callback_stop = std::move(callback_stop);
  if (outcome.user_reply) event.user_reply = ingress.keep_words(*std::move(outcome.user_reply));
  event.level = std::move(outcome.level);
  event.egress = std::move(outcome.egress);
  if (outcome.child) event.books = outcome.child->books;
  if (outcome.child) event.child = outcome.child->status;
  if (const Status fed = run_.feed(std::move(event), ingress.take_blobs()); !fed) {
    run_.log("late_result: " + to_string(effect.call) + ": " + fed.error().message);
  }
}

// The attempt was given up: its result is evidence for the person who decides about the call.
void ToolCalls::report_late(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome) {
  Ingress ingress;
  ResultCameLate event;
  event.instance = effect.instance;
  event.call = effect.call;
  event.effect = effect.effect;
  event.end = end;
  event.content = ingress.keep(std::move(outcome.content));
  event.egress = std::move(outcome.egress);
  const Status fed = run_.feed(std::move(event), ingress.take_blobs());
  run_.log("late_result: " + to_string(effect.call) + ": " +
           (fed ? "kept as evidence" : fed.error().message));
}

// --- Status ------------------------------------------------------------------------------------

void ToolCalls::perform(const Record& record, const AskStatus& effect) {
  if (!run_.is_open(effect.effect)) return;
  const auto invocation = invocation_for(record, effect.call, 1);
  if (!invocation) return run_.end_unreadable(invocation.error());
  const auto done = [weak = run_.weak(*this), effect](ToolStatus status) {
    const auto self = weak.lock();
    if (self && !self->run_.is_over()) self->finish_status(effect, std::move(status));
  };
  Tool* tool = run_.setup().tools.find(key_of_tool(*find_call(run_.state(), effect.call)));
  if (tool == nullptr) {
    return done({ToolStatus::Kind::unknown, "its status cannot be asked here"});
  }
  try {
    operations_.put(effect.effect, tool->status(*invocation, done));
  } catch (...) {  // Failing to find out is not knowing.
    done({ToolStatus::Kind::unknown, "asking threw: " + what_was_thrown()});
  }
}

void ToolCalls::finish_status(const AskStatus& effect, ToolStatus status) {
  operations_.retire(effect.effect);
  Ingress ingress;
  ToolStatusLearned event;
  event.instance = effect.instance;
  event.call = effect.call;
  event.effect = effect.effect;
  event.answer = static_cast<StatusAnswer>(status.kind);
  event.content = ingress.keep(std::move(status.content));
  if (const Status fed = run_.feed(std::move(event), ingress.take_blobs()); !fed) {
    run_.log("late_result: " + to_string(effect.call) + ": " + fed.error().message);
  }
}

}  // namespace pawl
