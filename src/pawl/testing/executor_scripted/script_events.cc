#include "pawl/testing/executor_scripted/script_events.h"

#include <algorithm>
#include <utility>

#include "pawl/base/utf8.h"

namespace pawl {

namespace {

constexpr std::size_t kPiecesAimedAt = 4;
constexpr std::size_t kUsualEvents = 4;    // a call, and what leads to it
constexpr std::size_t kPieceBytesMin = 8;  // "Hello." is not worth four deltas

// Appends `text` in pieces of about `bytes` bytes: whole characters, at least one of them.
void append_pieces(std::vector<std::string>& pieces, std::string_view text, std::size_t bytes) {
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size()) {
      const std::size_t step = first_utf8(text.substr(length)).bytes;
      if (length > 0 && length + step > bytes) break;
      length += step;
    }
    pieces.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

std::vector<std::string> deltas_of(const std::vector<std::string>& parts, std::uint64_t number) {
  if (parts.size() == 1) return delta_pieces(numbered(parts.front(), number));
  std::vector<std::string> deltas;
  for (const std::string& part : parts) {
    append_pieces(deltas, numbered(part, number), kDeltaBytesMax);
  }
  return deltas;
}

}  // namespace

std::vector<std::string> delta_pieces(std::string_view text) {
  const std::size_t share = (text.size() + kPiecesAimedAt - 1) / kPiecesAimedAt;
  std::vector<std::string> pieces;
  append_pieces(pieces, text, std::clamp(share, kPieceBytesMin, kDeltaBytesMax));
  return pieces;
}

std::vector<PhaseExecutorEvent> speech_events(const ScriptSpeech& speech, std::uint64_t number) {
  std::vector<PhaseExecutorEvent> events;
  events.reserve(kUsualEvents);
  for (std::string& delta : deltas_of(speech.thinking, number)) {
    events.emplace_back(ThinkingDelta{std::move(delta), {}});
  }
  for (std::string& delta : deltas_of(speech.text, number)) {
    events.emplace_back(TextDelta{std::move(delta)});
  }
  for (const std::string& json : speech.raw) events.emplace_back(RawProduced{json});
  for (std::size_t i = 0; i < speech.calls.size(); ++i) {
    const ScriptCall& call = speech.calls[i];
    std::string input = numbered(call.input, number);
    for (std::string& delta : delta_pieces(input)) {
      events.emplace_back(std::in_place_type<ToolInputDelta>, std::move(delta));
    }
    std::string id = "scripted_" + std::to_string(number) + "_" + std::to_string(i + 1);
    events.emplace_back(std::in_place_type<ToolCallProposed>, call.tool, std::move(input),
                        std::move(id));
  }
  return events;
}

std::uint64_t bytes_written(const PhaseExecutorEvent& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) return text->text.size();
  if (const auto* thinking = std::get_if<ThinkingDelta>(&event)) return thinking->text.size();
  if (const auto* input = std::get_if<ToolInputDelta>(&event)) return input->text.size();
  if (const auto* call = std::get_if<ToolCallProposed>(&event)) return call->tool.size();
  if (const auto* raw = std::get_if<RawProduced>(&event)) return raw->json.size();
  return 0;
}

}  // namespace pawl
