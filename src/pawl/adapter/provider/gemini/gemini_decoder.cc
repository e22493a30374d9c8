// How a response of generateContent is read, streamed or whole.
#include <algorithm>
#include <optional>
#include <utility>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/gemini/gemini_args.h"
#include "pawl/base/flat_json.h"
#include "pawl/ids.h"

namespace pawl::provider {
namespace {

Error broken(std::string message) {
  return {ErrorCode::corrupt, std::move(message)};
}

std::string text_at(const FlatValue& object, std::string_view key) {
  return std::string(object.text(key));
}

// As Gemini counts: cached tokens are a part of the prompt, thoughts are no part of the candidates.
struct GeminiCounts {
  std::uint64_t prompt = 0;
  std::uint64_t own_tools = 0;
  std::uint64_t cached = 0;
  std::uint64_t candidates = 0;
  std::uint64_t thoughts = 0;

  void raise(const FlatValue& metadata) {
    raise_count(prompt, metadata.find("promptTokenCount"));
    raise_count(own_tools, metadata.find("toolUsePromptTokenCount"));
    raise_count(cached, metadata.find("cachedContentTokenCount"));
    raise_count(candidates, metadata.find("candidatesTokenCount"));
    raise_count(thoughts, metadata.find("thoughtsTokenCount"));
  }
  Usage usage() const {
    Usage usage;
    usage.cache_read_tokens = std::min(cached, prompt);
    usage.input_tokens = add_saturating(prompt - usage.cache_read_tokens, own_tools);
    usage.output_tokens = add_saturating(candidates, thoughts);
    return usage;
  }
};

class GeminiDecoder final : public ReplyDecoder {
 public:
  GeminiDecoder(const std::vector<ToolSpec>& tools, const WireOptions& options)
      : names_(tools), provider_(options.name), model_(options.model.id) {}

  Status on_event(std::string_view, std::string_view data, const PhaseEventSink& sink) override {
    if (complete()) return ok();
    if (comes_again(data)) return broken("an event with a call came twice");
    PAWL_TRY(const FlatValue response, json_.read(data));
    return on_response(response, sink);
  }

  Status on_whole(std::string_view body, const PhaseEventSink& sink) override {
    PAWL_TRY(const FlatValue response, json_.read(body));
    if (!response.is_array()) return on_response(response, sink);
    for (const FlatValue one : response.items()) PAWL_CHECK(on_response(one, sink));
    return ok();
  }

  std::uint64_t progress() const override { return progress_; }
  // There is no event of the end; the one with a reason and the counts is the last. Models before 2
  // give the reason with every piece: then the end of the stream is the end.
  bool complete() const override {
    const bool old = model_.starts_with("gemini-1") || model_.starts_with("gemini-pro");
    return failed_.has_value() || (!stop_.empty() && counted_ && !old);
  }

  std::variant<PhaseReplied, PhaseFailed> finish(const PhaseEventSink&) override {
    if (failed_) return *failed_;
    if (stop_.empty()) return unfinished_reply();
    if (auto failed = failure_of_stop()) return *std::move(failed);
    return unless_empty({reply_stop(), detail_, provider_ + "/" + model_}, blocks_);
  }

 private:
  struct OpenCall {
    ToolCallProposed call;
    PartialArguments arguments;
  };

  // Events have no numbers. Two calls that are the same differ in the counts beside them; pieces of
  // one call may well be alike.
  bool comes_again(std::string_view data) {
    const auto has = [data](std::string_view word) {
      return data.find(word) != std::string_view::npos;
    };
    const bool whole_call =
        has("\"functionCall\"") && !has("\"partialArgs\"") && !has("\"willContinue\"");
    const std::optional<Digest> now = whole_call ? std::optional(sha256(data)) : std::nullopt;
    return std::exchange(last_call_event_, now) == now && now;
  }

  Status on_response(const FlatValue& response, const PhaseEventSink& sink) {
    if (!response.is_object()) return broken("a response that is no object");
    if (const FlatValue error = response.find("error")) return on_error(error);
    const std::string_view version = response.text("modelVersion");
    if (!version.empty()) model_ = version;
    on_feedback(response.find("promptFeedback"));
    const FlatValue candidates = response.find("candidates");
    if (candidates.is_array() && candidates.size() > 0) {
      PAWL_CHECK(on_candidate(*candidates.items().begin(), sink));  // One was asked for.
    }
    report_usage(response.find("usageMetadata"), sink);
    return ok();
  }

  Status on_error(const FlatValue& error) {
    failed_ = failure_of_type({text_at(error, "status"), short_message(text_at(error, "message"))});
    return ok();
  }

  void on_feedback(const FlatValue& feedback) {
    const std::string reason = text_at(feedback, "blockReason");
    if (reason.empty()) return;
    ++progress_;
    stop_ = "PROMPT_BLOCKED";
    detail_ = short_message(reason + ": " + text_at(feedback, "blockReasonMessage"));
  }

  Status on_candidate(const FlatValue& candidate, const PhaseEventSink& sink) {
    // What comes behind a reason to break off does not matter.
    if (!stop_.empty() && stop_ != "STOP") return ok();
    for (const FlatValue part : candidate.find("content").find("parts").items()) {
      PAWL_CHECK(on_part(part, sink));
    }
    const std::string reason = text_at(candidate, "finishReason");
    if (reason.empty() || reason == "FINISH_REASON_UNSPECIFIED") return ok();
    ++progress_;
    stop_ = reason;
    if (reason != "STOP" && reason != "MAX_TOKENS") {
      const std::string message = text_at(candidate, "finishMessage");
      detail_ = short_message(reason + (message.empty() ? "" : ": " + message));
    }
    if (open_ && reason == "STOP") return broken("the reply ends inside of a call");
    return ok();
  }

