#include "pawl/adapter/provider/chat/chat_decoder.h"

#include <algorithm>
#include <utility>

#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/openai/openai_failure.h"
#include "pawl/adapter/provider/openai/openai_wire.h"

namespace pawl::provider {
namespace {

Error broken(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

bool is_length(std::string_view finish_reason) {
  return finish_reason == "length" || finish_reason == "max_tokens" ||
         finish_reason == "model_length";
}

// The first of the members that hold a text: servers do not agree on the name.
std::string_view first_text(const Json& object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view text = text_of(object, key); !text.empty()) return text;
  }
  return "";
}

// A usage that cannot be true is none.
std::optional<Usage> chat_usage(const Json& usage) {
  const Json* const details = usage.find("prompt_tokens_details");
  const auto input = count_of(&usage, "prompt_tokens");
  const auto output = count_of(&usage, "completion_tokens");
  auto cached = count_of(details, "cached_tokens");
  if (cached && *cached == 0) cached = count_of(&usage, "prompt_cache_hit_tokens");
  const auto written = count_of(details, "cache_write_tokens");
  const auto total = count_of(&usage, "total_tokens");
  if (!input || !output || !cached || !written || !total) return std::nullopt;
  // xAI and Gemini leave thoughts out of completion_tokens, and charge for them as for output.
  const std::uint64_t charged = std::max(*output, *total - std::min(*total, *input));
  return usage_of({*input, charged, *cached, *written});
}

bool is_whole_object(std::string_view json) {
  return json.starts_with('{') && check_json(json);
}

// Whether a fragment with this id, name and text can belong to `call`.
bool goes_on(const ChatCall& call, std::string_view id, std::string_view name,
             std::string_view text) {
  if (!id.empty() && !call.id.empty()) return id == call.id;
  if (name.empty() || call.name.empty()) return true;
  if (name != call.name) return false;
  // Some servers say the name with every fragment, some say the whole call twice, others send calls
  // with nothing but their arguments to tell them apart.
  return !is_whole_object(call.arguments) || text.empty() || text == call.arguments;
}

}  // namespace

Result<ChatCall*> ChatCalls::call_for(const Json& fragment, std::string_view name,
                                      std::string_view text) {
  const std::string_view id = text_of(fragment, "id");
  const Json* const number = member_of(fragment, "index");
  const auto index = number != nullptr ? number->as_uint64() : std::nullopt;
  // From behind: where servers number all calls 0, the last one is meant.
  const auto known = std::find_if(calls_.rbegin(), calls_.rend(), [&](const ChatCall& call) {
    if (index && call.index != index) return false;
    return goes_on(call, id, name, text);
  });
  const bool may_be_any = index.has_value() || !id.empty();
  if (known != calls_.rend() && (may_be_any || known == calls_.rbegin())) return &*known;
  if (calls_.size() >= kChatCallsMax) {
    return Error{ErrorCode::limit_exceeded, "more calls than a reply may have"};
  }
  calls_.push_back({index, "", "", ""});
  ++bytes_;
  return &calls_.back();
}

Result<std::string> ChatCalls::add(const Json& fragment) {
  const Json* const function = member_of(fragment, "function");
  const std::string_view name = function != nullptr ? text_of(*function, "name") : "";
  const Json* const given = function != nullptr ? member_of(*function, "arguments") : nullptr;
  std::string text;
  if (given != nullptr) text = given->is_string() ? given->string() : write_json(*given);
  PAWL_TRY(ChatCall* const call, call_for(fragment, name, text));
  if (call->id.empty()) call->id = text_of(fragment, "id");
  if (call->name.empty()) {
    call->name = name;
    bytes_ += name.size();
  }
  // The whole call once more, at the end of the stream.
  if (text == call->arguments && is_whole_object(text)) return std::string();
  call->arguments += text;
  bytes_ += text.size();
  return call == &calls_.front() ? std::move(text) : std::string();
}

Status ChatDecoder::on_event(std::string_view, std::string_view data, const PhaseEventSink& sink) {
  if (complete()) return ok();
  if (data == "[DONE]") {
    done_ = Done::yes;
    return ok();
  }
  PAWL_TRY(const Json chunk, parse_wire_json(data));
  return on_chunk(chunk, sink);
}

Status ChatDecoder::on_whole(std::string_view body, const PhaseEventSink& sink) {
  PAWL_TRY(const Json whole, parse_wire_json(body));
  PAWL_CHECK(on_chunk(whole, sink));
  done_ = Done::yes;
  return ok();
}

Status ChatDecoder::on_chunk(const Json& chunk, const PhaseEventSink& sink) {
  on_usage(chunk, sink);
  if (const Json* error = member_of(chunk, "error"); error != nullptr) {
    failure_ = openai_failure(*error);
    return ok();
  }
  if (model_.empty()) model_ = text_of(chunk, "model");
  const Json* const choices = chunk.find("choices");
  if (choices == nullptr || !choices->is_array()) return ok();
  for (const Json& choice : choices->array()) {
    const auto count = count_of(&choice, "index");
    if (count && *count == 0) PAWL_CHECK(on_choice(choice, sink));
  }
  return ok();
}

Status ChatDecoder::on_choice(const Json& choice, const PhaseEventSink& sink) {
  for (const std::string_view key : {"delta", "message"}) {
    const Json* const message = choice.find(key);
    if (message != nullptr && message->is_object()) PAWL_CHECK(on_message(*message, sink));
  }
  if (const std::string_view reason = text_of(choice, "finish_reason"); !reason.empty()) {
    if (finish_reason_.empty()) ++progress_;
    finish_reason_ = reason;
  }
  return ok();
}

