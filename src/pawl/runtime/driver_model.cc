// How a driver asks models: for replies, and for summaries.
#include <algorithm>
#include <filesystem>

#include "pawl/kernel/transcript.h"
#include "pawl/runtime/driver.h"
#include "pawl/runtime/journal_transcript.h"
#include "pawl/runtime/model_compactor.h"
#include "pawl/runtime/secret_filter/event_filter.h"
#include "pawl/runtime/thrown.h"

namespace pawl {
namespace {

constexpr std::uint64_t kSummaryTokensMax = 2'048;
constexpr std::size_t kOutputFaultBytesMax = 2'000;

// Of an agent that was made without a directory: none, and nothing is compared.
void set_write_roots(const Charter& charter, HookPolicy& policy) {
  const std::filesystem::path directory(charter.directory);
  if (!directory.is_absolute()) return;
  policy.directory = charter.directory;
  policy.write_roots.emplace();
  for (const std::string& root : charter.sandbox.write) {
    std::string text = (directory / root).lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    policy.write_roots->push_back(std::move(text));
  }
}

}  // namespace

PhaseExecutionRequest Driver::request_for(const CallModel& effect) const {
  const Instance* instance = find_instance(loaded_.run.state(), effect.instance);
  PAWL_ASSERT(instance != nullptr);
  PhaseExecutionRequest request;
  request.run = id_;
  request.instance = effect.instance;
  request.step = effect.step;
  request.attempt = effect.attempt;
  request.position = effect.position;
  request.model = loaded_.run->targets.at(effect.target).literal;
  request.system_prompt = setup_.instructions;
  request.sampling = setup_.agent.charter.sampling;
  for (const ResolvedTarget& target : setup_.agent.targets) {
    const bool hint = target.literal == request.model;
    if (hint && request.sampling.effort == ReasoningEffort::unset) {
      request.sampling.effort = target.effort;
    }
  }
  if (effect.output_tokens > 0) request.sampling.max_output_tokens = effect.output_tokens;
  request.output_schema = setup_.agent.charter.output_schema;
  request.working_directory = setup_.agent.charter.directory;
  request.tenant = loaded_.run->tenant;
  if (setup_.context) request.on_behalf = setup_.context->on_behalf();
  request.reserved = effect.reserved;
  request.mcp_servers = setup_.mcp_servers;
  request.note = step_warning(rules_of(loaded_.run->semantics), effect.steps_left);
  request.tools = setup_.tools.specs();
  request.hook_policy.allowed_tools.emplace();
  for (const ToolSpec& tool : request.tools) {
    request.hook_policy.allowed_tools->push_back(tool.name);
  }
  set_write_roots(setup_.agent.charter, request.hook_policy);
  request.hook_policy.on_pre_tool_use = native_hook(effect.instance);
  if (const ProviderSession* session = find_session(*instance, provider_of(request.model))) {
    request.session = session->handle;
    request.session_length = session->length;
  }
  request.transcript =
      make_journal_transcript(weak_from_this(), *services_.store.reader, effect.instance,
                              instance->transcript.size(), unreadable_);
  return request;
}

void Driver::perform(const Record&, const CallModel& effect) {
  if (!is_open(effect.effect)) return;
  PhaseExecutionRequest request = request_for(effect);
  if (!services_.callbacks.before_model.empty()) {
    const ModelCallbackContext context{
        id_, effect.instance, effect.step, setup_.context, loaded_.run->tally, request, nullptr};
    const HookAnswer answer = ask(services_.callbacks.before_model, context);
    if (report_hook(HookPoint::before_model, effect.effect, answer)) return;
    if (answer.result.verdict == HookVerdict::replace) {
      Ingress ingress;
      ModelReplied reply;
      reply.instance = effect.instance;
      reply.effect = effect.effect;
      reply.origin = Origin::callback;
      reply.blocks.emplace_back(TextBlock{ingress.keep(answer.result.replacement)});
      return finish_model(std::move(reply), std::move(ingress));
    }
    if (!is_open(effect.effect)) return;
  }
  call_executor(effect, std::move(request));
}

// What the executor brings itself is left out, and what it cannot do is not asked of it. The list
// of allowed tools keeps the names: they are what its own tools are judged by.
void Driver::fit(PhaseExecutionRequest& request, const ExecutorCapabilities& bits) {
  const RunnableAgent& agent = setup_.agent;
  if (!bits.supports_thinking) request.sampling.effort = ReasoningEffort::unset;
  if (!bits.supports_claude_md_native_walk_up && !agent.project_docs.empty()) {
    request.system_prompt = request.system_prompt.empty()
                                ? agent.project_docs
                                : agent.project_docs + "\n\n" + request.system_prompt;
  }
  if (bits.supports_native_file_tools) {
    std::erase_if(request.tools, [&agent](const ToolSpec& tool) {
      return std::find(agent.file_tools.begin(), agent.file_tools.end(), tool.name) !=
             agent.file_tools.end();
    });
  }
  if (agent.subagents.empty()) return;
  if (bits.supports_native_subagents) {
    request.subagents = agent.subagents;
  } else {
    log(request.model + " runs no subagents: it is not told of " +
        std::to_string(agent.subagents.size()));
  }
}

// What the model cannot take is said here, before anybody is asked.
std::optional<PhaseFailed> Driver::misfit(const CallModel& effect,
                                          const PhaseExecutionRequest& request,
                                          const ExecutorCapabilities& bits) const {
  const Instance* instance = find_instance(loaded_.run.state(), effect.instance);
  if (instance == nullptr || instance->attachments == 0) return std::nullopt;
  if (bits.supports_image_input) return std::nullopt;
  PhaseFailed failed;
  failed.category = ErrorCategory::validation_error;
  failed.kind = FailureKind::unsupported;
  failed.message = request.model + " takes no images or files, and the conversation has " +
                   std::to_string(instance->attachments);
  return failed;
}

std::string Driver::filtered(std::string text) const {
  return services_.filter ? services_.filter->ingress(std::move(text)) : text;
}

void Driver::show(const CallModel& effect, Preview::Kind kind, std::uint64_t offset,
                  std::string text) {
  if (services_.is_watched && !services_.is_watched()) return;
  const std::uint64_t after_seq = durable_length_ == 0 ? 0 : durable_length_ - 1;
  publish(Preview{id_, after_seq, effect.instance, effect.step, effect.attempt, effect.effect, kind,
                  offset, std::move(text)});
}

void Driver::show_filtered(const CallModel& effect, Preview::Kind kind, PreviewStream& stream,
                           std::string text) {
  if (text.empty()) return;
  const std::uint64_t offset = std::exchange(stream.offset, stream.offset + text.size());
  show(effect, kind, offset, std::move(text));
}

void Driver::call_executor(const CallModel& effect, PhaseExecutionRequest&& request) {
  const auto preview = [this, effect](Preview::Kind kind, std::uint64_t offset, std::string text) {
    if (services_.filter == nullptr) return show(effect, kind, offset, std::move(text));
    PreviewStream& stream = previews_[effect.effect][kind];
    if (!stream.bytes) stream.bytes = services_.filter->stream();
    show_filtered(effect, kind, stream, stream.bytes->feed(text));
  };
  replies_.put(effect.effect,
               std::make_unique<ReplyAssembler>(setup_.tools, preview,
                                                request.sampling.max_output_tokens.value_or(0)));
  try {
    const ExecutorCapabilities bits = setup_.agent.executor->capabilities_of(request.model);
    fit(request, bits);
    if (auto failed = misfit(effect, request, bits)) {
      on_phase_event(effect, UsageReported{});
      return on_phase_event(effect, PhaseDone{*std::move(failed)});
    }
    auto operation = setup_.agent.executor->execute_phase(
        request, [weak = weak_from_this(), effect](PhaseExecutorEvent&& event) {
          if (const auto self = weak.lock()) self->on_phase_event(effect, std::move(event));
        });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // An executor of the host's may throw; the run survives it.
    on_phase_event(
        effect, PhaseDone{PhaseFailed{ErrorCategory::kernel_internal,
                                      "the executor threw: " + what_was_thrown(), std::nullopt}});
  }
}

void Driver::on_phase_event(const CallModel& effect, PhaseExecutorEvent&& event) {
  const auto* held = replies_.find(effect.effect);
  if (over_ || held == nullptr) return;
  ReplyAssembler& reply = **held;  // Who is shown a piece may feed the run: the list may change.
  if (auto* line = std::get_if<PhaseLog>(&event)) log(line->text);
  if (reply.add(std::move(event))) return on_phase_done(effect);
  const bool enough = reply.too_large() || reply.beyond_cap();
  if (!enough) return;
  if (const auto* operation = operations_.find(effect.effect)) (*operation)->abort();
}

void Driver::on_phase_done(const CallModel& effect) {
  const std::unique_ptr<ReplyAssembler> reply = replies_.take(effect.effect);
  retire(effect.effect);
  auto previews = previews_.extract(effect.effect);
  if (!previews.empty()) {
    for (auto& [kind, stream] : previews.mapped()) {
      show_filtered(effect, kind, stream, stream.bytes->finish());
    }
  }
  if (*unreadable_) return end_unreadable(**unreadable_);
  Ingress ingress;
  Event event = reply->take(effect, ingress);
  // Before anybody looks at it: what is judged, recorded and run are the same bytes.
  if (services_.filter) filter_event(*services_.filter, Passage::first, event, ingress.blobs());
  auto* replied = std::get_if<ModelReplied>(&event);
  if (replied != nullptr) {
    const std::string& asked = loaded_.run->targets.at(effect.target).literal;
    replied->cost_pico = stated_cost(asked, replied->usage);
    if (replied->model.empty()) replied->model = asked;
    replied->output_fault = filtered(output_fault(*replied, reply->text()));
    judge_calls(effect.instance, replied->blocks,
                [&ingress](const Content& content) { return std::string(ingress.view(content)); });
  }
  if (replied != nullptr && !services_.callbacks.after_model.empty() && is_open(effect.effect)) {
    const PhaseExecutionRequest request = request_for(effect);
    const std::string said = filtered(reply->text());
    const ModelCallbackContext context{
        id_, effect.instance, effect.step, setup_.context, loaded_.run->tally, request, &said};
    const HookAnswer answer = ask(services_.callbacks.after_model, context);
    report_thrown(HookPoint::after_model, answer);
    // The model has answered and was paid: reply and stop are one record.
    if (answer.result.verdict == HookVerdict::stop)
      replied->callback_stop = filtered(answer.result.reason);
    if (answer.result.verdict == HookVerdict::replace) {
      replied->blocks = {TextBlock{ingress.keep(filtered(answer.result.replacement))}};
      replied->stop = ReplyStop::end_turn;
      replied->origin = Origin::callback;
    }
  }
  finish_model(std::move(event), std::move(ingress), Filtered::yes);
}

void Driver::finish_model(Event&& event, Ingress&& ingress, Filtered filtered) {
  const std::string what(name(event));
  if (const Status fed = feed(std::move(event), ingress.take_blobs(), filtered); !fed) {
    log("late_result: " + what + ": " + fed.error().message);
  }
}

// Of the provider, or of an executor that knows the tenant's own prices.
std::optional<std::uint64_t> Driver::stated_cost(const std::string& model,
                                                 const Usage& usage) const {
  try {
    return setup_.agent.executor->calculate_cost(loaded_.run->tenant, model, usage);
  } catch (...) {  // An executor of the host's: the pinned prices hold.
    return std::nullopt;
  }
}

std::string Driver::output_fault(const ModelReplied& reply, const std::string& text) const {
  if (!setup_.output_schema || reply.stop != ReplyStop::end_turn) return "";
  const bool calls = std::any_of(reply.blocks.begin(), reply.blocks.end(), [](const Block& block) {
    return std::holds_alternative<CallBlock>(block);
  });
  if (calls) return "";
  const auto json = parse_json(text);
  std::string fault;
  if (!json) {
    fault = "it is not JSON: " + json.error().message;
  } else if (const auto faults = setup_.output_schema->validate(*json); !faults.empty()) {
    fault = describe(faults);
  }
  return fault.substr(0, kOutputFaultBytesMax);
}

// --- Summaries ---------------------------------------------------------------------------------

void Driver::perform(const Record&, const CompactContext& effect) {
  if (!is_open(effect.effect)) return;
  CompactionRequest request;
  request.run = id_;
  request.tenant = loaded_.run->tenant;
  request.model = loaded_.run->targets.at(effect.target).literal;
  request.instructions = rules_of(loaded_.run->semantics).say.summary_wanted;
  request.summary_tokens_max = std::min(effect.reserved.output_tokens, kSummaryTokensMax);
  request.transcript = make_journal_transcript(weak_from_this(), *services_.store.reader,
                                               effect.instance, effect.to, unreadable_);
  try {
    auto operation = setup_.agent.compactor->compact(
        request, [weak = weak_from_this(), effect](CompactionOutcome outcome) {
          if (const auto self = weak.lock()) self->finish_compaction(effect, std::move(outcome));
        });
    operations_.put(effect.effect, std::move(operation));
  } catch (...) {  // A compactor of the host's may throw; the run survives it.
    finish_compaction(
        effect,
        {Error{ErrorCode::unavailable, "the compactor threw: " + what_was_thrown()}, "", {}});
  }
}

void Driver::finish_compaction(const CompactContext& effect, CompactionOutcome outcome) {
  if (over_) return;
  retire(effect.effect);
  if (*unreadable_) return end_unreadable(**unreadable_);
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
    event = CompactionFailed{effect.instance, effect.effect, outcome.summary.error().message,
                             outcome.usage};
  }
  if (const Status fed = feed(std::move(event), ingress.take_blobs()); !fed) {
    log("late_result: " + fed.error().message);
  }
}

}  // namespace pawl