  Status on_part(const FlatValue& part, const PhaseEventSink& sink) {
    if (!part.is_object()) return broken("a part that is no object");
    if (const FlatValue call = part.find("functionCall")) return on_call(call, part, sink);
    if (part.find("text")) return on_text(part, sink);
    if (part.find("thoughtSignature") && part.size() == 1) return on_text(part, sink);
    PAWL_CHECK(count_block());
    ++progress_;
    last_ = Last::other;
    sink(RawProduced{write_json(part.to_json())});
    return ok();
  }

  Status on_text(const FlatValue& part, const PhaseEventSink& sink) {
    std::string text = text_at(part, "text");
    std::string signature = text_at(part, "thoughtSignature");
    if (text.empty() && signature.empty()) return ok();
    ++progress_;
    if (part.find("thought").is_true()) {
      if (std::exchange(last_, Last::thought) != Last::thought) PAWL_CHECK(count_block());
      if (!signature.empty()) last_ = Last::other;
      sink(ThinkingDelta{std::move(text), std::move(signature)});
      return ok();
    }
    if (!text.empty()) {
      if (std::exchange(last_, Last::text) != Last::text) PAWL_CHECK(count_block());
      sink(TextDelta{std::move(text)});
    }
    if (signature.empty()) return ok();
    // Kept as a thought without words; it is sent back in the same place.
    last_ = Last::other;
    PAWL_CHECK(count_block());
    sink(ThinkingDelta{"", std::move(signature)});
    return ok();
  }

  Status on_call(const FlatValue& call, const FlatValue& part, const PhaseEventSink& sink) {
    ++progress_;
    const std::string name = text_at(call, "name");
    if (!open_) {
      PAWL_CHECK(count_block());
      last_ = Last::other;
      OpenCall opened;
      opened.call.tool = names_.original(name);
      opened.call.provider_id = text_at(call, "id");
      opened.call.signature = text_at(part, "thoughtSignature");
      const FlatValue whole = call.find("args");
      if (whole && !whole.is_null()) opened.call.input = write_json(whole.to_json());
      open_ = std::move(opened);
    } else if (!name.empty()) {
      return broken("a call inside of a call");
    }
    for (const FlatValue piece : call.find("partialArgs").items()) {
      PAWL_CHECK(open_->arguments.add(piece.to_json()));
    }
    if (!call.find("willContinue").is_true()) propose(sink);
    return ok();
  }

  void propose(const PhaseEventSink& sink) {
    OpenCall done = *std::exchange(open_, std::nullopt);
    if (done.call.input.empty()) done.call.input = done.arguments.json();
    ++calls_;
    sink(std::move(done.call));
  }

  Status count_block() {
    if (++blocks_ <= kBlocksPerReplyMax) return ok();
    return Error{ErrorCode::limit_exceeded, "more blocks than a reply may have"};
  }

  void report_usage(const FlatValue& metadata, const PhaseEventSink& sink) {
    if (!metadata.is_object()) return;
    counts_.raise(metadata);
    if (!stop_.empty()) counted_ = true;
    sink(UsageReported{counts_.usage()});
  }

  std::optional<PhaseFailed> failure_of_stop() const {
    PhaseFailed failed{ErrorCategory::llm_error, detail_, std::nullopt, FailureKind::transient};
    if (stop_ == "MALFORMED_FUNCTION_CALL" || stop_ == "UNEXPECTED_TOOL_CALL" ||
        stop_ == "MALFORMED_RESPONSE" || stop_ == "OTHER") {
      return failed;
    }
    if (stop_ == "MISSING_THOUGHT_SIGNATURE" || stop_ == "TOO_MANY_TOOL_CALLS") {
      failed.category = ErrorCategory::validation_error;
      failed.kind = FailureKind::permanent;
      return failed;
    }
    return std::nullopt;
  }

  ReplyStop reply_stop() const {
    if (stop_ == "STOP") return calls_ > 0 ? ReplyStop::tool_use : ReplyStop::end_turn;
    // What is left, known or not, are reasons to withhold the rest: safety, recitation, language.
    return stop_ == "MAX_TOKENS" ? ReplyStop::max_tokens : ReplyStop::refusal;
  }

  enum class Last : std::uint8_t { nothing, text, thought, other };

  const WireToolNames names_;
  const std::string provider_;
  FlatJson json_;  // of the event that is read
  std::string model_;
  std::optional<OpenCall> open_;
  std::optional<PhaseFailed> failed_;
  Last last_ = Last::nothing;  // what the last delta belonged to: deltas in a row are one block
  std::optional<Digest> last_call_event_;  // if the event before had a whole call
  std::uint64_t blocks_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t progress_ = 0;
  GeminiCounts counts_;
  bool counted_ = false;
  std::string stop_;
  std::string detail_;
};

}  // namespace

std::unique_ptr<ReplyDecoder> make_gemini_decoder(const std::vector<ToolSpec>& tools,
                                                  const WireOptions& options) {
  return std::make_unique<GeminiDecoder>(tools, options);
}

}  // namespace pawl::provider
