// The four wires as a property sees them: what their providers write, and who judges a request.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/anthropic/anthropic_validator_test.h"
#include "pawl/adapter/provider/chat/chat_validator_test.h"
#include "pawl/adapter/provider/common/random_words_test.h"
#include "pawl/adapter/provider/gemini/gemini_request.h"
#include "pawl/adapter/provider/gemini/gemini_validator_test.h"
#include "pawl/adapter/provider/responses/responses_validator_test.h"

namespace pawl::provider {

inline RandomConversationRules anthropic_rules() {
  RandomConversationRules rules;
  rules.own = "anthropic";
  rules.own_signatures = {"c2lnbmF0dXJl"};
  rules.own_raw_blocks = {R"({"type":"redacted_thinking","data":"AAAA"})",
                          R"({"type":"something_new","cache_control":{"type":"ephemeral"},"x":1})",
                          "[1]"};
  for (const char* id : {"srv_0", "srv_1"}) {
    rules.own_raw_blocks.push_back(R"({"type":"server_tool_use","id":")" + std::string(id) +
                                   R"(","name":"web_search","input":{}})");
    rules.own_raw_blocks.push_back(R"({"type":"web_search_tool_result","tool_use_id":")" +
                                   std::string(id) + R"(","content":[]})");
  }
  rules.media_types = {"image/png", "IMAGE/JPG", "image/webp; q=1", "application/pdf"};
  return rules;
}

inline RandomConversationRules gemini_rules() {
  RandomConversationRules rules;
  rules.own = "gemini";
  rules.own_signatures = {"c2lnbmF0dXJl"};
  rules.own_raw_blocks = {R"({"executableCode":{"code":"1"}})", "[1]"};
  rules.media_types = {"image/png", "IMAGE/JPG", "image/webp; q=1", "application/pdf"};
  return rules;
}

inline RandomConversationRules openai_rules() {
  RandomConversationRules rules;
  rules.own = "openai";
  rules.own_signatures = {
      R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"})",
      R"({"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"x"}]})",
      "not JSON", R"({"type":"message"})"};
  rules.own_raw_blocks = {R"({"type":"web_search_call","id":"ws_1","status":"completed"})",
                          R"({"type":"custom_tool_call","call_id":"c1","name":"x","input":""})",
                          R"({"type":"shell_call","call_id":"s1"})",
                          R"({"type":"shell_call_output","call_id":"s1"})",
                          R"({"type":"computer_call","call_id":"cc"})",
                          R"({"no":"type"})"};
  rules.media_types = {"image/png", "IMAGE/JPG; q=1", "application/pdf"};
  return rules;
}

inline std::vector<std::string> anthropic_models() {
  return {"claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-3-7-sonnet-20250219",
          "claude-3-5-haiku-20241022", "claude-sonnet-5"};
}
inline std::vector<std::string> gemini_models() {
  return {"gemini-3-pro-preview", "gemini-2.5-flash", "gemini-2.0-flash", "gemini-3-flash"};
}
inline std::vector<std::string> openai_models() {
  return {"gpt-5", "gpt-5.2-codex", "o3", "llama-4"};
}

inline std::string joined(const std::vector<std::string>& faults) {
  std::string all;
  for (const std::string& fault : faults) all += fault + "; ";
  return all;
}

// What the provider would refuse of a body; empty: nothing.
inline std::string anthropic_wire_fault(const std::string& body, const WireOptions&) {
  return joined(AnthropicValidator::faults(body));
}
inline std::string gemini_wire_fault(const std::string& body, const WireOptions& options) {
  using Signatures = GeminiValidator::Signatures;
  const bool demanded = gemini_generation_of(options.model.id) == GeminiGeneration::level;
  return joined(
      GeminiValidator::faults(body, demanded ? Signatures::demanded : Signatures::optional));
}
inline std::string responses_wire_fault(const std::string& body, const WireOptions&) {
  const auto json = parse_json(body);
  return json ? openai_test::responses_fault(*json, openai_test::Author::pawl)
              : json.error().message;
}
inline std::string chat_wire_fault(const std::string& body, const WireOptions&) {
  const auto json = parse_json(body);
  return json ? openai_test::chat_fault(*json, openai_test::Author::pawl) : json.error().message;
}

struct WireUnderTest {
  RandomConversationRules rules;  // `own` is the provider's name
  std::vector<std::string> models;
  std::unique_ptr<Dialect> dialect;
  std::string (*fault)(const std::string& body, const WireOptions& options);
  enum class Sessions : std::uint8_t { none, kept } sessions = Sessions::none;
  enum class Servers : std::uint8_t { one, many } servers = Servers::one;  // see chat_quirks.h
};

inline std::vector<WireUnderTest> wires_under_test() {
  using Sessions = WireUnderTest::Sessions;
  using Servers = WireUnderTest::Servers;
  RandomConversationRules chat = openai_rules();
  chat.own = "openrouter";
  std::vector<WireUnderTest> wires;
  wires.push_back(
      {anthropic_rules(), anthropic_models(), make_anthropic_dialect(), anthropic_wire_fault});
  wires.push_back({gemini_rules(), gemini_models(), make_gemini_dialect(), gemini_wire_fault});
  wires.push_back({openai_rules(), openai_models(), make_responses_dialect(), responses_wire_fault,
                   Sessions::kept});
  wires.push_back(
      {chat, openai_models(), make_chat_dialect(), chat_wire_fault, Sessions::none, Servers::many});
  return wires;
}

}  // namespace pawl::provider
