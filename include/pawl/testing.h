// What a scripted model says, reply by reply. Plain data: read from a document (script_reader.h) or
// written down in C++:
//
//   Script{{ScriptReply::call("charge", R"({"amount": 1})"), ScriptReply::say("All charged.")}}
//
// In texts, thinking and inputs of calls, {{n}} stands for the number of the model call, from 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pawl/executor.h"
#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

inline constexpr std::size_t kScriptRepliesMax = 100'000;
inline constexpr std::size_t kScriptBlocksMax = 1'000;           // calls or raw blocks of one reply
inline constexpr std::size_t kScriptPartsMax = 10'000;           // strings of one text
inline constexpr std::size_t kScriptStringBytesMax = 4U << 20U;  // any one string
inline constexpr std::uint64_t kScriptDelayMaxMs = 24ULL * 3600 * 1000;

struct ScriptCall {
  std::string tool;
  std::string input = "{}";  // JSON, sent as it stands

  friend bool operator==(const ScriptCall&, const ScriptCall&) = default;
};

// A reply that comes about, in the order in which it is sent. A text of one part is streamed in a
// few deltas; a text of several parts has a delta for each.
struct ScriptSpeech {
  std::vector<std::string> thinking = {};
  std::vector<std::string> text = {};
  std::vector<std::string> raw = {};  // JSON of blocks of a kind nobody knows
  std::vector<ScriptCall> calls = {};
  std::optional<ReplyStop> stop = {};  // nullopt: tool_use with calls, end_turn without
  std::string stop_detail = {};

  friend bool operator==(const ScriptSpeech&, const ScriptSpeech&) = default;
};

struct ScriptFailure {
  ErrorCategory category = ErrorCategory::llm_error;
  std::string message = {};
  std::optional<std::uint64_t> retry_after_ms = {};

  friend bool operator==(const ScriptFailure&, const ScriptFailure&) = default;
};

struct ScriptReply {
  std::variant<ScriptSpeech, ScriptFailure> outcome = {};
  std::optional<Usage> usage = {};  // nullopt: estimated; nothing for a failure
  std::uint64_t delay_ms = 0;       // before the first event

  static ScriptReply say(std::string text);
  static ScriptReply call(std::string tool, std::string input = "{}");
  static ScriptReply call_all(std::vector<ScriptCall> calls);
  static ScriptReply fail(ErrorCategory category, std::string message = "scripted failure");

  friend bool operator==(const ScriptReply&, const ScriptReply&) = default;
};

// Conversation replay, thinking, 200,000 tokens.
ExecutorCapabilities scripted_capabilities();

struct Script {
  enum class AfterLast : std::uint8_t { runs_out, repeats_last };

  std::vector<ScriptReply> replies = {};
  std::string name = "scripted";
  AfterLast after_last = AfterLast::runs_out;
  ExecutorCapabilities capabilities = scripted_capabilities();

  friend bool operator==(const Script&, const Script&) = default;
};

// The reply after `position` model calls; nullptr when the script has run out.
const ScriptReply* reply_at(const Script& script, std::uint64_t position);

// "the script pay has 3 replies and was asked for a 4th"
std::string ran_out(const Script& script, std::uint64_t position);

// `text` with {{n}} replaced.
std::string numbered(const std::string& text, std::uint64_t number);

}  // namespace pawl
