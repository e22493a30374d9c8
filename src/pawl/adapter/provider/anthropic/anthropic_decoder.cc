// How a response of POST /v1/messages is read.
#include <algorithm>
#include <optional>
#include <utility>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/base/flat_json.h"

namespace pawl::provider {
namespace {

Error broken(std::string message) {
  return {ErrorCode::corrupt, std::move(message)};
}

std::string text_at(const FlatValue& object, std::string_view key) {
  return std::string(object.text(key));
}

// A block that has begun and not ended.
struct OpenBlock {
  std::uint64_t index = 0;
  enum class Kind : std::uint8_t { text, thinking, call, raw } kind = Kind::raw;
  JsonObject start;       // of a call or a raw block, as it began; a raw one grows here
  std::string input;      // of calls, ours or the provider's
  std::string signature;  // of thinking
};

OpenBlock::Kind kind_of(std::string_view type) {
  if (type == "text") return OpenBlock::Kind::text;
  if (type == "thinking") return OpenBlock::Kind::thinking;
  return type == "tool_use" ? OpenBlock::Kind::call : OpenBlock::Kind::raw;
}

// Deltas of kinds that are not known add texts to the members of the same name.
void grow(JsonObject& block, const FlatValue& delta) {
  const Json said = delta.to_json();
  for (const JsonMember& member : said.object().members()) {
    if (member.key == "type" || !member.value.is_string()) continue;
    const Json* before = block.find(member.key);
    const std::string* text = before != nullptr ? before->if_string() : nullptr;
    block.set(member.key, (text != nullptr ? *text : std::string()) + member.value.string());
  }
}

class AnthropicDecoder final : public ReplyDecoder {
 public:
  AnthropicDecoder(const std::vector<ToolSpec>& tools, const WireOptions& options)
      : names_(tools), provider_(options.name), model_(options.model.id) {}

  Status on_event(std::string_view type, std::string_view data,
                  const PhaseEventSink& sink) override {
    if (complete()) return ok();  // What follows does not matter.
    if (type == "ping") return ok();
    PAWL_TRY(const FlatValue event, json_.read(data));
    const std::string_view said = event.text("type");
    return on(said.empty() ? type : said, event, sink);
  }

  Status on_whole(std::string_view body, const PhaseEventSink& sink) override {
    PAWL_TRY(const FlatValue message, json_.read(body));
    if (message.find("error")) return on_error(message);
    PAWL_CHECK(begin(message, sink));
    const FlatValue content = message.find("content");
    if (!content.is_array()) return broken("a message without content");
    for (const FlatValue block : content.items()) {
      PAWL_CHECK(open_block(next_index_, block, sink));
      PAWL_CHECK(close_block(sink));
    }
    PAWL_CHECK(on_stop(message, sink));
    stage_ = Stage::complete;
    return ok();
  }

  std::uint64_t progress() const override { return progress_; }
  bool complete() const override { return stage_ == Stage::complete || failed_.has_value(); }

  std::variant<PhaseReplied, PhaseFailed> finish(const PhaseEventSink&) override {
    if (failed_) return *failed_;
    if (stage_ != Stage::complete) return unfinished_reply();
    return unless_empty({reply_stop(), detail_, provider_ + "/" + model_}, next_index_);
  }

 private:
  enum class Stage : std::uint8_t { before, open, stopped, complete };

  Status on(std::string_view type, const FlatValue& event, const PhaseEventSink& sink) {
    if (type == "ping") return ok();
    if (type == "error") return on_error(event);
    if (type == "message_start") return on_start(event, sink);
    if (type == "content_block_start") return on_block_start(event, sink);
    if (type == "content_block_delta") return on_delta(event, sink);
    if (type == "content_block_stop") return on_block_stop(event, sink);
    if (type == "message_delta") return on_message_delta(event, sink);
    if (type == "message_stop") return on_message_stop();
    return ok();  // Kinds may be added at any time; what is not known is not needed.
  }

  Status on_error(const FlatValue& event) {
    const FlatValue error = event.find("error");
    if (!error) return broken("an error that says nothing");
    failed_ = failure_of_type({text_at(error, "type"), short_message(error.text("message"))});
    return ok();
  }

  Status on_start(const FlatValue& event, const PhaseEventSink& sink) {
    const FlatValue message = event.find("message");
    if (!message) return broken("message_start without a message");
    return begin(message, sink);
  }

