#include "pawl/run/model/reply_assembler.h"

#include "pawl/base/utf8.h"
#include "pawl/json.h"
#include "pawl/kernel/context.h"

namespace pawl {
namespace {

constexpr std::size_t kFailureMessageBytesKept = 4'096;

}  // namespace

bool is_beyond_cap(std::uint64_t bytes, std::uint64_t tokens_max) {
  if (tokens_max == 0 || tokens_max > kReplyBytesMax) return false;
  return bytes > tokens_max * kBytesPerTokenMax + kBeyondCapBytesMax;
}

std::string cut_off_at(std::uint64_t tokens_max) {
  return "cut off: more than the " + std::to_string(tokens_max) + " tokens that were allowed";
}

bool ReplyAssembler::add(PhaseExecutorEvent&& event) {
  if (done_) return false;
  std::visit([this](auto&& one) { on(std::forward<decltype(one)>(one)); }, std::move(event));
  return done_.has_value();
}

void ReplyAssembler::append(Draft::Kind kind, std::string_view text) {
  // A signature is the end of a thinking block: the next one is another.
  const bool goes_on =
      !blocks_.empty() && blocks_.back().kind == kind && blocks_.back().extra.empty();
  if (!goes_on) blocks_.push_back({kind, "", "", ""});
  bytes_ += text.size();
  if (!too_large()) blocks_.back().bytes += text;
}

void ReplyAssembler::on(TextDelta&& event) {
  append(Draft::Kind::text, event.text);
  if (!too_large()) whole_text_ += event.text;
  const std::uint64_t offset = text_offset_;
  text_offset_ += event.text.size();
  preview_(Preview::Kind::text, offset, std::move(event.text));
}

void ReplyAssembler::on(ThinkingDelta&& event) {
  append(Draft::Kind::thinking, event.text);
  if (!event.signature.empty()) blocks_.back().extra = std::move(event.signature);
  const std::uint64_t offset = thinking_offset_;
  thinking_offset_ += event.text.size();
  preview_(Preview::Kind::thinking, offset, std::move(event.text));
}

void ReplyAssembler::on(ToolInputDelta&& event) {
  const std::uint64_t offset = input_offset_;
  input_offset_ += event.text.size();
  preview_(Preview::Kind::tool_input, offset, std::move(event.text));
}

void ReplyAssembler::on(ToolCallProposed&& event) {
  bytes_ += event.input.size();
  call_bytes_ += event.input.size();
  if (too_large()) return;
  blocks_.push_back({Draft::Kind::call, std::move(event.input), std::move(event.provider_id),
                     std::move(event.tool), std::move(event.signature)});
}

void ReplyAssembler::on(RawProduced&& event) {
  bytes_ += event.json.size();
  if (!too_large()) blocks_.push_back({Draft::Kind::raw, std::move(event.json), "", ""});
}

// It has happened already, in the executor: the journal keeps it, and nobody runs it again.
void ReplyAssembler::on(const NativeToolResult& event) {
  const bool fine = event.outcome == NativeToolResult::Outcome::fine;
  JsonWriter json;
  json.begin_object().field("type", "native_tool_result");
  json.field("tool", to_valid_utf8(event.tool).substr(0, kToolNameBytesMax));
  json.field("input", to_valid_utf8(event.input));
  json.field("content", to_valid_utf8(event.content));
  json.field("outcome", fine ? "fine" : "error").end_object();
  on(RawProduced{json.take()});
}

void ReplyAssembler::add_block(std::vector<Block>& blocks, Draft&& draft, Ingress& ingress) const {
  Block& block = blocks.emplace_back();
  switch (draft.kind) {
    case Draft::Kind::text:
      block = TextBlock{ingress.keep_words(to_valid_utf8(draft.bytes))};
      return;
    case Draft::Kind::thinking:
      block = ThinkingBlock{ingress.keep(to_valid_utf8(draft.bytes)), std::move(draft.extra)};
      return;
    case Draft::Kind::raw:
      block = RawBlock{ingress.keep(std::move(draft.bytes))};
      return;
    case Draft::Kind::call:
      break;
  }
  CallBlock& call = block.emplace<CallBlock>();
  call.tool = to_valid_utf8(draft.tool);
  if (call.tool.size() > kToolNameBytesMax) call.tool.resize(kToolNameBytesMax);
  call.provider_id = std::move(draft.extra);
  call.signature = std::move(draft.signature);
  call.fault = tools_.fault_of(key_of_ ? key_of_(call.tool) : call.tool, draft.bytes);
  // The kernel reads what its own tools are called with: it has no store to look into.
  const std::size_t readable = is_reserved_tool(call.tool) ? kStateBytesMax : 0;
  call.input = ingress.keep_readable(std::move(draft.bytes), readable);
}

ModelReplied ReplyAssembler::reply(const CallModel& call, PhaseReplied outcome, Ingress& ingress) {
  ModelReplied replied;
  replied.instance = call.instance;
  replied.effect = call.effect;
  replied.blocks.reserve(blocks_.size());
  for (Draft& draft : blocks_) add_block(replied.blocks, std::move(draft), ingress);
  // A reply without a word on usage is charged what was reserved: it was not free.
  replied.usage = usage_.value_or(call.reserved);
  replied.stop = outcome.stop;
  replied.stop_detail = std::move(outcome.detail);
  replied.stop_metadata = std::move(outcome.metadata);
  replied.model = std::move(outcome.model);
  replied.session = session_;
  return replied;
}

ModelFailed ReplyAssembler::failure(const CallModel& call, PhaseFailed failed) const {
  ModelFailed event;
  event.instance = call.instance;
  event.effect = call.effect;
  event.category = failed.category;
  event.message = to_valid_utf8(failed.message).substr(0, kFailureMessageBytesKept);
  event.retry_after_ms = failed.retry_after_ms;
  event.usage = usage_.value_or(call.reserved);
  event.kind = failed.kind;
  if (text_offset_ + thinking_offset_ + input_offset_ > 0) event.output = Presence::present;
  return event;
}

// Of the model's own words: what a provider's or an executor's tools have found is not its output.
std::uint64_t ReplyAssembler::output_bytes() const {
  return text_offset_ + thinking_offset_ + std::max(input_offset_, call_bytes_);
}

// What has been said has been paid for, whatever the provider says of a stream that was cut.
ModelReplied ReplyAssembler::cut_off(const CallModel& call, Ingress& ingress) {
  Usage used = usage_.value_or(call.reserved);
  used.output_tokens =
      std::max(used.output_tokens, rules_of(kSemantics).estimate_tokens(output_bytes()));
  usage_ = used;
  PhaseReplied outcome;
  outcome.stop = ReplyStop::max_tokens;
  outcome.detail =
      "cut off: more than the " + std::to_string(output_tokens_max_) + " tokens that were allowed";
  return reply(call, std::move(outcome), ingress);
}

// Thoughts alone are no answer.
bool ReplyAssembler::says_nothing(const PhaseReplied& outcome) const {
  if (outcome.stop != ReplyStop::end_turn) return false;
  return std::all_of(blocks_.begin(), blocks_.end(), [](const Draft& draft) {
    const bool blank = draft.bytes.find_first_not_of(" \t\r\n") == std::string::npos;
    return draft.kind == Draft::Kind::thinking || (draft.kind == Draft::Kind::text && blank);
  });
}

Event ReplyAssembler::take(const CallModel& call, Ingress& ingress) {
  PAWL_ASSERT(done_.has_value());
  if (too_large()) {
    return failure(call,
                   {ErrorCategory::validation_error, "the reply is larger than a reply may be",
                    std::nullopt, FailureKind::permanent});
  }
  if (auto* replied = std::get_if<PhaseReplied>(&done_->outcome)) {
    if (!says_nothing(*replied)) return reply(call, std::move(*replied), ingress);
    return failure(call, {ErrorCategory::llm_error, "the model answered nothing", std::nullopt,
                          FailureKind::empty});
  }
  if (auto* failed = std::get_if<PhaseFailed>(&done_->outcome)) {
    return failure(call, std::move(*failed));
  }
  if (beyond_cap()) return cut_off(call, ingress);
  return ModelAborted{call.instance, call.effect, usage_.value_or(call.reserved)};
}

}  // namespace pawl
