#include "pawl/adapter/provider/dialect.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/golden_test.h"
#include "pawl/adapter/provider/common/messages_test.h"

namespace pawl::provider {
namespace {

Result<std::string> responses_body(const PhaseExecutionRequest& request,
                                   const std::vector<Message>& messages,
                                   const WireOptions& options) {
  PAWL_TRY(WireRequest wire, make_responses_dialect()->encode(request, messages, options));
  return wire.body.whole();
}

WireOptions options() {
  WireOptions made;
  made.name = "openai";
  made.base_url = "https://api.openai.com";
  made.model.id = "gpt-5";
  made.model.thinking = ExecutorModelDescriptor::Support::yes;
  return made;
}

Message own(std::vector<Block> blocks) {
  return said_by_model("openai/gpt-5", std::move(blocks));
}

std::vector<std::string> input_types(const PhaseExecutionRequest& request) {
  const auto body = responses_body(request, load_conversation(request).value(), options());
  REQUIRE(body);
  std::vector<std::string> types;
  const Json json = parse_json(*body).value();
  for (const Json& item : json.find("input")->array()) {
    types.push_back(*item.find_string("type"));
  }
  return types;
}

RawBlock raw(const std::string& json) {
  return {Content(json)};
}

using Types = std::vector<std::string>;

}  // namespace

TEST_CASE("OpenAI is asked for the tier that its price list is about, and other servers for none") {
  const PhaseExecutionRequest request = request_with({said_by_user("a")});
  const auto own_body = responses_body(request, load_conversation(request).value(), options());
  REQUIRE(own_body);
  CHECK(*parse_json(*own_body)->find_string("service_tier") == "default");

  WireOptions other = options();
  other.base_url = "http://127.0.0.1:8000";
  const auto body = responses_body(request, load_conversation(request).value(), other);
  REQUIRE(body);
  CHECK(parse_json(*body)->find("service_tier") == nullptr);
}

TEST_CASE("Responses: a thought goes back only before what it led to") {
  const ThinkingBlock thought{
      Content(std::string("Hm.")),
      R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"})"};
  CHECK(input_types(request_with({said_by_user("a"), own({thought}), said_by_user("b")})) ==
        Types{"message", "message"});
  CHECK(input_types(request_with(
            {said_by_user("a"), own({thought, TextBlock{Content(std::string("x"))}}),
             said_by_user("b")})) == Types{"message", "reasoning", "message", "message"});
  CHECK(input_types(request_with(
            {said_by_user("a"), own({thought, raw(R"({"type":"web_search_call"})")}),
             said_by_user("b")})) == Types{"message", "reasoning", "web_search_call", "message"});
  CHECK(input_types(
            request_with({said_by_user("a"), own({thought, raw(R"({"type":"computer_call"})")}),
                          said_by_user("b")})) == Types{"message", "message"});
}

TEST_CASE("Responses: calls that the caller answers go back with an answer or not at all") {
  const auto types = [](std::vector<Block> blocks) {
    return input_types(
        request_with({said_by_user("a"), own(std::move(blocks)), said_by_user("b")}));
  };
  const RawBlock shell = raw(R"({"type":"shell_call","call_id":"s"})");
  const RawBlock output = raw(R"({"type":"shell_call_output","call_id":"s"})");
  CHECK(types({shell, output}) == Types{"message", "shell_call", "shell_call_output", "message"});
  CHECK(types({output, shell}) == Types{"message", "message"});
  CHECK(types({shell}) == Types{"message", "message"});
  CHECK(types({raw(R"({"type":"custom_tool_call","call_id":"c","name":"x","input":""})")}) ==
        Types{"message", "custom_tool_call", "custom_tool_call_output", "message"});
}

TEST_CASE("Responses: what cannot be asked is refused with its reason") {
  const auto refusal = [](const PhaseExecutionRequest& request, const WireOptions& wire) {
    const auto body =
        make_responses_dialect()->encode(request, load_conversation(request).value(), wire);
    REQUIRE(!body);
    CHECK(body.error().code == ErrorCode::invalid_argument);
    return body.error().message;
  };
  Message picture = said_by_user("look");
  picture.attachments.push_back({"image/png", "cat.png", Content(std::string("PNG"))});
  CHECK(refusal(request_with({picture}), options()).find("cat.png") != std::string::npos);
  PhaseExecutionRequest shaped = request_with({said_by_user("a")});
  shaped.output_schema = R"({"type":"array"})";
  WireOptions structured = options();
  structured.model.structured_output = ExecutorModelDescriptor::Support::yes;
  CHECK(refusal(shaped, structured).find("object") != std::string::npos);
  PhaseExecutionRequest tooled = request_with({said_by_user("a")});
  tooled.tools.emplace_back().name = "bad_tool";
  tooled.tools.back().input_schema = R"({"type":"string"})";
  CHECK(refusal(tooled, options()).find("bad_tool") != std::string::npos);
  WireOptions odd = options();
  odd.quirks = {"nonsense"};
  CHECK(refusal(request_with({said_by_user("a")}), odd).find("nonsense") != std::string::npos);
}

TEST_CASE("Responses: summaries are not asked for where they are refused") {
  WireOptions wire = options();
  wire.quirks = {"no_reasoning_summary"};
  const auto body = responses_body(request_with({}), {said_by_user("a")}, wire);
  REQUIRE(body);
  const Json json = parse_json(*body).value();
  CHECK(json.find("reasoning") == nullptr);
  CHECK(json.find("include") != nullptr);
}

}  // namespace pawl::provider
