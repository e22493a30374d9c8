// Streams of Anthropic, written by hand: there is no recorded overload, pause or error inside one.
#pragma once

#include <string>
#include <string_view>

#include "pawl/json.h"

namespace pawl::provider {

class AnthropicStream {
 public:
  AnthropicStream& event(std::string_view type, std::string_view members = "") {
    bytes += "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" +
             std::string(members) + "}\n\n";
    return *this;
  }
  AnthropicStream& start(std::string_view usage = R"({"input_tokens":10,"output_tokens":1})") {
    return event("message_start", R"(,"message":{"id":"m","model":"claude-test","usage":)" +
                                      std::string(usage) + "}");
  }
  AnthropicStream& block(int index, std::string_view content_block) {
    return event("content_block_start", ",\"index\":" + std::to_string(index) +
                                            ",\"content_block\":" + std::string(content_block));
  }
  AnthropicStream& delta(int index, std::string_view kind, std::string_view key,
                         std::string_view text) {
    std::string quoted;
    append_json_string(quoted, text);
    return event("content_block_delta", ",\"index\":" + std::to_string(index) +
                                            ",\"delta\":{\"type\":\"" + std::string(kind) +
                                            "\",\"" + std::string(key) + "\":" + quoted + "}");
  }
  AnthropicStream& stop(int index) {
    return event("content_block_stop", ",\"index\":" + std::to_string(index));
  }
  AnthropicStream& text(int index, std::string_view text) {
    block(index, R"({"type":"text","text":""})");
    return delta(index, "text_delta", "text", text).stop(index);
  }
  AnthropicStream& tool(int index, std::string_view name, std::string_view input) {
    std::string quoted;
    append_json_string(quoted, name);
    block(index, R"({"type":"tool_use","id":"toolu_)" + std::to_string(index) + R"(","name":)" +
                     quoted + R"(,"input":{}})");
    return delta(index, "input_json_delta", "partial_json", input).stop(index);
  }
  AnthropicStream& end(std::string_view reason, std::string_view usage = R"({"output_tokens":7})") {
    event("message_delta", R"(,"delta":{"stop_reason":")" + std::string(reason) +
                               R"(","stop_sequence":null},"usage":)" + std::string(usage));
    return event("message_stop");
  }

  std::string bytes;
};

}  // namespace pawl::provider
