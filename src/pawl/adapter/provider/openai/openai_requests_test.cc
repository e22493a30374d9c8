// Requests of both dialects against strict validators: recorded ones, so that the validators are
// known to be no stricter than the provider, and millions of random ones of ours.
#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/conversation_random_test.h"
#include "pawl/adapter/provider/common/random_sampling_test.h"
#include "pawl/adapter/provider/common/traffic_test.h"
#include "pawl/adapter/provider/openai/chat_quirks.h"
#include "pawl/adapter/provider/wires_test.h"

namespace pawl::provider::openai_test {
namespace {

WireOptions random_options(Rng& rng) {
  WireOptions options;
  options.name = "openai";
  options.base_url = "https://api.openai.com";
  options.model = random_model(rng, openai_models());
  if (rng.one_in(3)) options.resume = WireOptions::Resume::session;
  return options;
}

template <class Check>
void check_random_requests(const Dialect& dialect, const RandomConversationRules& own,
                           const Check& check) {
  std::uint64_t wrong = 0;
  const std::uint64_t count = transcript_count();
  for (std::uint64_t seed = 1; seed <= count && wrong < 3; ++seed) {
    Rng rng(seed);
    PhaseExecutionRequest request = random_request(rng, own);
    randomize(rng, request);
    WireOptions options = random_options(rng);
    const std::string fault = check(rng, dialect, request, options);
    if (fault.empty()) continue;
    ++wrong;
    FAIL_CHECK("seed " << seed << ": " << fault);
  }
  CHECK(wrong == 0);
  MESSAGE(count << " random transcripts");
}

}  // namespace

TEST_CASE("recorded requests pass the validators") {
  std::size_t requests = 0;
  const auto check = [&](const char* folder, const char* part, auto fault) {
    for (const RecordedExchange& one : recorded(folder)) {
      // What the provider refused is no example.
      const bool other = one.url.find(part) == std::string::npos;
      if (other || one.request.is_null() || one.status != 200) continue;
      CAPTURE(one.file);
      CHECK(fault(one.request, Author::recorded) == "");
      ++requests;
    }
  };
  check("openai-responses", "/v1/responses", responses_fault);
  check("openai-compat", "/responses", responses_fault);
  check("openai-chat", "/chat/completions", chat_fault);
  check("openai-compat", "/chat/completions", chat_fault);
  check("ollama", "/v1/chat/completions", chat_fault);
  MESSAGE(requests << " recorded requests");
}

TEST_CASE("the validators find what they are there for") {
  const auto responses = [](const std::string& input) {
    const std::string body = R"({"model":"m","store":false,"input":[)" + input + "]}";
    return responses_fault(parse_json(body).value(), Author::pawl);
  };
  const std::string hi = R"({"type":"message","role":"user","content":"hi"})";
  const std::string call = R"({"type":"function_call","call_id":"a","name":"x","arguments":"{}"})";
  const std::string output = R"({"type":"function_call_output","call_id":"a","output":""})";
  CHECK(responses(hi) == "");
  CHECK(responses(hi + "," + call + "," + output) == "");
  CHECK(responses(hi + "," + call) != "");
  CHECK(responses(hi + "," + output) != "");
  CHECK(responses(hi + R"(,{"role":"assistant","content":"yes"})") != "");
  CHECK(responses(hi + "," + call + "," + call + "," + output) != "");
  CHECK(responses(hi + R"(,{"type":"reasoning","summary":[],"encrypted_content":"x"})") != "");
  const auto chat = [](const std::string& messages) {
    const std::string body = R"({"model":"m","messages":[)" + messages + "]}";
    return chat_fault(parse_json(body).value(), Author::pawl);
  };
  const std::string said = R"({"role":"user","content":"hi"})";
  const std::string asked =
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",)"
      R"("function":{"name":"x","arguments":"{}"}}]})";
  const std::string result = R"({"role":"tool","tool_call_id":"a","content":""})";
  CHECK(chat(said + "," + asked + "," + result) == "");
  CHECK(chat(said + "," + asked) != "");
  CHECK(chat(said + "," + asked + "," + said) != "");
  CHECK(chat(said + "," + result) != "");
  CHECK(chat(said + R"(,{"role":"assistant","content":""},)" + said) != "");
}

TEST_CASE("Responses: no random transcript gives a request that the provider would refuse") {
  const auto check = [](Rng&, const Dialect& dialect, const PhaseExecutionRequest& request,
                        const WireOptions& options) -> std::string {
    const auto wire = dialect.encode(request, load_conversation(request).value(), options);
    if (!wire) return wire.error().message;
    return responses_wire_fault(wire->body.whole(), options);
  };
  check_random_requests(*make_responses_dialect(), openai_rules(), check);
}

TEST_CASE("chat: no random transcript gives a request that the provider would refuse") {
  const auto check = [](Rng& rng, const Dialect& dialect, const PhaseExecutionRequest& request,
                        WireOptions& options) -> std::string {
    options.resume = WireOptions::Resume::replay;
    options.quirks = {std::string(rng.pick(known_chat_servers())), "documents"};
    const auto wire = dialect.encode(request, load_conversation(request).value(), options);
    if (!wire) return wire.error().message;
    return chat_wire_fault(wire->body.whole(), options);
  };
  check_random_requests(*make_chat_dialect(), openai_rules(), check);
}

}  // namespace pawl::provider::openai_test
