#include "pawl/testing/executor_scripted/script_reader.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/testing/executor_scripted/script_events.h"

namespace pawl {
namespace {

ScriptReading read(std::string_view yaml) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  return read_script(*document.root, "s");
}

Script good(std::string_view yaml) {
  const ScriptReading reading = read(yaml);
  REQUIRE_MESSAGE(reading.script, to_string(reading.faults, "f"));
  return *reading.script;
}

std::string faults(std::string_view yaml) {
  const ScriptReading reading = read(yaml);
  CHECK_FALSE(reading.script);
  return to_string(reading.faults, "f");
}

ScriptSpeech speech(std::string_view yaml) {
  return std::get<ScriptSpeech>(good(yaml).replies.at(0).outcome);
}

TEST_CASE("a script of calls and a text is read") {
  const Script script = good(R"(
replies:
  - call: [{ tool: charge, input: { amount: 1 } }]
  - call: [{ tool: charge, input: { amount: 2 } }, { tool: charge, input: { amount: 3 } }]
  - text: All charged.
)");
  const Script expected{
      {ScriptReply::call("charge", R"({"amount":1})"),
       ScriptReply::call_all({{"charge", R"({"amount":2})"}, {"charge", R"({"amount":3})"}}),
       ScriptReply::say("All charged.")},
      "s"};
  CHECK(script == expected);
}

TEST_CASE("every key of a reply is read") {
  const Script script = good(R"(
replies:
  - thinking: Let me see.
    text: [I will, " charge."]
    raw: { type: server_tool_use, n: 1.50 }
    call: { tool: charge, raw_input: '{"amount": 1.0}' }
    stop: max_tokens
    stop_detail: cut
    usage: { input: 100, output: 20, cache_read: 3, cache_creation: 4 }
    delay: 2s
  - error: { category: network_error, retry_after: 2s, message: no }
  - { endless: true, text: "again {{n}}" }
)");
  REQUIRE(script.replies.size() == 3);
  const ScriptSpeech expected{{"Let me see."},
                              {"I will", " charge."},
                              {R"({"type":"server_tool_use","n":1.50})"},
                              {{"charge", R"({"amount": 1.0})"}},
                              ReplyStop::max_tokens,
                              "cut"};
  CHECK(script.replies[0] == ScriptReply{expected, Usage{100, 20, 3, 4}, 2'000});
  CHECK(script.replies[1].outcome ==
        decltype(ScriptReply::outcome)(ScriptFailure{ErrorCategory::network_error, "no", 2'000}));
  CHECK(script.after_last == Script::AfterLast::repeats_last);
}

TEST_CASE("the number of the call becomes a number where it stands alone") {
  const ScriptSpeech read_speech = speech(R"(
replies:
  - call: { tool: t, input: { a: "{{n}}", b: ["{{n}}", "x{{n}}"], "{{n}}": "q\"{{n}}\"", c: { d: "{{n}}" } } }
)");
  CHECK(numbered(read_speech.calls.at(0).input, 7) ==
        R"({"a":7,"b":[7,"x7"],"7":"q\"7\"","c":{"d":7}})");
}

TEST_CASE("what a reply may leave out has a default") {
  CHECK(speech("replies: [{ call: { tool: t } }]").calls == std::vector<ScriptCall>{{"t", "{}"}});
  CHECK(good("replies: [{ delay: 1s }, { endless: false }, { usage: {} }]").replies.size() == 3);
  const Script failing = good("replies: [{ error: { category: QuotaExceeded } }]");
  CHECK(std::get<ScriptFailure>(failing.replies[0].outcome) ==
        ScriptFailure{ErrorCategory::quota_exceeded, "scripted quota_exceeded", {}});
  CHECK(good("replies: [{ text: x }]").capabilities == scripted_capabilities());
}

TEST_CASE("a declaration of capabilities is whole, and has exactly one resume strategy") {
  const Script script = good(R"(
capabilities:
  supports_native_subagents: true
  supports_claude_md_native_walk_up: true
  supports_native_file_tools: true
  supports_session_resume: true
  supports_thinking: true
  supports_image_input: true
  max_context_tokens: 1000
replies: [{ text: x }]
)");
  const ExecutorCapabilities expected{true, true, true, true, false, true, true, 1000};
  CHECK(script.capabilities == expected);

  const std::string neither =
      faults("replies: [{text: x}]\ncapabilities: { supports_thinking: true }");
  CHECK(neither.starts_with("f:2:15: capabilities: an executor declares exactly one resume"));
  const std::string both = faults(
      "replies: [{text: x}]\n"
      "capabilities: { supports_session_resume: true, supports_conversation_replay: true }");
  CHECK(both.find("declares both") != std::string::npos);
  CHECK(
      faults("capabilities: { supports_session_resume: 1 }\nreplies: [{text: x}]") ==
      "f:1:42: capabilities: \"supports_session_resume\" must be true or false, found the integer "
      "1\n");
}

TEST_CASE("every fault is listed in the order of the document") {
  CHECK(faults(R"(replies:
  - txt: Hello
  - error: { category: bad, after: 2s }
    text: x
  - call: { tool: "", input: [1], extra: 1 }
    stop: endturn
  - { endless: true, usage: { input: -1 }, delay: soon }
  - text: 42
more: 1
)") == "f:2:5: reply 1: unknown key \"txt\" (did you mean \"text\"?)\n"
       "f:3:24: reply 2, error: 'bad' is not an error category: llm_error, tool_error, "
       "policy_violation, timeout, quota_exceeded, kernel_internal, validation_error or "
       "network_error\n"
       "f:3:29: reply 2, error: unknown key \"after\" (known keys: category, message, "
       "retry_after)\n"
       "f:4:5: reply 2: \"text\" cannot be combined with \"error\" (write two replies)\n"
       "f:5:19: reply 3, call 1: \"tool\" must have 1 to 128 bytes\n"
       "f:5:30: reply 3, call 1: \"input\" must be a map, found a list (\"raw_input\" takes a "
       "string of any bytes)\n"
       "f:5:35: reply 3, call 1: unknown key \"extra\" (known keys: tool, input, raw_input)\n"
       "f:6:11: reply 3: \"stop\" must be one of end_turn, tool_use, max_tokens, refusal, cede, "
       "suspend, external, pause_turn, found the string \"endturn\" (did you mean \"end_turn\"?)\n"
       "f:7:16: reply 4: an endless reply must be the last one\n"
       "f:7:38: reply 4, usage: \"input\" must be an integer from 0 to 1000000000000, found the "
       "integer -1\n"
       "f:7:51: reply 4: \"delay\" must be a duration from 0ms to 1d, found the string \"soon\" "
       "(write it as 250ms, 30s, 10m, 1h or 2d)\n"
       "f:8:11: reply 5: \"text\" must be a string, found the integer 42 (put it in quotes)\n"
       "f:9:1: script: unknown key \"more\" (known keys: capabilities, replies)\n");
}

TEST_CASE("wrong shapes are faults and nothing else") {
  CHECK(faults("").find("script: must be a map, found nothing") != std::string::npos);
  CHECK(faults("[]").find("script: must be a map, found a list") != std::string::npos);
  CHECK(faults("{}").find("\"replies\" is missing") != std::string::npos);
  CHECK(faults("replies: []").find("must have 1 to 100000 replies") != std::string::npos);
  CHECK(faults("replies: hello").find("\"replies\" must be a list") != std::string::npos);
  CHECK(faults("replies: [hello]").find("reply 1: must be a map") != std::string::npos);
  CHECK(faults("replies: [{}]").find("an empty reply") != std::string::npos);
  CHECK(faults("replies: [{ call: hello }]").find("call 1: must be a map") != std::string::npos);
  CHECK(faults("replies: [{ raw: [1] }]").find("\"raw\" must be a map") != std::string::npos);
  CHECK(faults("replies: [{ text: { a: 1 } }]").find("must be a string") != std::string::npos);
  CHECK(faults("replies: [{ error: network_error }]").find("must be a map") != std::string::npos);
  CHECK(faults("replies: [{ endless: maybe }]").find("true or false") != std::string::npos);
  CHECK(faults("replies: [{ call: { tool: t, input: {}, raw_input: x } }]").find("exclude") !=
        std::string::npos);
}

TEST_CASE("what is too large is a fault that names the bound") {
  const Mark mark{1, 1};
  const auto in_reply = [&](std::string key, Node value) {
    Node reply = Node::make_map({{std::move(key), mark, std::move(value)}}, mark);
    Node list = Node::make_list({std::move(reply)}, mark);
    const Node root = Node::make_map({{"replies", mark, std::move(list)}}, mark);
    return to_string(read_script(root, "s").faults, "f");
  };
  const Node text = Node::make_string("x", mark);
  CHECK(in_reply("text", Node::make_string(std::string(kScriptStringBytesMax + 1, 'x'), mark)) ==
        "f:1:1: reply 1: \"text\" has 4194305 bytes and may have 4194304\n");
  CHECK(in_reply("text", Node::make_list(std::vector<Node>(kScriptPartsMax + 1, text), mark)) ==
        "f:1:1: reply 1: \"text\" may have 10000 parts\n");
  CHECK(in_reply("raw", Node::make_list(std::vector<Node>(kScriptBlocksMax + 1, text), mark)) ==
        "f:1:1: reply 1: \"raw\" may list 1000 blocks\n");
  const Node many = Node::make_list(std::vector<Node>(kScriptRepliesMax + 1, Node()), mark);
  const Node root = Node::make_map({{"replies", mark, many}}, mark);
  CHECK(read_script(root, "s").faults.size() == 1);
}

}  // namespace
}  // namespace pawl
