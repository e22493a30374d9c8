#include "pawl/testing/fake_provider/script_reader.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl::fake {
namespace {

FakeScriptReading read(std::string_view text) {
  const DocumentResult document = parse_yaml(text);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "script"));
  return read_fake_script(*document.root, "s.yaml");
}

std::string faults_of(std::string_view text) {
  const FakeScriptReading reading = read(text);
  CHECK(!reading.script);
  return to_string(reading.faults, "s");
}

TEST_CASE("a script says what, when and how") {
  const FakeScriptReading reading = read(R"(
version: 1
loop: true
keys: off
models: [m1, m2]
replies:
  - when: { model: "claude-*", user: weather, nth: 2 }
    thinking: Let me see.
    signature: sig
    text: [Hel, lo]
    call:
      - { tool: a, input: { x: 1 } }
      - { tool: b, raw_input: "{", id: call_9 }
    stop: max_tokens
    usage: { input: 1, output: 7, cache_read: 3, cache_creation: 4, thinking: 5 }
    delay: 20ms
    delta_delay: 5ms
    headers: { x-a: b }
    times: 3
  - error: { status: 529, message: busy, retry_after: 7 }
    endless: true
)");

  REQUIRE_MESSAGE(reading.script, to_string(reading.faults, "s"));
  const FakeScript& script = *reading.script;
  CHECK(script.after_last == FakeScript::AfterLast::begins_again);
  CHECK(script.keys == KeyCheck::off);
  CHECK(script.models == std::vector<std::string>{"m1", "m2"});
  REQUIRE(script.replies.size() == 2);
  const ScriptedReply& first = script.replies[0];
  CHECK(first.when.model == "claude-*");
  CHECK(first.when.user == "weather");
  CHECK(first.when.nth == 2);
  CHECK(first.times == 3);
  CHECK(first.reply.text == std::vector<std::string>{"Hel", "lo"});
  REQUIRE(first.reply.calls.size() == 2);
  CHECK(first.reply.calls[0].input == R"({"x":1})");
  CHECK(first.reply.calls[1].input == "{");
  CHECK(first.reply.calls[1].id == "call_9");
  CHECK(first.reply.stop == FakeStop::max_tokens);
  CHECK(first.reply.usage->cache_creation == 4);
  CHECK(first.reply.delay_ms == 20);
  CHECK(first.reply.delta_delay_ms == 5);
  CHECK(first.reply.headers == Headers{{"x-a", "b"}});
  CHECK(script.replies[1].times == kForEver);
  CHECK(script.replies[1].reply.error->status == 529);
  CHECK(script.replies[1].reply.error->retry_after == "7");
}

TEST_CASE("faults are a word, a status or a map") {
  const FakeScriptReading reading = read(R"(
replies:
  - { text: a, fault: stall }
  - { text: b, fault: 503 }
  - { text: c, fault: { kind: pings, after_deltas: 2, every: 10ms, times: 4, skip: 1 } }
  - { text: d, fault: { status: 429, retry_after: abc } }
  - { text: e, fault: { kind: close, at: in_head } }
  - { text: f, fault: { kind: lying_usage, usage: 9223372036854775808 } }
)");

  REQUIRE_MESSAGE(reading.script, to_string(reading.faults, "s"));
  const auto fault = [&](std::size_t i) { return *reading.script->replies[i].reply.fault; };
  CHECK(fault(0).kind == FaultKind::stall);
  CHECK(fault(1).kind == FaultKind::status);
  CHECK(fault(1).status == 503);
  CHECK(fault(2).place == FaultPlace::after_deltas);
  CHECK(fault(2).n == 2);
  CHECK(fault(2).every_ms == 10);
  CHECK(fault(2).times == 4);
  CHECK(fault(2).skip == 1);
  CHECK(fault(3).retry_after == "abc");
  CHECK(fault(4).place == FaultPlace::in_head);
  CHECK(fault(5).usage == "9223372036854775808");
}

TEST_CASE("every fault of a script is listed with its line") {
  const std::string said = faults_of(R"(version: 2
replies:
  - txet: a
  - { text: a, stop: enough }
  - { text: a, fault: stal }
  - { text: a, error: { status: 200 } }
  - { call: { input: {} } }
  - { text: a, fault: { after_deltas: 1 } }
  - { text: a, times: 2, endless: true }
)");

  for (const std::string_view part :
       {"s:1:", "s:3:", "txet", "s:4:", "enough", "s:5:", "stal", "s:6:", "s:7:", "tool",
        "s:8:", "\"kind\" or \"status\" is missing", "s:9:"}) {
    CHECK_MESSAGE(said.find(part) != std::string::npos, part, " is not in\n", said);
  }
}

TEST_CASE("a script that is no map, or has no replies in its list, is refused") {
  CHECK(faults_of("[]").find("script") != std::string::npos);
  CHECK(faults_of("replies: []").find("must have 1 to") != std::string::npos);
}

TEST_CASE("the scripts of docs/fake-provider.md are scripts, and it names every word") {
  const char* const source = std::getenv("PAWL_SOURCE_DIR");
  std::ifstream file(std::string(source != nullptr ? source : ".") + "/docs/fake-provider.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  REQUIRE(!text.empty());
  std::size_t scripts = 0;
  constexpr std::string_view kBegin = "```yaml\n";
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    const FakeScriptReading reading = read(text.substr(at, text.find("```", at) - at));
    CHECK_MESSAGE(reading.script, to_string(reading.faults, "docs"));
    ++scripts;
  }
  CHECK(scripts > 0);
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    const std::string word = "`" + std::string(name(static_cast<FaultKind>(i))) + "`";
    CHECK_MESSAGE(text.find(word) != std::string::npos, word);
  }
  for (std::size_t i = 0; i < kFakeStops; ++i) {
    const std::string word = "`" + std::string(name(static_cast<FakeStop>(i))) + "`";
    CHECK_MESSAGE(text.find(word) != std::string::npos, word);
  }
}

}  // namespace
}  // namespace pawl::fake
