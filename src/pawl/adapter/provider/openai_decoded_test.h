// What a decoder made of a response, as blocks: the same whatever pieces it came in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/sse.h"
#include "pawl/base/json.h"
#include "pawl/base/rng.h"

namespace pawl::provider::openai_test {

struct DecodedBlock {
  std::string kind;  // text, thinking, call, raw
  std::string text;  // of a call: its input
  std::string tool = {};
  std::string id = {};
  std::string signature = {};
  friend bool operator==(const DecodedBlock&, const DecodedBlock&) = default;
};

struct Decoded {
  std::vector<DecodedBlock> blocks;
  std::optional<Usage> usage;
  std::string session;
  std::optional<PhaseReplied> replied;
  std::optional<PhaseFailed> failed;
  std::string protocol_error;  // of on_event() or on_whole()
  std::string live_input;      // of tools, all of it
  std::uint64_t progress = 0;
  std::size_t ends = 0;  // PhaseDone is not the decoder's to say

  std::string text() const {
    std::string all;
    for (const DecodedBlock& block : blocks) {
      if (block.kind == "text") all += block.text;
    }
    return all;
  }
  // For comparisons and messages: everything that a journal would keep.
  std::string shown() const {
    std::string out;
    for (const DecodedBlock& b : blocks) {
      out += b.kind + "|" + b.text + "|" + b.tool + "|" + b.id + "|" + b.signature + "\n";
    }
    if (usage) {
      out += std::to_string(usage->input_tokens) + " " + std::to_string(usage->output_tokens) +
             " " + std::to_string(usage->cache_read_tokens) + " " +
             std::to_string(usage->cache_creation_tokens) + "\n";
    }
    if (replied) {
      out += std::string(name(replied->stop)) + "|" + replied->detail + "|" + replied->model;
    }
    if (failed) {
      out += std::string(name(failed->category)) + "|" + std::string(name(failed->kind)) + "|" +
             failed->message;
    }
    return out + "|" + protocol_error;
  }
};

// Puts events together as the runtime does it: equal neighbours are one block, and a signature ends
// a thought.
class DecodedCollector {
 public:
  explicit DecodedCollector(Decoded& decoded) : decoded_(decoded) {}

  void operator()(PhaseExecutorEvent event) {
    std::visit([this](auto&& one) { on(one); }, event);
  }

 private:
  void append(const char* kind, const std::string& text) {
    auto& blocks = decoded_.blocks;
    if (blocks.empty() || blocks.back().kind != kind || !blocks.back().signature.empty()) {
      blocks.push_back({kind, ""});
    }
    blocks.back().text += text;
  }
  void on(const TextDelta& event) { append("text", event.text); }
  void on(const ThinkingDelta& event) {
    append("thinking", event.text);
    decoded_.blocks.back().signature = event.signature;
  }
  void on(const ToolInputDelta& event) { decoded_.live_input += event.text; }
  void on(const ToolCallProposed& event) {
    decoded_.blocks.push_back(
        {"call", event.input, event.tool, event.provider_id, event.signature});
  }
  void on(const RawProduced& event) { decoded_.blocks.push_back({"raw", event.json}); }
  void on(const UsageReported& event) { decoded_.usage = event.usage; }
  void on(const SessionStarted& event) { decoded_.session = event.session; }
  void on(const PhaseDone&) { ++decoded_.ends; }
  void on(const PhaseLog&) {}
  void on(const NativeToolResult&) {}

  Decoded& decoded_;
};

inline void end_decoding(ReplyDecoder& decoder, const Status& status, Decoded& decoded) {
  decoded.progress = decoder.progress();
  if (!status) {
    decoded.protocol_error = status.error().message;
    return;
  }
  auto outcome = decoder.finish(DecodedCollector(decoded));
  if (auto* replied = std::get_if<PhaseReplied>(&outcome)) decoded.replied = *replied;
  if (auto* failed = std::get_if<PhaseFailed>(&outcome)) decoded.failed = *failed;
}

// A streamed response in the pieces given.
inline Decoded decode_pieces(ReplyDecoder& decoder, const std::vector<std::string_view>& pieces) {
  Decoded decoded;
  const auto splitter = make_sse_splitter();
  const DecodedCollector collector(decoded);
  const WireEventSink sink = [&](std::string_view type, std::string_view data) {
    return decoder.on_event(type, data, collector);
  };
  Status status = ok();
  for (const std::string_view piece : pieces) {
    if (status) status = splitter->feed(piece, sink);
  }
  if (status) status = splitter->finish(sink);
  end_decoding(decoder, status, decoded);
  return decoded;
}

inline Decoded decode_stream(ReplyDecoder& decoder, std::string_view body) {
  return decode_pieces(decoder, {body});
}

inline Decoded decode_whole(ReplyDecoder& decoder, std::string_view body) {
  Decoded decoded;
  const Status status = decoder.on_whole(body, DecodedCollector(decoded));
  end_decoding(decoder, status, decoded);
  return decoded;
}

// Events as `data:` lines.
inline std::string as_events(const std::vector<std::string>& payloads) {
  std::string body;
  for (const std::string& payload : payloads) body += "data: " + payload + "\n\n";
  return body;
}

inline std::vector<std::string_view> random_pieces(Rng& rng, std::string_view body,
                                                   std::uint64_t bytes_max) {
  std::vector<std::string_view> pieces;
  while (!body.empty()) {
    const std::size_t size = 1 + rng.below(bytes_max);
    pieces.push_back(body.substr(0, size));
    body.remove_prefix(pieces.back().size());
  }
  return pieces;
}

}  // namespace pawl::provider::openai_test