Status ChatDecoder::on_message(const Json& message, const PhaseEventSink& sink) {
  const std::uint64_t before = progress_;
  think(first_text(message, {"reasoning_content", "reasoning"}), sink);
  if (const Json* content = member_of(message, "content")) on_content(*content, sink);
  if (const std::string_view text = text_of(message, "refusal"); !text.empty()) {
    refusal_ += text;
    say(text, sink);
  }
  const Json* const fragments = message.find("tool_calls");
  if (fragments != nullptr && fragments->is_array()) {
    for (const Json& fragment : fragments->array()) PAWL_CHECK(on_call(fragment, sink));
  }
  // As calls were written before there could be several.
  if (const Json* only = member_of(message, "function_call"); only != nullptr) {
    JsonObject fragment;
    fragment.set("function", *only);
    PAWL_CHECK(on_call(Json(std::move(fragment)), sink));
  }
  if (progress_ != before && !finish_reason_.empty()) {
    return broken("the reply goes on after its end");
  }
  return ok();
}

Status ChatDecoder::on_call(const Json& fragment, const PhaseEventSink& sink) {
  const std::size_t before = calls_.bytes();
  PAWL_TRY(std::string shown, calls_.add(fragment));
  if (calls_.bytes() != before) ++progress_;  // An empty fragment does not bring the reply further.
  if (!shown.empty()) sink(ToolInputDelta{std::move(shown)});
  return ok();
}

// A text, or a list of parts, of which some are thoughts.
void ChatDecoder::on_content(const Json& content, const PhaseEventSink& sink) {
  if (const std::string* text = content.if_string()) return say(*text, sink);
  const JsonArray* const parts = content.if_array();
  if (parts == nullptr) return;
  for (const Json& part : *parts) {
    say(text_of(part, "text"), sink);
    const Json* const thoughts = part.find("thinking");
    if (thoughts == nullptr || !thoughts->is_array()) continue;
    for (const Json& thought : thoughts->array()) think(text_of(thought, "text"), sink);
  }
}

void ChatDecoder::say(std::string_view text, const PhaseEventSink& sink) {
  if (text.empty()) return;
  ++progress_;
  said_ = Said::text;
  sink(TextDelta{std::string(text)});
}

void ChatDecoder::think(std::string_view text, const PhaseEventSink& sink) {
  if (text.empty()) return;
  ++progress_;
  sink(ThinkingDelta{std::string(text), ""});
}

// Once, or cumulative with every chunk. It never becomes less.
void ChatDecoder::on_usage(const Json& chunk, const PhaseEventSink& sink) {
  const Json* usage = member_of(chunk, "usage");
  if (usage == nullptr) {
    const Json* const groq = member_of(chunk, "x_groq");
    usage = groq != nullptr ? member_of(*groq, "usage") : nullptr;
  }
  if (usage == nullptr || !usage->is_object()) return;
  const auto said = chat_usage(*usage);
  if (!said || (usage_ && total_tokens(*said) < total_tokens(*usage_))) return;
  usage_ = said;
  sink(UsageReported{*said});
}

ReplyStop ChatDecoder::stop() const {
  if (is_length(finish_reason_)) return ReplyStop::max_tokens;
  if (finish_reason_ == "content_filter" || !refusal_.empty()) return ReplyStop::refusal;
  // "stop" is what some servers say after calls, too.
  return calls_.all().empty() ? ReplyStop::end_turn : ReplyStop::tool_use;
}

std::optional<PhaseFailed> ChatDecoder::failed() const {
  if (failure_) return failure_;
  if (finish_reason_.empty()) {
    return PhaseFailed{ErrorCategory::network_error,
                       "the response ended before the provider said that it is complete"};
  }
  if (finish_reason_ == "error" || finish_reason_ == "abort" || finish_reason_ == "cancelled") {
    return PhaseFailed{ErrorCategory::llm_error,
                       "the response was ended by the provider: " + finish_reason_};
  }
  if (finish_reason_ == "insufficient_system_resource") {
    return PhaseFailed{ErrorCategory::llm_error, finish_reason_, std::nullopt,
                       FailureKind::overloaded};
  }
  const auto is_cut = [](const ChatCall& call) { return is_cut_off(call.arguments); };
  const ReplyStop how = stop();
  if (how == ReplyStop::tool_use && std::ranges::any_of(calls_.all(), is_cut)) {
    return PhaseFailed{ErrorCategory::llm_error, "the arguments of a call end in their middle"};
  }
  if (how == ReplyStop::end_turn && said_ == Said::nothing) return empty_reply();
  return std::nullopt;
}

std::variant<PhaseReplied, PhaseFailed> ChatDecoder::finish(const PhaseEventSink& sink) {
  if (auto failure = failed()) return *std::move(failure);
  PhaseReplied reply;
  reply.stop = stop();
  reply.model = answered_by(options_, model_);
  if (reply.stop == ReplyStop::refusal) reply.detail = refusal_.empty() ? finish_reason_ : refusal_;
  for (const ChatCall& call : calls_.all()) propose(call, sink);
  return reply;
}

void ChatDecoder::propose(const ChatCall& call, const PhaseEventSink& sink) {
  if (is_cut_off(call.arguments)) return;  // of a reply that was cut short
  std::string input = call.arguments.empty() ? "{}" : call.arguments;
  if (&call != &calls_.all().front()) sink(ToolInputDelta{input});
  sink(ToolCallProposed{names_.original(call.name), std::move(input), call.id});
}

}  // namespace pawl::provider
