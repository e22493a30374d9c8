#include "pawl/adapter/provider/anthropic/anthropic_request.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/golden_test.h"
#include "pawl/adapter/provider/common/messages_test.h"
#include "pawl/adapter/provider/common/random_sampling_test.h"
#include "pawl/adapter/provider/common/traffic_test.h"
#include "pawl/adapter/provider/wires_test.h"

namespace pawl::provider {
namespace {

Result<std::string> anthropic_body(const PhaseExecutionRequest& request,
                                   const std::vector<Message>& messages,
                                   const WireOptions& options) {
  PAWL_TRY(const WireRequest wire, make_anthropic_dialect()->encode(request, messages, options));
  return wire.body.whole();
}

TEST_CASE("sc-P26: no transcript makes a request that Anthropic would refuse") {
  const std::uint64_t count = transcript_count();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Rng rng(seed);
    const RandomConversationRules own = anthropic_rules();
    PhaseExecutionRequest request = random_request(rng, own);
    randomize(rng, request);
    WireOptions options;
    options.name = "anthropic";
    options.model = random_model(rng, anthropic_models());
    const auto body = anthropic_body(request, load_conversation(request).value(), options);
    REQUIRE_MESSAGE(body, "seed " << seed << ": " << body.error().message);
    const auto faults = AnthropicValidator::faults(*body);
    if (!faults.empty()) FAIL("seed " << seed << ": " << joined(faults) << "\n" << *body);
  }
  MESSAGE(count << " transcripts");
}

TEST_CASE("the validator takes what Anthropic took") {
  int taken = 0;
  for (const RecordedExchange& one : recorded("anthropic")) {
    if (one.status != 200) continue;
    INFO(one.file);
    auto faults = AnthropicValidator::faults(write_json(one.request));
    // Stricter than Anthropic was once: a text of one space was taken.
    if (one.file == "simon--test_tools.json") std::erase(faults, "a blank text");
    CHECK(joined(faults) == "");
    ++taken;
  }
  MESSAGE(taken << " recorded requests");
}

std::string with_messages(const std::string& messages, const std::string& more = "") {
  return R"({"model":"m","max_tokens":2000)" + more + R"(,"messages":[)" + messages + "]}";
}

TEST_CASE("the validator refuses what Anthropic refuses") {
  const std::string user = R"({"role":"user","content":"hi"})";
  const std::string tools = R"(,"tools":[{"name":"look","input_schema":{"type":"object"}}])";
  const auto assistant = [](const std::string& blocks) {
    return R"(,{"role":"assistant","content":[)" + blocks + "]}";
  };
  const std::string call = R"({"type":"tool_use","id":"a","name":"look","input":{}})";
  const std::string result =
      R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]})";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"the first role is not user; ", with_messages(assistant(call).substr(1) + result, tools)},
      {"roles do not alternate; ", with_messages(user + "," + user)},
      {"calls without results; ", with_messages(user + assistant(call) + "," + user, tools)},
      {"a result without its call; ",
       with_messages(user + assistant(R"({"type":"text","text":"a"})") + result, tools)},
      {"two calls of one id; ", with_messages(user + assistant(call + "," + call) + result, tools)},
      {"calls without tools; ", with_messages(user + assistant(call) + result)},
      {"thinking without a signature; ",
       with_messages(user + assistant(R"({"type":"thinking","thinking":"x"},)" + call) + result,
                     tools)},
      {"a blank text; ",
       with_messages(user + assistant(R"({"type":"text","text":" "},)" + call) + result, tools)},
      {"tools are answered without the thinking that led to them; ",
       with_messages(user + assistant(call) + result,
                     tools + R"(,"thinking":{"type":"enabled","budget_tokens":1024})")},
      {"a budget out of range; ",
       with_messages(user, R"(,"thinking":{"type":"enabled","budget_tokens":2000})")}};
  CHECK(joined(AnthropicValidator::faults(with_messages(user + assistant(call) + result, tools))) ==
        "");
  for (const auto& [fault, body] : cases) {
    const std::string found = joined(AnthropicValidator::faults(body));
    CHECK_MESSAGE(found.find(fault) != std::string::npos, "wanted " << fault << " got " << found);
  }
}

TEST_CASE("how models think is told by their names") {
  for (const char* id :
       {"claude-opus-4-6", "claude-sonnet-5", "claude-opus-4-8", "claude-mythos"}) {
    CHECK(anthropic_thinking_of(id) == AnthropicThinking::adaptive);
  }
  for (const char* id : {"claude-3-7-sonnet-20250219", "claude-sonnet-4-20250514",
                         "claude-haiku-4-5-20251001", "claude-opus-4-1"}) {
    CHECK(anthropic_thinking_of(id) == AnthropicThinking::budget);
  }
  CHECK(anthropic_thinking_of("claude-3-5-haiku-20241022") == AnthropicThinking::none);
}

TEST_CASE("golden: a conversation with everything in it") {
  const auto body = [](const std::string& model, ReasoningEffort effort) {
    WireOptions options;
    options.name = "anthropic";
    options.model.id = model;
    options.model.thinking = ExecutorModelDescriptor::Support::yes;
    options.model.images = ExecutorModelDescriptor::Support::yes;
    options.model.structured_output = ExecutorModelDescriptor::Support::yes;
    PhaseExecutionRequest request = golden_request("anthropic");
    request.sampling.effort = effort;
    return anthropic_body(request, load_conversation(request).value(), options).value();
  };
  check_golden("anthropic_adaptive.json", body("claude-opus-4-6", ReasoningEffort::high));
  check_golden("anthropic_budget.json", body("claude-sonnet-4-5", ReasoningEffort::medium));
  check_golden("anthropic_plain.json", body("claude-sonnet-4-5", ReasoningEffort::unset));
}

TEST_CASE("Anthropic is asked for the tier of its price list, and other servers for none") {
  for (const char* url : {"https://api.anthropic.com", "http://127.0.0.1:8000"}) {
    WireOptions options;
    options.model.id = "claude-opus-4-8";
    options.base_url = url;
    const auto body = anthropic_body(request_with({}), {said_by_user("a")}, options);
    REQUIRE(body);
    const auto json = parse_json(*body);
    const std::string* const tier = json->find_string("service_tier");
    const bool itself = std::string_view(url).starts_with("https");
    CHECK((itself ? tier != nullptr && *tier == "standard_only" : tier == nullptr));
  }
}

TEST_CASE("what Anthropic cannot take is refused with the reason") {
  WireOptions options;
  options.name = "anthropic";
  options.model.id = "claude-sonnet-5";
  PhaseExecutionRequest request = golden_request("anthropic");
  const auto images = anthropic_body(request, load_conversation(request).value(), options);
  REQUIRE_FALSE(images);
  CHECK(images.error().message ==
        "the attachment \"chart.png\" cannot be sent: the model claude-sonnet-5 takes text only; "
        "choose one that takes images");
  options.model.images = ExecutorModelDescriptor::Support::yes;
  request.sampling.temperature_milli = 1'500;
  CHECK(anthropic_body(request, load_conversation(request).value(), options).error().message ==
        "Anthropic takes temperatures from 0 to 1, not 1.5");
  request.sampling.temperature_milli.reset();
  request.tools[0].input_schema = R"({"type":"string"})";
  CHECK_FALSE(anthropic_body(request, load_conversation(request).value(), options));
  options.quirks = {"short_call_ids"};
  CHECK(anthropic_body(request, load_conversation(request).value(), options).error().message ==
        "there are no quirks of this dialect, but short_call_ids is set");
}

}  // namespace
}  // namespace pawl::provider
