#include "pawl/testing/executor_scripted/script_usage.h"

#include <algorithm>
#include <limits>
#include <variant>

namespace pawl {

namespace {

constexpr std::uint64_t kBytesPerToken = 4;
constexpr std::size_t kMessagesSlice = 16;

struct BlockBytes {
  std::uint64_t operator()(const TextBlock& block) const { return block.text.length(); }
  std::uint64_t operator()(const ThinkingBlock& block) const { return block.text.length(); }
  std::uint64_t operator()(const CallBlock& block) const {
    return block.tool.size() + block.input.length();
  }
  std::uint64_t operator()(const RawBlock& block) const { return block.json.length(); }
};

std::uint64_t bytes_sent(const Message& message) {
  std::uint64_t bytes = message.text.length();
  for (const Block& block : message.blocks) {
    bytes = add_saturating(bytes, std::visit(BlockBytes{}, block));
  }
  return bytes;
}

std::uint64_t bytes_around(const PhaseExecutionRequest& request) {
  std::uint64_t bytes = request.system_prompt.size() + request.note.size();
  for (const ToolSpec& tool : request.tools) {
    bytes += tool.name.size() + tool.description.size() + tool.input_schema.size();
  }
  return bytes;
}

}  // namespace

std::uint64_t tokens_of_bytes(std::uint64_t bytes) {
  return bytes / kBytesPerToken + (bytes % kBytesPerToken == 0 ? 0 : 1);
}

Result<std::uint64_t> tokens_sent(const PhaseExecutionRequest& request,
                                  std::uint64_t context_tokens_max) {
  const std::uint64_t tokens_max =
      context_tokens_max == 0 ? std::numeric_limits<std::uint64_t>::max() : context_tokens_max;
  const std::size_t length = request.transcript ? request.transcript->length() : 0;
  const std::size_t counted = std::min(length, kMessagesCountedMax);
  std::uint64_t bytes = bytes_around(request);
  std::size_t loaded = 0;
  // From the end, and no further than the context reaches.
  while (loaded < counted && tokens_of_bytes(bytes) < tokens_max) {
    const std::size_t slice = std::min(kMessagesSlice, counted - loaded);
    PAWL_TRY(const auto messages, request.transcript->load({length - loaded - slice, slice}));
    for (const Message& message : messages) bytes = add_saturating(bytes, bytes_sent(message));
    loaded += slice;
  }
  return std::min(tokens_of_bytes(bytes), tokens_max);
}

}  // namespace pawl
