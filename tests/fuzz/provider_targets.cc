// Readers of what model providers answer: events out of bytes, replies out of events.
#include <algorithm>
#include <memory>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/sse.h"
#include "pawl/adapter/provider/wire_numbers.h"
#include "pawl/base/utf8.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {
namespace {

using provider::Dialect;
using provider::WireRequest;

constexpr std::size_t kEventBytesMax = 64U << 10U;

// Everything that a reply made happen, as one text.
struct Told {
  std::string events;
  std::size_t calls = 0;
  std::variant<PhaseReplied, PhaseFailed> outcome = PhaseFailed{};
  bool broken = false;  // the protocol was

  void operator()(const PhaseExecutorEvent& event) {
    if (const auto* text = std::get_if<TextDelta>(&event)) events += "t" + text->text;
    if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
      events += "h" + thought->text + thought->signature;
    }
    if (const auto* call = std::get_if<ToolCallProposed>(&event)) {
      ++calls;
      FUZZ_CHECK(!call->input.empty());
      events += "c" + call->tool + call->input + call->provider_id + call->signature;
    }
    if (const auto* raw = std::get_if<RawProduced>(&event)) {
      FUZZ_CHECK(check_json(raw->json));
      events += "r" + raw->json;
    }
    if (const auto* said = std::get_if<UsageReported>(&event)) {
      for (const std::uint64_t count :
           {said->usage.input_tokens, said->usage.output_tokens, said->usage.cache_read_tokens,
            said->usage.cache_creation_tokens}) {
        FUZZ_CHECK(count <= 2 * provider::kTokenCountMax);
        events += "u" + std::to_string(count);
      }
    }
    FUZZ_CHECK(!std::holds_alternative<PhaseDone>(event));
  }
};

void end_reply(provider::ReplyDecoder& decoder, const Status& status, Told& told) {
  told.broken = !status;
  if (told.broken) return;
  told.outcome = decoder.finish(std::ref(told));
  if (const auto* replied = std::get_if<PhaseReplied>(&told.outcome)) {
    FUZZ_CHECK(replied->stop != ReplyStop::tool_use || told.calls > 0);
  } else {
    FUZZ_CHECK(!std::get<PhaseFailed>(told.outcome).message.empty());
    FUZZ_CHECK(told.calls == 0);
  }
}

Told read_stream(const Dialect& dialect, std::string_view bytes, std::size_t piece_bytes) {
  Told told;
  const auto decoder = dialect.decoder({}, {}, WireRequest::Framing::events);
  const auto splitter = provider::make_sse_splitter(kEventBytesMax);
  const provider::WireEventSink sink = [&](std::string_view type, std::string_view data) {
    FUZZ_CHECK(is_valid_utf8(data));
    return decoder->on_event(type, data, std::ref(told));
  };
  Status status = ok();
  while (status && !bytes.empty()) {
    status = splitter->feed(bytes.substr(0, piece_bytes), sink);
    bytes.remove_prefix(std::min(piece_bytes, bytes.size()));
  }
  if (status) status = splitter->finish(sink);
  end_reply(*decoder, status, told);
  return told;
}

// The first byte says how long the pieces are in which the rest comes; 0: it is a whole body.
void fuzz_dialect(const Dialect& dialect, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece_bytes = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  if (piece_bytes == 0) {
    Told told;
    const auto decoder = dialect.decoder({}, {}, WireRequest::Framing::whole);
    const Status status = decoder->on_whole(to_valid_utf8(bytes), std::ref(told));
    return end_reply(*decoder, status, told);
  }
  const Told at_once = read_stream(dialect, bytes, std::max(bytes.size(), std::size_t{1}));
  const Told in_pieces = read_stream(dialect, bytes, piece_bytes);
  FUZZ_CHECK(at_once.broken == in_pieces.broken);
  FUZZ_CHECK(at_once.events == in_pieces.events);
  FUZZ_CHECK(at_once.outcome.index() == in_pieces.outcome.index());
}

}  // namespace

void fuzz_chat(std::string_view bytes) {
  static const auto dialect = provider::make_chat_dialect();
  fuzz_dialect(*dialect, bytes);
}

void fuzz_responses(std::string_view bytes) {
  static const auto dialect = provider::make_responses_dialect();
  fuzz_dialect(*dialect, bytes);
}

}  // namespace pawl::fuzz
