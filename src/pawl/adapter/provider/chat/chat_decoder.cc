// Reads the chunks, or the body, of POST /v1/chat/completions, of OpenAI and of those who nearly
// speak its dialect.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/openai/openai_failure.h"
#include "pawl/adapter/provider/openai/openai_wire.h"
#include "pawl/base/flat_json.h"

namespace pawl::provider {
namespace {

struct ChatCall {
  std::optional<std::uint64_t> index;
  std::string id;
  std::string name;
  std::string arguments;
};

// The calls of one reply, put together from fragments. OpenAI numbers them; other servers leave out
// the number, the id or both, send a call whole, or send it again.
class ChatCalls {
 public:
  // One element of "tool_calls" (none: "function_call", as calls were written before there could be
  // several) and its function. Gives back what it added to the arguments of the first call, which
  // is the one that can be shown while it is written.
  Result<std::string> add(const FlatValue& fragment, const FlatValue& function);

  const std::vector<ChatCall>& all() const { return calls_; }
  // Of all names and arguments, and one for each call.
  std::size_t bytes() const { return bytes_; }

 private:
  Result<ChatCall*> call_for(const FlatValue& fragment, std::string_view name,
                             std::string_view text);

  std::vector<ChatCall> calls_;
  std::size_t bytes_ = 0;
};

class ChatDecoder final : public ReplyDecoder {
 public:
  ChatDecoder(const std::vector<ToolSpec>& tools, const WireOptions& options)
      : options_(options), names_(tools) {}

  Status on_event(std::string_view type, std::string_view data,
                  const PhaseEventSink& sink) override;
  Status on_whole(std::string_view body, const PhaseEventSink& sink) override;
  std::uint64_t progress() const override { return progress_; }
  bool complete() const override { return done_ == Done::yes || failure_.has_value(); }
  // Calls are proposed here: until the end another chunk could belong to them, or an error come.
  std::variant<PhaseReplied, PhaseFailed> finish(const PhaseEventSink& sink) override;

 private:
  Status on_chunk(const FlatValue& chunk, const PhaseEventSink& sink);
  Status on_choice(const FlatValue& choice, const PhaseEventSink& sink);
  Status on_message(const FlatValue& message, const PhaseEventSink& sink);
  Status on_call(const FlatValue& fragment, const FlatValue& function, const PhaseEventSink& sink);
  void on_content(const FlatValue& content, const PhaseEventSink& sink);
  void say(std::string_view text, const PhaseEventSink& sink);
  void think(std::string_view text, const PhaseEventSink& sink);
  void on_usage(const FlatValue& chunk, const PhaseEventSink& sink);
  ReplyStop stop() const;
  std::optional<PhaseFailed> failed() const;
  void propose(const ChatCall& call, const PhaseEventSink& sink);

