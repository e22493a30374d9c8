#include "pawl/testing/executor_scripted/script_reader.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "pawl/content.h"
#include "pawl/port/call_input.h"

namespace pawl {

namespace {

constexpr IntRange kDelayMs{0, static_cast<std::int64_t>(kScriptDelayMaxMs)};
constexpr IntRange kRetryAfterMs{0, 30LL * 24 * 3600 * 1000};
constexpr IntRange kTokens{0, 1'000'000'000'000};
constexpr IntRange kContextTokens{0, 1'000'000'000};

using Faults = std::vector<Fault>;

std::string numbered_name(std::string_view what, std::size_t index) {
  return std::string(what) + " " + std::to_string(index + 1);
}

void check_length(MapReader& reader, std::string_view key, const Node& at,
                  const std::string& text) {
  if (text.size() <= kScriptStringBytesMax) return;
  reader.fault(at.mark(), quoted(key) + " has " + std::to_string(text.size()) +
                              " bytes and may have " + std::to_string(kScriptStringBytesMax));
}

// A string, or a list of strings.
void take_parts(MapReader& reader, std::string_view key, std::vector<std::string>& out) {
  if (!reader.take_strings(key, kScriptPartsMax, out)) return;
  for (const std::string& part : out) check_length(reader, key, *reader.take(key), part);
}

// Calls `read(item, index)` for the value of `key`, or for each of a list of such values.
template <class Read>
void take_blocks(MapReader& reader, std::string_view key, Read read) {
  const Node* node = reader.take(key);
  if (node == nullptr) return;
  if (node->kind() != Node::Kind::list) return read(*node, 0);
  if (node->items().size() > kScriptBlocksMax) {
    return reader.fault(node->mark(),
                        quoted(key) + " may list " + std::to_string(kScriptBlocksMax) + " blocks");
  }
  std::size_t index = 0;
  for (const Node& item : node->items()) read(item, index++);
}

// A string that is nothing but the mark becomes a number. In compact JSON a quoted mark is always a
// whole string; before a colon it is a key.
std::string json_template(const Node& input) {
  constexpr std::string_view kQuotedMark = R"("{{n}}")";
  std::string json = to_json(input);
  for (std::size_t at = json.find(kQuotedMark); at != std::string::npos;
       at = json.find(kQuotedMark, at + 1)) {
    const std::size_t end = at + kQuotedMark.size();
    if (end < json.size() && json[end] == ':') continue;
    json.replace(at, kQuotedMark.size(), kQuotedMark.substr(1, kQuotedMark.size() - 2));
  }
  return json;
}

void take_input(MapReader& reader, std::string& out) {
  const CallInput input = take_call_input(reader);
  if (input.map != nullptr) out = json_template(*input.map);
  if (input.raw == nullptr) return;
  reader.take_string("raw_input", out);
  check_length(reader, "raw_input", *input.raw, out);
}

ScriptCall read_call(const Node& node, Faults& faults, std::string where) {
  ScriptCall call;
  MapReader reader(node, faults, std::move(where));
  if (reader.require_string("tool", call.tool) &&
      (call.tool.empty() || call.tool.size() > kToolNameBytesMax)) {
    reader.fault(node.find("tool")->mark(),
                 "\"tool\" must have 1 to " + std::to_string(kToolNameBytesMax) + " bytes");
  }
  take_input(reader, call.input);
  reader.finish();
  return call;
}

template <class Word>
std::vector<std::string_view> all_words() {
  std::vector<std::string_view> words;
  words.reserve(kCount<Word>);
  for (std::uint8_t i = 0; i < kCount<Word>; ++i) words.push_back(name(static_cast<Word>(i)));
  return words;
}

ScriptFailure read_failure(const Node& node, Faults& faults, std::string where) {
  ScriptFailure failure;
  MapReader reader(node, faults, std::move(where));
  if (std::string category; reader.require_string("category", category)) {
    if (const auto known = parse_error_category(category)) {
      failure.category = *known;
    } else {
      reader.fault(node.find("category")->mark(), known.error().message);
    }
  }
  failure.message = "scripted " + std::string(name(failure.category));
  reader.take_string("message", failure.message);
  std::uint64_t retry_after_ms = 0;
  if (reader.take_duration_ms("retry_after", kRetryAfterMs, retry_after_ms)) {
    failure.retry_after_ms = retry_after_ms;
  }
  reader.finish();
  return failure;
}

Usage read_usage(const Node& node, Faults& faults, std::string where) {
  Usage usage;
  MapReader reader(node, faults, std::move(where));
  reader.take_int("input", kTokens, usage.input_tokens);
  reader.take_int("output", kTokens, usage.output_tokens);
  reader.take_int("cache_read", kTokens, usage.cache_read_tokens);
  reader.take_int("cache_creation", kTokens, usage.cache_creation_tokens);
  reader.take_int("cache_creation_1h", kTokens, usage.cache_creation_1h_tokens);
  reader.finish();
  return usage;
}

ScriptSpeech read_speech(MapReader& reader, Faults& faults, const std::string& where) {
  ScriptSpeech speech;
  take_parts(reader, "thinking", speech.thinking);
  take_parts(reader, "text", speech.text);
  take_blocks(reader, "raw", [&](const Node& node, std::size_t) {
    if (node.kind() == Node::Kind::map) return speech.raw.push_back(to_json(node));
    reader.fault(node.mark(), R"("raw" must be a map, found )" + describe_kind(node));
  });
  take_blocks(reader, "call", [&](const Node& node, std::size_t index) {
    speech.calls.push_back(read_call(node, faults, where + ", " + numbered_name("call", index)));
  });
  if (const auto stop = reader.take_choice("stop", all_words<ReplyStop>())) {
    speech.stop = static_cast<ReplyStop>(*stop);
  }
  reader.take_string("stop_detail", speech.stop_detail);
  return speech;
}

void refuse_speech_with_error(MapReader& reader, const Node& reply) {
  static constexpr std::array<std::string_view, 6> kSpeech = {"text", "thinking", "call",
                                                              "raw",  "stop",     "stop_detail"};
  for (const Member& member : reply.members()) {
    if (std::find(kSpeech.begin(), kSpeech.end(), member.key) == kSpeech.end()) continue;
    reader.fault(member.key_mark, quoted(member.key) + R"( cannot be combined with "error")",
                 "write two replies");
  }
}

ScriptReply read_reply(const Node& node, Faults& faults, const std::string& where) {
  ScriptReply reply;
  MapReader reader(node, faults, where);
  if (node.kind() == Node::Kind::map && node.members().empty()) {
    reader.fault(node.mark(), "an empty reply", R"(write at least text: "")");
  }
  reply.outcome = read_speech(reader, faults, where);
  if (const Node* error = reader.take("error")) {
    reply.outcome = read_failure(*error, faults, where + ", error");
    refuse_speech_with_error(reader, node);
  }
  if (const Node* usage = reader.take("usage")) {
    reply.usage = read_usage(*usage, faults, where + ", usage");
  }
  reader.take_duration_ms("delay", kDelayMs, reply.delay_ms);
  bool ignored = false;  // read_replies() has looked at it
  reader.take_bool("endless", ignored);
  reader.finish();
  return reply;
}

void read_replies(const Node& list, Faults& faults, Script& script) {
  const std::vector<Node>& items = list.items();
  if (items.empty() || items.size() > kScriptRepliesMax) {
    return add_fault(faults, {list.mark(),
                              "script: \"replies\" must have 1 to " +
                                  std::to_string(kScriptRepliesMax) + " replies",
                              {}});
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string where = numbered_name("reply", i);
    script.replies.push_back(read_reply(items[i], faults, where));
    const Node* endless = items[i].find("endless");
    if (endless == nullptr || endless->as_bool() != true) continue;
    script.after_last = Script::AfterLast::repeats_last;
    if (&items[i] == &items.back()) continue;
    add_fault(faults, {endless->mark(), where + ": an endless reply must be the last one", {}});
  }
}

// A declaration is whole: what it does not name is not supported.
ExecutorCapabilities read_capabilities(const Node& node, Faults& faults) {
  ExecutorCapabilities bits;
  const std::size_t faults_before = faults.size();
  MapReader reader(node, faults, "capabilities");
  reader.take_bool("supports_native_subagents", bits.supports_native_subagents);
  reader.take_bool("supports_claude_md_native_walk_up", bits.supports_claude_md_native_walk_up);
  reader.take_bool("supports_native_file_tools", bits.supports_native_file_tools);
  reader.take_bool("supports_session_resume", bits.supports_session_resume);
  reader.take_bool("supports_conversation_replay", bits.supports_conversation_replay);
  reader.take_bool("supports_thinking", bits.supports_thinking);
  reader.take_bool("supports_image_input", bits.supports_image_input);
  reader.take_int("max_context_tokens", kContextTokens, bits.max_context_tokens);
  reader.finish();
  const auto checked = check_capabilities(bits);
  if (!checked && faults.size() == faults_before) {
    reader.fault(node.mark(), checked.error().message,
                 "set one of supports_session_resume and supports_conversation_replay to true");
  }
  return bits;
}

// An insertion sort, because it is stable and there are at most kFaultsMax; clang warns about what
// libstdc++ 12 does inside std::stable_sort.
void in_document_order(std::vector<Fault>& faults) {
  const auto before = [](const Fault& a, const Fault& b) {
    return std::tie(a.mark.line, a.mark.column) < std::tie(b.mark.line, b.mark.column);
  };
  for (auto it = faults.begin(); it != faults.end(); ++it) {
    std::rotate(std::upper_bound(faults.begin(), it, *it, before), it, std::next(it));
  }
}

}  // namespace

ScriptReading read_script(const Node& root, std::string name) {
  ScriptReading reading;
  Script script;
  script.name = std::move(name);
  MapReader reader(root, reading.faults, "script");
  if (const Node* capabilities = reader.take("capabilities")) {
    script.capabilities = read_capabilities(*capabilities, reading.faults);
  }
  reader.require("replies");
  if (const Node* replies = reader.take_list("replies")) {
    read_replies(*replies, reading.faults, script);
  }
  reader.finish();
  in_document_order(reading.faults);
  if (reading.faults.empty()) reading.script = std::move(script);
  return reading;
}

}  // namespace pawl
