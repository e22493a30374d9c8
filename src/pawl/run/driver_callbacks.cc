#include "pawl/run/driver_callbacks.h"

#include "pawl/journal/ingress.h"

namespace pawl {

void DriverCallbacks::report_thrown(HookPoint point, const HookAnswer& answer) {
  for (const std::string& message : answer.thrown) {
    const Status fed = run_.feed(HookFailed{point, message});
    if (!fed) run_.log(fed.error().message);
  }
}

bool DriverCallbacks::report_stop(HookPoint point, EffectId effect, const HookAnswer& answer) {
  report_thrown(point, answer);
  if (answer.result.verdict != HookVerdict::stop) return false;
  operations_.retire(effect);
  const Status fed = run_.feed(HookStopped{point, effect, answer.result.reason});
  if (!fed) run_.log(fed.error().message);
  return true;
}

Result<std::string> DriverCallbacks::input_text() const {
  PAWL_TRY(const Record first, read_record(run_.reader(), run_.id(), 0));
  const auto* started = std::get_if<RunStarted>(&first.event);
  if (started == nullptr) return std::string();
  return resolve(run_.reader(), run_.id(), started->input);
}

void DriverCallbacks::begin_agent(const BeginAgent& effect) {
  if (!run_.is_open(effect.effect)) return;
  const auto input = input_text();
  if (!input) return run_.end_unreadable(input.error());
  const AgentCallbackContext context{run_.id(), run_.setup().context, run_.state().tally, *input};
  const HookAnswer answer = ask(run_.services().callbacks.before_agent, context);
  report_thrown(HookPoint::before_agent, answer);
  Ingress ingress;
  AgentBegan event;
  event.effect = effect.effect;
  event.verdict = answer.result.verdict;
  event.reason = answer.result.reason;
  event.replacement = ingress.keep(answer.result.replacement);
  const Status fed = run_.feed(std::move(event), ingress.take_blobs());
  if (!fed) run_.log(fed.error().message);
}

void DriverCallbacks::end_agent(const EndAgent& effect) {
  if (!run_.is_open(effect.effect)) return;
  RunFinished event;
  event.effect = effect.effect;
  Ingress ingress;
  const auto& after_agent = run_.services().callbacks.after_agent;
  if (!after_agent.empty()) {
    const auto output = output_text(run_.reader(), run_.state());
    if (!output) return run_.end_unreadable(output.error());
    const AgentCallbackContext context{run_.id(), run_.setup().context, run_.state().tally,
                                       *output};
    const HookAnswer answer = ask(after_agent, context);
    report_thrown(HookPoint::after_agent, answer);
    if (answer.result.verdict == HookVerdict::replace) {
      event.output = ingress.keep(answer.result.replacement);
    }
  }
  const Status fed = run_.feed(std::move(event), ingress.take_blobs());
  if (!fed) run_.log(fed.error().message);
}

}  // namespace pawl