  Status begin(const FlatValue& message, const PhaseEventSink& sink) {
    // A second one is another reply spliced into this one: neither is to be trusted.
    if (stage_ != Stage::before) return broken("a second message_start");
    if (!message.is_object()) return broken("a message that is no object");
    stage_ = Stage::open;
    ++progress_;
    if (const std::string_view model = message.text("model"); !model.empty()) model_ = model;
    report_usage(message.find("usage"), sink);
    return ok();
  }

  Status on_block_start(const FlatValue& event, const PhaseEventSink& sink) {
    const auto index = event.find("index").as_uint64();
    const FlatValue block = event.find("content_block");
    if (!index || !block) return broken("content_block_start without index or block");
    return open_block(*index, block, sink);
  }

  Status open_block(std::uint64_t index, const FlatValue& block, const PhaseEventSink& sink) {
    if (stage_ != Stage::open) return broken("a block outside of a message");
    if (block_) return broken("a block inside of a block");
    if (index < next_index_) return broken("a second block of the same index");
    if (!block.is_object()) return broken("a block that is no object");
    if (++blocks_ > kBlocksPerReplyMax) {
      return Error{ErrorCode::limit_exceeded, "more blocks than a reply may have"};
    }
    propose(sink);  // Another block follows: the call before it was not cut off.
    next_index_ = index + 1;
    ++progress_;
    block_ = OpenBlock{index, kind_of(block.text("type")), {}, "", ""};
    if (block_->kind == OpenBlock::Kind::call || block_->kind == OpenBlock::Kind::raw) {
      block_->start = block.to_json().object();
    }
    if (block_->kind == OpenBlock::Kind::text) say(block.text("text"), sink);
    if (block_->kind == OpenBlock::Kind::thinking) think(block.text("thinking"), sink);
    block_->signature = block.text("signature");
    return ok();
  }

  Status on_delta(const FlatValue& event, const PhaseEventSink& sink) {
    const FlatValue delta = event.find("delta");
    if (!is_open_block(event)) return broken("a delta of a block that is not open");
    if (!delta.is_object()) return broken("content_block_delta without delta");
    const std::string_view type = delta.text("type");
    if (type == "input_json_delta") return on_input(delta.text("partial_json"), sink);
    // An empty delta moves bytes and does not bring the reply further.
    for (const char* key : {"text", "thinking", "signature"}) {
      if (!delta.text(key).empty()) ++progress_;
    }
    switch (block_->kind) {
      case OpenBlock::Kind::text:
        if (type == "text_delta") say(delta.text("text"), sink);
        break;
      case OpenBlock::Kind::thinking:
        if (type == "thinking_delta") think(delta.text("thinking"), sink);
        if (type == "signature_delta") block_->signature += delta.text("signature");
        break;
      case OpenBlock::Kind::raw:
        if (delta.size() > 1) ++progress_;
        grow(block_->start, delta);
        break;
      case OpenBlock::Kind::call:
        break;
    }
    return ok();
  }

  Status on_input(std::string_view text, const PhaseEventSink& sink) {
    if (text.empty()) return ok();  // Nor does it bring the reply further.
    ++progress_;
    block_->input += text;
    if (block_->kind == OpenBlock::Kind::call) sink(ToolInputDelta{std::string(text)});
    return ok();
  }

  Status on_block_stop(const FlatValue& event, const PhaseEventSink& sink) {
    if (!is_open_block(event)) return broken("the end of a block that is not open");
    return close_block(sink);
  }

  Status close_block(const PhaseEventSink& sink) {
    OpenBlock block = *std::exchange(block_, std::nullopt);
    ++progress_;
    switch (block.kind) {
      case OpenBlock::Kind::text:
        return ok();
      case OpenBlock::Kind::thinking:
        if (!block.signature.empty()) sink(ThinkingDelta{"", std::move(block.signature)});
        return ok();
      case OpenBlock::Kind::call:
        hold(block);
        return ok();
      case OpenBlock::Kind::raw:
        // One that was cut off keeps the input it began with: nothing is done with it here.
        if (auto input = parse_json(block.input)) block.start.set("input", *std::move(input));
        sink(RawProduced{write_json(block.start)});
        return ok();
    }
    return ok();
  }

  // A call is proposed when it is certain that the model did not stop inside of it.
  void hold(const OpenBlock& block) {
    const auto text_of = [&start = block.start](std::string_view key) {
      const Json* text = start.find(key);
      return text != nullptr && text->is_string() ? text->string() : std::string();
    };
    ToolCallProposed call;
    call.tool = names_.original(text_of("name"));
    call.provider_id = text_of("id");
    call.input = block.input;
    if (call.input.empty()) {
      const Json* whole = block.start.find("input");
      call.input = whole != nullptr && !whole->is_null() ? write_json(*whole) : "{}";
    }
    held_ = std::move(call);
  }

