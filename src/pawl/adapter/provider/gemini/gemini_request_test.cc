#include "pawl/adapter/provider/gemini/gemini_request.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/golden_test.h"
#include "pawl/adapter/provider/common/random_sampling_test.h"
#include "pawl/adapter/provider/common/traffic_test.h"
#include "pawl/adapter/provider/wires_test.h"

namespace pawl::provider {
namespace {

Result<std::string> gemini_body(const PhaseExecutionRequest& request,
                                const std::vector<Message>& messages, const WireOptions& options) {
  PAWL_TRY(const WireRequest wire, make_gemini_dialect()->encode(request, messages, options));
  return wire.body.whole();
}

using Signatures = GeminiValidator::Signatures;

TEST_CASE("sc-P26: no transcript makes a request that Gemini would refuse") {
  const RandomConversationRules rules = gemini_rules();
  const std::uint64_t count = transcript_count();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Rng rng(seed);
    PhaseExecutionRequest request = random_request(rng, rules);
    randomize(rng, request);
    WireOptions options;
    options.name = "gemini";
    options.model = random_model(rng, gemini_models());
    const auto body = gemini_body(request, load_conversation(request).value(), options);
    REQUIRE_MESSAGE(body, "seed " << seed << ": " << body.error().message);
    const std::string fault = gemini_wire_fault(*body, options);
    if (!fault.empty()) FAIL("seed " << seed << ": " << fault << "\n" << *body);
  }
  MESSAGE(count << " transcripts");
}

TEST_CASE("the validator takes what Gemini took") {
  for (const RecordedExchange& one : recorded("gemini")) {
    INFO(one.file);
    CHECK(joined(GeminiValidator::faults(write_json(one.request), Signatures::demanded)) == "");
  }
}

TEST_CASE("the validator refuses what Gemini refuses") {
  const auto faults = [](const std::string& contents) {
    return joined(
        GeminiValidator::faults(R"({"contents":[)" + contents + "]}", Signatures::demanded));
  };
  const std::string user = R"({"role":"user","parts":[{"text":"a"}]})";
  const auto model = [](const std::string& part) {
    return R"(,{"role":"model","parts":[)" + part + "]}";
  };
  const std::string call =
      R"({"functionCall":{"name":"f","id":"1","args":{}},"thoughtSignature":"AA=="})";
  const std::string response =
      R"(,{"role":"user","parts":[{"functionResponse":{"name":"f","id":"1","response":{}}}]})";
  CHECK(faults(user + model(call) + response) == "");
  CHECK(faults(user + model(call) + "," + user) != "");
  CHECK(faults(user + response) != "");
  CHECK(faults(user + model(call)) != "");
  CHECK(faults(user + "," + user) != "");
  CHECK(faults(user + model(R"({"functionCall":{"name":"f","id":"1","args":{}}})") + response) !=
        "");
  CHECK(faults(R"({"role":"user","parts":[{"text":" "}]})") != "");
}

TEST_CASE("what is known of generations") {
  CHECK(gemini_generation_of("gemini-2.0-flash-exp") == GeminiGeneration::early);
  CHECK(gemini_generation_of("gemini-1.5-pro") == GeminiGeneration::early);
  CHECK(gemini_generation_of("gemini-2.5-flash") == GeminiGeneration::budget);
  CHECK(gemini_generation_of("gemini-3-pro-preview") == GeminiGeneration::level);
  CHECK(gemini_generation_of("gemini-flash-latest") == GeminiGeneration::level);
}

TEST_CASE("golden: a conversation with everything in it") {
  const auto body = [](const std::string& model) {
    WireOptions options;
    options.name = "gemini";
    options.model.id = model;
    options.model.thinking = ExecutorModelDescriptor::Support::yes;
    options.model.images = ExecutorModelDescriptor::Support::yes;
    options.model.structured_output = ExecutorModelDescriptor::Support::yes;
    PhaseExecutionRequest request = golden_request("gemini");
    request.sampling.effort = ReasoningEffort::medium;
    return gemini_body(request, load_conversation(request).value(), options).value();
  };
  check_golden("gemini_3.json", body("gemini-3-flash"));
  check_golden("gemini_25.json", body("gemini-2.5-flash"));
}

TEST_CASE("names of models stay inside of their path") {
  PhaseExecutionRequest request;
  WireOptions options;
  options.model.id = "gemini-3-pro";
  CHECK(gemini_path(request, options).value() ==
        "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
  request.sampling.stream = Streaming::off;
  CHECK(gemini_path(request, options).value() == "/v1beta/models/gemini-3-pro:generateContent");
  for (const char* id : {"", "../x", "a?b", "a b", "a#b", "a/b"}) {
    options.model.id = id;
    CHECK_FALSE(gemini_path(request, options));
  }
}

}  // namespace
}  // namespace pawl::provider
