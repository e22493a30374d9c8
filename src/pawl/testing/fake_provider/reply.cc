#include "pawl/testing/fake_provider/reply.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::fake {
namespace {

constexpr std::size_t kWordDeltasMax = 64;  // a longer text is cut into so many pieces

std::vector<std::string> cut_before_spaces(const std::string& text) {
  std::vector<std::string> words;
  std::size_t from = 0;
  for (std::size_t at = text.find(' ', 1); at != std::string::npos; at = text.find(' ', at + 1)) {
    words.push_back(text.substr(from, at - from));
    from = at;
  }
  words.push_back(text.substr(from));
  return words;
}

}  // namespace

std::string_view name(FakeStop value) {
  static constexpr std::array<std::string_view, kFakeStops> kNames = {
      "automatic",  "end_turn",       "tool_use",       "max_tokens", "stop_sequence", "refusal",
      "pause_turn", "context_window", "content_filter", "incomplete", "failed"};
  return kNames[static_cast<std::size_t>(value)];
}

FakeReply FakeReply::say(std::string words) {
  FakeReply reply;
  reply.text.push_back(std::move(words));
  return reply;
}

FakeReply FakeReply::call(std::string tool, std::string input) {
  FakeReply reply;
  reply.calls.push_back({std::move(tool), std::move(input), {}});
  return reply;
}

FakeReply FakeReply::fail(int status, std::string message) {
  FakeReply reply;
  reply.error = FakeError{};
  reply.error->status = status;
  reply.error->message = std::move(message);
  return reply;
}

FakeStop effective_stop(const FakeReply& reply) {
  if (reply.stop != FakeStop::automatic) return reply.stop;
  return reply.calls.empty() ? FakeStop::end_turn : FakeStop::tool_use;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += part;
  return out;
}

std::vector<std::string> cut_text(const std::string& text, std::size_t bytes) {
  std::vector<std::string> pieces;
  std::size_t from = 0;
  while (from < text.size()) {
    std::size_t to = std::min(from + std::max<std::size_t>(bytes, 1), text.size());
    // The bytes inside a character all begin with the bits 10.
    while (to < text.size() && (static_cast<unsigned char>(text[to]) & 0xC0U) == 0x80U) ++to;
    pieces.push_back(text.substr(from, to - from));
    from = to;
  }
  return pieces;
}

std::vector<std::string> deltas_of(const std::vector<std::string>& parts) {
  if (parts.size() != 1) return parts;
  const std::string& text = parts.front();
  if (text.empty()) return {};
  const auto spaces = static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
  if (spaces < kWordDeltasMax) return cut_before_spaces(text);
  return cut_text(text, text.size() / kWordDeltasMax + 1);
}

std::uint64_t estimated_tokens(std::size_t bytes) {
  return bytes / 4 + 1;
}

}  // namespace pawl::fake
