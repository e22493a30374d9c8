#include "pawl/run/model/model_calls.h"

#include <algorithm>

#include "pawl/base/thrown.h"
#include "pawl/filter/secrets/event_filter.h"
#include "pawl/run/model/model_compactor.h"
#include "pawl/run/model/model_request.h"

namespace pawl {
namespace {

constexpr std::uint64_t kSummaryTokensMax = 2'048;
constexpr std::size_t kOutputFaultBytesMax = 2'000;

}  // namespace

PhaseExecutionRequest ModelCalls::request_for(const CallModel& effect) const {
  const Instance* instance = find_instance(run_.state(), effect.instance);
  PAWL_ASSERT(instance != nullptr);
  return pawl::request_for(
      run_, effect, judge_,
      make_run_transcript(run_, effect.instance, instance->transcript.size(), unreadable_));
}

Status ModelCalls::whisper(InstanceId instance, const std::string& text) {
  std::string& waiting = whispers_[instance];
  if (waiting.size() + text.size() > kWhisperBytesMax) {
    return Error{ErrorCode::limit_exceeded, "ephemeral messages of more than 64 KiB wait already"};
  }
  waiting += (waiting.empty() ? "" : "\n") + text;
  return ok();
}

void ModelCalls::perform(const CallModel& effect) {
  if (!run_.is_open(effect.effect)) return;
  PhaseExecutionRequest request = request_for(effect);
  if (auto whispered = whispers_.extract(effect.instance)) {
    request.note += (request.note.empty() ? "" : "\n") + whispered.mapped();
  }
  const auto& before_model = run_.services().callbacks.before_model;
  if (!before_model.empty()) {
    const ModelCallbackContext context{
        run_.id(),          effect.instance, effect.step, run_.setup().context,
        run_.state().tally, request,         nullptr};
    const HookAnswer answer = ask(before_model, context);
    if (callbacks_.report_stop(HookPoint::before_model, effect.effect, answer)) return;
    if (answer.result.verdict == HookVerdict::replace) {
      Ingress ingress;
      ModelReplied reply;
      reply.instance = effect.instance;
      reply.effect = effect.effect;
      reply.origin = Origin::callback;
      reply.blocks.emplace_back(TextBlock{ingress.keep(answer.result.replacement)});
      return finish(std::move(reply), std::move(ingress), DrivenRun::Filtered::no);
    }
    if (!run_.is_open(effect.effect)) return;
  }
  call_executor(effect, std::move(request));
}

void ModelCalls::call_executor(const CallModel& effect, PhaseExecutionRequest&& request) {
  const auto preview = [this, effect](Preview::Kind kind, std::uint64_t offset, std::string text) {
    previews_.show(effect, kind, offset, std::move(text));
  };
  replies_.put(effect.effect,
               std::make_shared<ReplyAssembler>(run_.setup().tools, preview,
                                                request.sampling.max_output_tokens.value_or(0),
                                                [this, id = effect.instance](const auto& tool) {
                                                  return run_.definition_for(id, tool);
                                                }));
  Executor& executor = *run_.setup().agent.executor;
  try {
    const ExecutorCapabilities bits = executor.capabilities_of(request.model);
    adapt_to_capabilities(run_, bits, request);
    if (auto failed = unsupported_input(run_, request, bits)) {
      on_phase_event(effect, UsageReported{});
      return on_phase_event(effect, PhaseDone{*std::move(failed)});
    }
    auto operation = executor.execute_phase(
        request, [weak = run_.weak(*this), effect](PhaseExecutorEvent&& event) {
          if (const auto self = weak.lock()) self->on_phase_event(effect, std::move(event));
        });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // A host-supplied executor may throw; the run survives it.
    on_phase_event(
        effect, PhaseDone{PhaseFailed{ErrorCategory::kernel_internal,
                                      "the executor threw: " + what_was_thrown(), std::nullopt}});
  }
}

void ModelCalls::on_phase_event(const CallModel& effect, PhaseExecutorEvent&& event) {
  const auto* held = replies_.find(effect.effect);
  if (run_.is_over() || held == nullptr) return;
  // A subscriber that is shown a piece may feed the run, and so end its driver.
  const std::shared_ptr<ReplyAssembler> reply = *held;
  if (auto* line = std::get_if<PhaseLog>(&event)) run_.log(line->text);
  const bool done = reply->add(std::move(event));
  if (run_.is_over()) return;
  if (done) return on_phase_done(effect);
  if (reply->too_large() || reply->beyond_cap()) operations_.abort(effect.effect);
}

void ModelCalls::on_phase_done(const CallModel& effect) {
  const std::shared_ptr<ReplyAssembler> reply = replies_.take(effect.effect);
  operations_.retire(effect.effect);
  previews_.finish(effect);
  if (*unreadable_) return run_.end_unreadable(**unreadable_);
  Ingress ingress(run_.words_max(effect.instance));
  Event event = reply->take(effect, ingress);
  // Filtered first: what is judged, recorded and run are the same bytes.
  const auto& filter = run_.services().filter;
  if (filter) filter_event(*filter, Passage::first, event, ingress.blobs());
  if (auto* replied = std::get_if<ModelReplied>(&event)) {
    complete(effect, *reply, ingress, *replied);
    ask_after_model(effect, *reply, ingress, *replied);
  }
  finish(std::move(event), std::move(ingress), DrivenRun::Filtered::yes);
}

// Adds what the driver knows of a reply: its cost, its model, its faults and judgements.
void ModelCalls::complete(const CallModel& effect, const ReplyAssembler& reply, Ingress& ingress,
                          ModelReplied& replied) {
  const std::string& asked = run_.state().targets.at(effect.target).literal;
  replied.cost_pico = stated_cost(asked, replied.usage);
  if (replied.model.empty()) replied.model = asked;
  replied.output_fault = run_.filtered(output_fault(replied, reply.text()));
  judge_.judge(effect.instance, replied.blocks,
               [&ingress](const Content& content) { return std::string(ingress.view(content)); });
}

void ModelCalls::ask_after_model(const CallModel& effect, const ReplyAssembler& reply,
                                 Ingress& ingress, ModelReplied& replied) {
  const auto& after_model = run_.services().callbacks.after_model;
  if (after_model.empty() || !run_.is_open(effect.effect)) return;
  const PhaseExecutionRequest request = request_for(effect);
  const std::string said = run_.filtered(reply.text());
  const ModelCallbackContext context{
      run_.id(),          effect.instance, effect.step, run_.setup().context,
      run_.state().tally, request,         &said};
  const HookAnswer answer = ask(after_model, context);
  callbacks_.report_thrown(HookPoint::after_model, answer);
  // The model has answered and was paid: reply and stop are one record.
  if (answer.result.verdict == HookVerdict::stop) {
    replied.callback_stop = run_.filtered(answer.result.reason);
  }
  if (answer.result.verdict == HookVerdict::replace) {
    replied.blocks = {TextBlock{ingress.keep_words(run_.filtered(answer.result.replacement))}};
    replied.stop = ReplyStop::end_turn;
    replied.origin = Origin::callback;
  }
}

void ModelCalls::finish(Event&& event, Ingress&& ingress, DrivenRun::Filtered filtered) {
  const std::string what(name(event));
  if (const Status fed = run_.feed(std::move(event), ingress.take_blobs(), filtered); !fed) {
    run_.log("late_result: " + what + ": " + fed.error().message);
  }
}

// The cost that the provider states, or an executor that knows the tenant's own prices.
std::optional<std::uint64_t> ModelCalls::stated_cost(const std::string& model,
                                                     const Usage& usage) const {
  try {
    return run_.setup().agent.executor->calculate_cost(run_.state().tenant, model, usage);
  } catch (...) {  // A host-supplied executor: the pinned prices hold.
    return std::nullopt;
  }
}

std::string ModelCalls::output_fault(const ModelReplied& reply, const std::string& text) const {
  const NodeParts* node = run_.parts_of(reply.instance);
  const auto& schema = node == nullptr ? run_.setup().output_schema : node->schema;
  if (!schema || reply.stop != ReplyStop::end_turn) return "";
  const bool calls = std::any_of(reply.blocks.begin(), reply.blocks.end(), [](const Block& block) {
    return std::holds_alternative<CallBlock>(block);
  });
  if (calls) return "";
  const auto json = parse_json(text);
  std::string fault;
  if (!json) {
    fault = "it is not JSON: " + json.error().message;
  } else if (const auto faults = schema->validate(*json); !faults.empty()) {
    fault = describe(faults);
  }
  return fault.substr(0, kOutputFaultBytesMax);
}

// --- Summaries ---------------------------------------------------------------------------------

void ModelCalls::perform(const CompactContext& effect) {
  if (!run_.is_open(effect.effect)) return;
  CompactionRequest request;
  request.run = run_.id();
  request.tenant = run_.state().tenant;
  request.model = run_.state().targets.at(effect.target).literal;
  request.instructions = rules_of(run_.state().semantics).say.summary_wanted;
  request.summary_tokens_max = std::min(effect.reserved.output_tokens, kSummaryTokensMax);
  request.transcript = make_run_transcript(run_, effect.instance, effect.to, unreadable_);
  try {
    auto operation = run_.setup().agent.compactor->compact(
        request, [weak = run_.weak(*this), effect](CompactionOutcome outcome) {
          if (const auto self = weak.lock()) self->finish_compaction(effect, std::move(outcome));
        });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // A host-supplied compactor may throw; the run survives it.
    finish_compaction(
        effect,
        {Error{ErrorCode::unavailable, "the compactor threw: " + what_was_thrown()}, "", {}});
  }
}

void ModelCalls::finish_compaction(const CompactContext& effect, CompactionOutcome outcome) {
  if (run_.is_over()) return;
  operations_.retire(effect.effect);
  if (*unreadable_) return run_.end_unreadable(**unreadable_);
  Ingress ingress;
  Event event;
  if (outcome.summary) {
    ContextCompacted compacted;
    compacted.instance = effect.instance;
    compacted.effect = effect.effect;
    compacted.summary = ingress.keep(framed_summary(*outcome.summary));
    compacted.model = std::move(outcome.model);
    compacted.usage = outcome.usage;
    event = std::move(compacted);
  } else {
    const bool lost = outcome.charge == CompactionOutcome::Charge::reserved;
    event = CompactionFailed{effect.instance, effect.effect, outcome.summary.error().message,
                             lost ? effect.reserved : outcome.usage};
  }
  if (const Status fed = run_.feed(std::move(event), ingress.take_blobs()); !fed) {
    run_.log("late_result: " + fed.error().message);
  }
}

// --- Previews -----------------------------------------------------------------------------------

void Previews::show(const CallModel& effect, Preview::Kind kind, std::uint64_t offset,
                    std::string text) {
  const auto& filter = run_.services().filter;
  if (!filter) return publish(effect, kind, offset, std::move(text));
  FilteredStream& stream = streams_[effect.effect][kind];
  if (!stream.bytes) stream.bytes = filter->stream();
  publish_filtered(effect, kind, stream, stream.bytes->feed(text));
}

void Previews::finish(const CallModel& effect) {
  auto streams = streams_.extract(effect.effect);
  if (streams.empty()) return;
  for (auto& [kind, stream] : streams.mapped()) {
    publish_filtered(effect, kind, stream, stream.bytes->finish());
  }
}

void Previews::publish(const CallModel& effect, Preview::Kind kind, std::uint64_t offset,
                       std::string text) {
  const auto& is_watched = run_.services().is_watched;
  if (is_watched && !is_watched()) return;
  const std::uint64_t length = run_.appender().durable_length();
  run_.publish(Preview{run_.id(), length == 0 ? 0 : length - 1, effect.instance, effect.step,
                       effect.attempt, effect.effect, kind, offset, std::move(text)});
}

void Previews::publish_filtered(const CallModel& effect, Preview::Kind kind, FilteredStream& stream,
                                std::string text) {
  if (text.empty()) return;
  const std::uint64_t offset = std::exchange(stream.offset, stream.offset + text.size());
  publish(effect, kind, offset, std::move(text));
}

}  // namespace pawl
