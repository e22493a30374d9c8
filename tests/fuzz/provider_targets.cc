// Readers of what providers send. The first byte says in how large pieces the rest arrives; what is
// read must not depend on it.
#include "pawl/adapter/provider/common/conversation.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/exchange.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {
namespace {

using provider::Dialect;
using provider::WireOptions;
using provider::WireSplitter;

constexpr std::size_t kSmallEvent = 4'096;

// What a splitter says, as one text.
std::string split(WireSplitter& splitter, std::string_view bytes, std::size_t piece) {
  std::string said;
  const provider::WireEventSink sink = [&](std::string_view type, std::string_view data) {
    FUZZ_CHECK(is_valid_utf8(data));
    FUZZ_CHECK(data.size() <= 3 * kSmallEvent);  // A byte may become a character of three.
    said += std::string(type) + "|" + std::string(data) + "\n";
    return ok();
  };
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (!splitter.feed(bytes.substr(at, piece), sink)) return said + "too large";
  }
  FUZZ_CHECK(splitter.finish(sink));
  return said;
}

std::size_t piece_of(std::string_view& bytes) {
  if (bytes.empty()) return 1;
  const auto piece = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return piece == 0 ? 1 : piece;
}

// What a decoder says, as one text.
struct Listener {
  std::string said;
  std::size_t calls = 0;
  void operator()(const PhaseExecutorEvent& event) {
    if (const auto* text = std::get_if<TextDelta>(&event)) said += "t" + text->text;
    if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
      said += "k" + thought->text + "|" + thought->signature;
    }
    if (const auto* raw = std::get_if<RawProduced>(&event)) {
      FUZZ_CHECK(check_json(raw->json));
      said += "r" + raw->json;
    }
    if (const auto* call = std::get_if<ToolCallProposed>(&event)) {
      FUZZ_CHECK(!call->input.empty());
      ++calls;
      said += "c" + call->tool + call->input;
    }
    if (const auto* reported = std::get_if<UsageReported>(&event)) {
      FUZZ_CHECK(total_tokens(reported->usage) <= 4 * provider::kTokenCountMax);
    }
    FUZZ_CHECK(!std::holds_alternative<PhaseDone>(event));
  }
};

// When a decoder proposes calls: some wait for the end of the reply, some for that of the call.
enum class Proposes : std::uint8_t { at_the_end, on_the_way };

std::string decode(const Dialect& dialect, std::string_view bytes, std::size_t piece,
                   Proposes proposes) {
  Listener listener;
  const PhaseEventSink sink = [&](const PhaseExecutorEvent& event) { listener(event); };
  WireOptions options;
  options.name = "some";
  const auto decoder = dialect.decoder({}, options);
  const auto splitter = provider::make_sse_splitter();
  Status status = ok();
  for (std::size_t at = 0; at < bytes.size() && status; at += piece) {
    status = splitter->feed(bytes.substr(at, piece), [&](auto type, auto data) {
      return decoder->on_event(type, data, sink);
    });
  }
  const auto outcome = decoder->finish(sink);
  if (const auto* replied = std::get_if<PhaseReplied>(&outcome)) {
    FUZZ_CHECK(replied->model.starts_with("some/"));
    FUZZ_CHECK(replied->stop != ReplyStop::tool_use || listener.calls > 0);
    return listener.said + "=" + std::string(name(replied->stop));
  }
  FUZZ_CHECK(is_valid_utf8(std::get<PhaseFailed>(outcome).message));
  FUZZ_CHECK(listener.calls == 0 || proposes == Proposes::on_the_way);
  return listener.said + "!" + std::get<PhaseFailed>(outcome).message;
}

void check_decoder(const Dialect& dialect, std::string_view bytes, Proposes proposes) {
  const std::size_t piece = piece_of(bytes);
  FUZZ_CHECK(decode(dialect, bytes, piece, proposes) ==
             decode(dialect, bytes, bytes.size() + 1, proposes));
  Listener listener;
  const auto decoder = dialect.decoder({}, {});
  const PhaseEventSink sink = [&](const PhaseExecutorEvent& event) { listener(event); };
  if (decoder->on_whole(bytes, sink)) (void)decoder->finish(sink);
  HttpResponseHead head;
  head.status = 400;
  FUZZ_CHECK(is_valid_utf8(dialect.failure_of(head, bytes, 0).message));
}

}  // namespace

void fuzz_sse(std::string_view bytes) {
  const std::size_t piece = piece_of(bytes);
  for (const auto make : {provider::make_sse_splitter, provider::make_line_splitter}) {
    FUZZ_CHECK(split(*make(kSmallEvent), bytes, piece) ==
               split(*make(kSmallEvent), bytes, bytes.size() + 1));
  }
}

void fuzz_anthropic(std::string_view bytes) {
  static const auto dialect = provider::make_anthropic_dialect();
  check_decoder(*dialect, bytes, Proposes::on_the_way);
}

void fuzz_gemini(std::string_view bytes) {
  static const auto dialect = provider::make_gemini_dialect();
  check_decoder(*dialect, bytes, Proposes::on_the_way);
}

void fuzz_responses(std::string_view bytes) {
  static const auto dialect = provider::make_responses_dialect();
  check_decoder(*dialect, bytes, Proposes::at_the_end);
}

void fuzz_chat(std::string_view bytes) {
  static const auto dialect = provider::make_chat_dialect();
  check_decoder(*dialect, bytes, Proposes::at_the_end);
}

// Inputs of calls, which are sent back to providers as objects.
void fuzz_input(std::string_view bytes) {
  const auto json = parse_json(provider::object_input(bytes));
  FUZZ_CHECK(json && json->is_object());
}

}  // namespace pawl::fuzz