  const WireOptions options_;
  const WireToolNames names_;
  FlatJson json_;  // of the chunk that is read
  ChatCalls calls_;
  std::string model_;
  std::string finish_reason_;
  std::string refusal_;
  std::optional<Usage> usage_;
  std::optional<PhaseFailed> failure_;
  enum class Done : std::uint8_t { no, yes } done_ = Done::no;
  enum class Said : std::uint8_t { nothing, text } said_ = Said::nothing;
  std::uint64_t progress_ = 0;
};

Error broken(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

bool is_length(std::string_view finish_reason) {
  return finish_reason == "length" || finish_reason == "max_tokens" ||
         finish_reason == "model_length";
}

// The first of the members that hold a text: servers do not agree on the name.
std::string_view first_text(const FlatValue& object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view text = object.text(key); !text.empty()) return text;
  }
  return "";
}

// A usage that cannot be true is none.
std::optional<Usage> chat_usage(const FlatValue& usage) {
  const FlatValue details = usage.find("prompt_tokens_details");
  const auto input = count_of(usage, "prompt_tokens");
  const auto output = count_of(usage, "completion_tokens");
  auto cached = count_of(details, "cached_tokens");
  if (cached && *cached == 0) cached = count_of(usage, "prompt_cache_hit_tokens");
  const auto written = count_of(details, "cache_write_tokens");
  const auto total = count_of(usage, "total_tokens");
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

Result<ChatCall*> ChatCalls::call_for(const FlatValue& fragment, std::string_view name,
                                      std::string_view text) {
  const std::string_view id = fragment.text("id");
  const auto index = fragment.find("index").as_uint64();
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

Result<std::string> ChatCalls::add(const FlatValue& fragment, const FlatValue& function) {
  const std::string_view name = function.text("name");
  const FlatValue given = member_of(function, "arguments");
  std::string text(given.text());
  if (given && !given.is_string()) text = write_json(given.to_json());
  PAWL_TRY(ChatCall* const call, call_for(fragment, name, text));
  if (call->id.empty()) call->id = fragment.text("id");
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
  PAWL_TRY(const FlatValue chunk, read_wire_json(json_, data));
  return on_chunk(chunk, sink);
}

Status ChatDecoder::on_whole(std::string_view body, const PhaseEventSink& sink) {
  PAWL_TRY(const FlatValue whole, read_wire_json(json_, body));
  PAWL_CHECK(on_chunk(whole, sink));
  done_ = Done::yes;
  return ok();
}

Status ChatDecoder::on_chunk(const FlatValue& chunk, const PhaseEventSink& sink) {
  on_usage(chunk, sink);
  if (const FlatValue error = member_of(chunk, "error")) {
    failure_ = openai_failure(error.to_json());
    return ok();
  }
  if (model_.empty()) model_ = chunk.text("model");
  for (const FlatValue choice : chunk.find("choices").items()) {
    const auto count = count_of(choice, "index");
    if (count && *count == 0) PAWL_CHECK(on_choice(choice, sink));
  }
  return ok();
}

Status ChatDecoder::on_choice(const FlatValue& choice, const PhaseEventSink& sink) {
  for (const std::string_view key : {"delta", "message"}) {
    const FlatValue message = choice.find(key);
    if (message.is_object()) PAWL_CHECK(on_message(message, sink));
  }
  if (const std::string_view reason = choice.text("finish_reason"); !reason.empty()) {
    if (finish_reason_.empty()) ++progress_;
    finish_reason_ = reason;
  }
  return ok();
}

Status ChatDecoder::on_message(const FlatValue& message, const PhaseEventSink& sink) {
  const std::uint64_t before = progress_;
  think(first_text(message, {"reasoning_content", "reasoning"}), sink);
  on_content(message.find("content"), sink);
  if (const std::string_view text = message.text("refusal"); !text.empty()) {
    refusal_ += text;
    say(text, sink);
  }
  for (const FlatValue fragment : message.find("tool_calls").items()) {
    PAWL_CHECK(on_call(fragment, fragment.find("function"), sink));
  }
  if (const FlatValue only = member_of(message, "function_call")) {
    PAWL_CHECK(on_call(FlatValue(), only, sink));
  }
  if (progress_ != before && !finish_reason_.empty()) {
    return broken("the reply goes on after its end");
  }
  return ok();
}

Status ChatDecoder::on_call(const FlatValue& fragment, const FlatValue& function,
                            const PhaseEventSink& sink) {
  const std::size_t before = calls_.bytes();
  PAWL_TRY(std::string shown, calls_.add(fragment, function));
  if (calls_.bytes() != before) ++progress_;  // An empty fragment does not bring the reply further.
  if (!shown.empty()) sink(ToolInputDelta{std::move(shown)});
  return ok();
}

// A text, or a list of parts, of which some are thoughts.
void ChatDecoder::on_content(const FlatValue& content, const PhaseEventSink& sink) {
  say(content.text(), sink);
  for (const FlatValue part : content.items()) {
    say(part.text("text"), sink);
    for (const FlatValue thought : part.find("thinking").items()) think(thought.text("text"), sink);
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
void ChatDecoder::on_usage(const FlatValue& chunk, const PhaseEventSink& sink) {
  FlatValue usage = member_of(chunk, "usage");
  if (!usage) usage = chunk.find("x_groq").find("usage");
  if (!usage.is_object()) return;
  const auto said = chat_usage(usage);
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

}  // namespace

std::unique_ptr<ReplyDecoder> make_chat_decoder(const std::vector<ToolSpec>& tools,
                                                const WireOptions& options) {
  return std::make_unique<ChatDecoder>(tools, options);
}

}  // namespace pawl::provider
