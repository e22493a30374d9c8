#include "pawl/testing/executor_scripted/executor_scripted.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pawl/base/recycled.h"
#include "pawl/testing/executor_scripted/script_events.h"
#include "pawl/testing/executor_scripted/script_usage.h"

namespace pawl {

namespace {

struct PhasePlan {
  std::uint64_t delay_ms = 0;
  std::vector<PhaseExecutorEvent> events = {};
  Usage usage = {};
  PhaseDone done = {};
};

PhasePlan failing(ErrorCategory category, std::string message) {
  return {.done = {PhaseFailed{category, std::move(message), std::nullopt}}};
}

PhaseReplied replied(const ScriptSpeech& speech, const PhaseExecutionRequest& request) {
  const ReplyStop usual = speech.calls.empty() ? ReplyStop::end_turn : ReplyStop::tool_use;
  return {speech.stop.value_or(usual), speech.stop_detail, request.model};
}

PhaseExecutorEvent session_of(const PhaseExecutionRequest& request) {
  if (!request.session.empty()) return SessionStarted{request.session};
  return SessionStarted{"scripted-" + request.run.text + "-" + to_string(request.instance)};
}

std::uint64_t all_bytes_written(const std::vector<PhaseExecutorEvent>& events) {
  std::uint64_t bytes = 0;
  for (const PhaseExecutorEvent& event : events) bytes += bytes_written(event);
  return bytes;
}

PhasePlan plan_of(const Script& script, const PhaseExecutionRequest& request) {
  const ScriptReply* reply = reply_at(script, request.position);
  if (reply == nullptr) {
    return failing(ErrorCategory::validation_error, ran_out(script, request.position));
  }
  PhasePlan plan{.delay_ms = std::min(reply->delay_ms, kScriptDelayMaxMs),
                 .usage = reply->usage.value_or(Usage{})};
  const bool resumes = script.capabilities.supports_session_resume;
  if (const auto* failure = std::get_if<ScriptFailure>(&reply->outcome)) {
    if (resumes) plan.events.push_back(session_of(request));
    plan.done.outcome = PhaseFailed{failure->category, failure->message, failure->retry_after_ms};
    return plan;
  }
  const auto& speech = std::get<ScriptSpeech>(reply->outcome);
  plan.events = speech_events(speech, request.position + 1);
  if (resumes) plan.events.insert(plan.events.begin(), session_of(request));
  plan.done.outcome = replied(speech, request);
  if (reply->usage) return plan;
  const auto sent = tokens_sent(request, script.capabilities.max_context_tokens);
  if (!sent) {
    return failing(ErrorCategory::kernel_internal,
                   "the conversation could not be read: " + sent.error().message);
  }
  plan.usage.input_tokens = *sent;
  plan.usage.output_tokens = tokens_of_bytes(all_bytes_written(plan.events));
  return plan;
}

// Streams a plan. Work given to the loop holds it weakly: once the Operation is gone, so is this.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(PhasePlan&& plan, Loop& loop, PhaseEventSink&& sink)
      : plan_(std::move(plan)), loop_(loop), sink_(std::move(sink)) {}

  void start() {
    if (plan_.delay_ms == 0) return go_on();
    const auto due = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->turn();
    };
    timer_ = loop_.after(static_cast<std::int64_t>(plan_.delay_ms), due);
  }

  // What has been sent is paid for; the rest is dropped.
  void abort() {
    if (state_ == State::ended || std::holds_alternative<PhaseAborted>(plan_.done.outcome)) return;
    plan_.events.resize(next_);
    plan_.usage.output_tokens = std::min(plan_.usage.output_tokens, tokens_of_bytes(bytes_sent_));
    plan_.done.outcome = PhaseAborted{};
    timer_.reset();
    if (state_ == State::delayed) go_on();
  }

  void fall_silent() {
    state_ = State::ended;
    timer_.reset();
  }

 private:
  enum class State : std::uint8_t { delayed, going, ended };

  void go_on() {
    state_ = State::going;
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->turn();
    });
  }

  // The sink may abort the phase or destroy its Operation at any event.
  void turn() {
    state_ = State::going;
    for (std::size_t count = 0; count < kEventsPerTurnMax; ++count) {
      if (next_ == plan_.events.size()) return finish();
      PhaseExecutorEvent& event = plan_.events[next_++];
      bytes_sent_ += bytes_written(event);
      sink_(std::move(event));
      if (state_ == State::ended) return;
    }
    go_on();
  }

  void finish() {
    sink_(UsageReported{plan_.usage});
    if (state_ == State::ended) return;
    state_ = State::ended;
    sink_(std::move(plan_.done));
  }

  PhasePlan plan_;
  Loop& loop_;
  PhaseEventSink sink_;
  State state_ = State::delayed;
  std::size_t next_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::unique_ptr<Timer> timer_;
};

class ScriptedPhase final : public Operation {
 public:
  explicit ScriptedPhase(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ~ScriptedPhase() override { stream_->fall_silent(); }
  ScriptedPhase(const ScriptedPhase&) = delete;
  ScriptedPhase& operator=(const ScriptedPhase&) = delete;
  ScriptedPhase(ScriptedPhase&&) = delete;
  ScriptedPhase& operator=(ScriptedPhase&&) = delete;

  void abort() override { stream_->abort(); }

 private:
  std::shared_ptr<Stream> stream_;
};

}  // namespace

ScriptedExecutor::ScriptedExecutor(Script script, Loop& loop)
    : script_(std::move(script)), loop_(loop) {}

const ExecutorCapabilities& ScriptedExecutor::capabilities() const {
  return script_.capabilities;
}

std::vector<ExecutorModelDescriptor> ScriptedExecutor::list_models() const {
  ExecutorModelDescriptor model;
  model.id = script_.name;
  model.display_name = "Script " + script_.name;
  model.context_tokens = script_.capabilities.max_context_tokens;
  using Support = ExecutorModelDescriptor::Support;
  if (script_.capabilities.supports_thinking) model.thinking = Support::yes;
  if (script_.capabilities.supports_image_input) model.images = Support::yes;
  return {model};
}

// One model: it can do what the script says.
ExecutorCapabilities ScriptedExecutor::capabilities_of(std::string_view) const {
  return script_.capabilities;
}

bool ScriptedExecutor::supports(std::string_view model) const {
  return model == script_.name || model == "scripted" || model.starts_with("scripted/");
}

std::unique_ptr<Operation> ScriptedExecutor::execute_phase(const PhaseExecutionRequest& request,
                                                           PhaseEventSink sink) {
  auto stream = make_recycled<Stream>(plan_of(script_, request), loop_, std::move(sink));
  stream->start();
  return std::make_unique<ScriptedPhase>(std::move(stream));
}

std::shared_ptr<Executor> make_scripted_executor(Script script, Loop& loop) {
  return std::make_shared<ScriptedExecutor>(std::move(script), loop);
}

}  // namespace pawl