  void propose(const PhaseEventSink& sink) {
    if (!held_) return;
    ++calls_;
    sink(*std::exchange(held_, std::nullopt));
  }

  Status on_message_delta(const FlatValue& event, const PhaseEventSink& sink) {
    if (stage_ != Stage::open && stage_ != Stage::stopped) return broken("message_delta too early");
    if (block_) return broken("message_delta inside of a block");
    ++progress_;
    report_usage(event.find("usage"), sink);
    const FlatValue delta = event.find("delta");
    const FlatValue reason = delta.find("stop_reason");
    if (!reason || reason.is_null()) return ok();
    return on_stop(delta, sink);
  }

  // `holder` has stop_reason and stop_details: a whole message, or the delta of one.
  Status on_stop(const FlatValue& holder, const PhaseEventSink& sink) {
    stop_ = holder.text("stop_reason");
    if (stop_.empty()) return broken("a message without a reason to stop");
    if (const FlatValue details = holder.find("stop_details"); details.is_object()) {
      detail_ =
          short_message(text_at(details, "category") + ": " + text_at(details, "explanation"));
    }
    const bool cut_off =
        stop_ == "max_tokens" || stop_ == "model_context_window_exceeded" || stop_ == "refusal";
    if (!cut_off) propose(sink);
    held_.reset();
    stage_ = Stage::stopped;
    return ok();
  }

  Status on_message_stop() {
    if (stage_ != Stage::stopped) return broken("message_stop before the message was complete");
    ++progress_;
    stage_ = Stage::complete;
    return ok();
  }

  ReplyStop reply_stop() const {
    if (stop_ == "max_tokens" || stop_ == "model_context_window_exceeded") {
      return ReplyStop::max_tokens;
    }
    if (stop_ == "refusal") return ReplyStop::refusal;
    if (stop_ == "pause_turn" && calls_ == 0) return ReplyStop::pause_turn;
    return calls_ > 0 ? ReplyStop::tool_use : ReplyStop::end_turn;
  }

  bool is_open_block(const FlatValue& event) const {
    return block_ && event.find("index").as_uint64() == block_->index;
  }

  void say(std::string_view text, const PhaseEventSink& sink) {
    if (!text.empty()) sink(TextDelta{std::string(text)});
  }
  void think(std::string_view text, const PhaseEventSink& sink) {
    if (!text.empty()) sink(ThinkingDelta{std::string(text), ""});
  }

  // Counts are of the whole message: they replace what was said before.
  void report_usage(const FlatValue& usage, const PhaseEventSink& sink) {
    if (!usage.is_object()) return;
    raise_count(usage_.input_tokens, usage.find("input_tokens"));
    raise_count(usage_.output_tokens, usage.find("output_tokens"));
    raise_count(usage_.cache_read_tokens, usage.find("cache_read_input_tokens"));
    raise_count(cache_creation_, usage.find("cache_creation_input_tokens"));
    // Of them, by how long they are kept: an hour costs more than five minutes.
    const FlatValue kept = usage.find("cache_creation");
    raise_count(usage_.cache_creation_1h_tokens, kept.find("ephemeral_1h_input_tokens"));
    raise_count(cache_creation_5m_, kept.find("ephemeral_5m_input_tokens"));
    const std::uint64_t hour = std::min(usage_.cache_creation_1h_tokens, cache_creation_);
    usage_.cache_creation_tokens = std::max(cache_creation_ - hour, cache_creation_5m_);
    sink(UsageReported{usage_});
  }

  const WireToolNames names_;
  const std::string provider_;
  FlatJson json_;  // of the event that is read
  std::string model_;
  Stage stage_ = Stage::before;
  std::optional<OpenBlock> block_;
  std::optional<ToolCallProposed> held_;
  std::optional<PhaseFailed> failed_;
  std::uint64_t next_index_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t progress_ = 0;
  Usage usage_;
  std::uint64_t cache_creation_ = 0;     // as reported in one figure
  std::uint64_t cache_creation_5m_ = 0;  // as reported apart
  std::string stop_;
  std::string detail_;
};

}  // namespace

std::unique_ptr<ReplyDecoder> make_anthropic_decoder(const std::vector<ToolSpec>& tools,
                                                     const WireOptions& options) {
  return std::make_unique<AnthropicDecoder>(tools, options);
}

}  // namespace pawl::provider
