#include "pawl/testing/fake_provider/script_reader.h"

#include <array>
#include <utility>

#include "pawl/port/call_input.h"

namespace pawl::fake {
namespace {

constexpr IntRange kDelayMs{0, 24LL * 3600 * 1000};
constexpr IntRange kTokens{0, 1'000'000'000'000};
constexpr IntRange kNumber{1, 1'000'000'000};
constexpr IntRange kErrorStatus{400, 599};
constexpr std::size_t kHeadersMax = 100;

using Faults = std::vector<Fault>;

std::vector<std::string_view> all_stops() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kFakeStops; ++i) names.push_back(name(static_cast<FakeStop>(i)));
  return names;
}

void take_input(MapReader& reader, std::string& out) {
  const CallInput input = take_call_input(reader);
  if (input.map != nullptr) out = to_json(*input.map);
  if (input.raw != nullptr) reader.take_string("raw_input", out);
}

FakeCall read_call(const Node& node, Faults& faults, std::string where) {
  FakeCall call;
  MapReader reader(node, faults, std::move(where));
  reader.require_string("tool", call.tool);
  reader.take_string("id", call.id);
  take_input(reader, call.input);
  reader.finish();
  return call;
}

void take_calls(MapReader& reader, Faults& faults, const std::string& where, FakeReply& reply) {
  const Node* node = reader.take("call");
  if (node == nullptr) return;
  if (node->kind() != Node::Kind::list) {
    return reply.calls.push_back(read_call(*node, faults, where + ", call 1"));
  }
  if (node->items().size() > kReplyCallsMax) {
    return reader.fault(node->mark(),
                        "\"call\" may list " + std::to_string(kReplyCallsMax) + " calls");
  }
  for (const Node& item : node->items()) {
    const std::string number = std::to_string(reply.calls.size() + 1);
    reply.calls.push_back(read_call(item, faults, where + ", call " + number));
  }
}

FakeUsage read_usage(const Node& node, Faults& faults, std::string where) {
  FakeUsage usage;
  MapReader reader(node, faults, std::move(where));
  reader.take_int("input", kTokens, usage.input);
  reader.take_int("output", kTokens, usage.output);
  reader.take_int("cache_read", kTokens, usage.cache_read);
  reader.take_int("cache_creation", kTokens, usage.cache_creation);
  reader.take_int("cache_creation_1h", kTokens, usage.cache_creation_1h);
  reader.take_int("thinking", kTokens, usage.thinking);
  if (usage.thinking > usage.output) {
    reader.fault(node.mark(), R"("thinking" is a part of "output" and cannot be more)");
  }
  reader.finish();
  return usage;
}

FakeError read_error(const Node& node, Faults& faults, std::string where) {
  FakeError error;
  MapReader reader(node, faults, std::move(where));
  reader.take_int("status", kErrorStatus, error.status);
  error.message = "scripted error " + std::to_string(error.status);
  reader.take_string("message", error.message);
  reader.take_string("type", error.type);
  reader.take_string("code", error.code);
  reader.take_string("param", error.param);
  if (const Node* after = reader.take("retry_after"))
    error.retry_after = std::string(after->text());
  reader.finish();
  return error;
}

ReplyCondition read_condition(const Node& node, Faults& faults, std::string where) {
  ReplyCondition condition;
  MapReader reader(node, faults, std::move(where));
  reader.take_string("model", condition.model);
  reader.take_string("user", condition.user);
  reader.take_int("nth", kNumber, condition.nth);
  reader.finish();
  return condition;
}

// A line end in a header would be another header; a script that wants broken heads has faults.
void take_headers(MapReader& reader, Headers& out) {
  const Node* node = reader.take_map("headers");
  if (node == nullptr) return;
  for (const Member& member : node->members()) {
    const std::string value(member.value.text());
    const bool breaks = (member.key + value).find_first_of("\r\n") != std::string::npos;
    if (breaks || out.size() >= kHeadersMax) {
      reader.fault(member.key_mark, breaks ? "a header has no line ends" : "too many headers");
      continue;
    }
    out.push_back({member.key, value});
  }
}

void refuse_speech_with_error(MapReader& reader, const Node& reply) {
  static constexpr std::array<std::string_view, 8> kSpeech = {
      "text", "thinking", "signature", "redacted_thinking", "call", "stop", "stop_detail", "usage"};
  for (const std::string_view key : kSpeech) {
    const Node* value = reply.find(key);
    if (value == nullptr) continue;
    reader.fault(value->mark(), quoted(key) + R"( cannot be combined with "error")",
                 "write two replies");
  }
}

FakeReply read_reply(MapReader& reader, const Node& node, Faults& faults,
                     const std::string& where) {
  FakeReply reply;
  reader.take_strings("thinking", kReplyPartsMax, reply.thinking);
  reader.take_string("signature", reply.signature);
  reader.take_string("redacted_thinking", reply.redacted_thinking);
  reader.take_strings("text", kReplyPartsMax, reply.text);
  take_calls(reader, faults, where, reply);
  if (const auto stop = reader.take_choice("stop", all_stops())) {
    reply.stop = static_cast<FakeStop>(*stop);
  }
  reader.take_string("stop_detail", reply.stop_detail);
  if (const Node* usage = reader.take("usage")) {
    reply.usage = read_usage(*usage, faults, where + ", usage");
  }
  if (const Node* error = reader.take("error")) {
    reply.error = read_error(*error, faults, where + ", error");
    refuse_speech_with_error(reader, node);
  }
  take_headers(reader, reply.headers);
  reader.take_duration_ms("delay", kDelayMs, reply.delay_ms);
  reader.take_duration_ms("delta_delay", kDelayMs, reply.delta_delay_ms);
  if (const Node* fault = reader.take("fault")) {
    reply.fault = read_fault(*fault, faults, where + ", fault");
  }
  return reply;
}

ScriptedReply read_scripted(const Node& node, Faults& faults, const std::string& where) {
  ScriptedReply scripted;
  MapReader reader(node, faults, where);
  if (node.kind() == Node::Kind::map && node.members().empty()) {
    reader.fault(node.mark(), "an empty reply", R"(write at least text: "")");
  }
  if (const Node* when = reader.take("when")) {
    scripted.when = read_condition(*when, faults, where + ", when");
  }
  scripted.reply = read_reply(reader, node, faults, where);
  reader.take_int("times", kNumber, scripted.times);
  bool endless = false;
  reader.take_bool("endless", endless);
  if (endless && node.find("times") != nullptr) {
    reader.fault(node.find("times")->mark(), R"("times" and "endless" exclude each other)");
  }
  if (endless) scripted.times = kForEver;
  reader.finish();
  return scripted;
}

void read_replies(MapReader& reader, Faults& faults, FakeScript& script) {
  const Node* list = reader.take_list("replies");
  if (list == nullptr) return;
  if (list->items().empty() || list->items().size() > kScriptedRepliesMax) {
    return reader.fault(list->mark(), "\"replies\" must have 1 to " +
                                          std::to_string(kScriptedRepliesMax) + " replies");
  }
  for (std::size_t i = 0; i < list->items().size(); ++i) {
    script.replies.push_back(
        read_scripted(list->items()[i], faults, "reply " + std::to_string(i + 1)));
  }
}

}  // namespace

FakeScriptReading read_fake_script(const Node& root, std::string name) {
  FakeScriptReading reading;
  FakeScript script;
  script.name = std::move(name);
  MapReader reader(root, reading.faults, "script");
  std::int64_t version = kScriptVersion;
  reader.take_int("version", {kScriptVersion, kScriptVersion}, version);
  read_replies(reader, reading.faults, script);
  bool loops = false;
  if (reader.take_bool("loop", loops) && loops) {
    script.after_last = FakeScript::AfterLast::begins_again;
  }
  reader.take_string_list("models", script.models);
  if (script.models.size() > kScriptModelsMax) {
    reader.fault(root.find("models")->mark(),
                 "\"models\" may list " + std::to_string(kScriptModelsMax));
  }
  static constexpr std::array<std::string_view, 2> kKeys = {"required", "off"};
  if (const auto keys = reader.take_choice("keys", kKeys)) {
    script.keys = static_cast<KeyCheck>(*keys);
  }
  reader.finish();
  if (reading.faults.empty()) reading.script = std::move(script);
  return reading;
}

}  // namespace pawl::fake
