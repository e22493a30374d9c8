#include "pawl/testing/fake_provider/dialects/validate.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

// The message of the error; empty when there is none.
std::string wrong(Api api, std::string_view text) {
  const auto body = parse_json(text);
  REQUIRE_MESSAGE(body, text);
  Route route;
  route.api = api;
  route.model = "m";
  const auto error = check_body(read_model_request(route, std::string(text), *body));
  return error ? error->message : std::string();
}

bool refuses(Api api, std::string_view text, std::string_view part) {
  const std::string message = wrong(api, text);
  const bool found = message.find(part) != std::string::npos;
  CHECK_MESSAGE(found, text, " gave: ", message);
  return found;
}

std::string messages(std::string_view list) {
  return R"({"model":"m","max_tokens":9,"messages":)" + std::string(list) + "}";
}

TEST_CASE("Messages: what must be there") {
  constexpr Api kApi = Api::anthropic_messages;
  CHECK(wrong(kApi, messages(R"([{"role":"user","content":"a"}])")).empty());
  refuses(kApi, R"({"model":"m","messages":[{"role":"user","content":"a"}]})",
          "max_tokens: Field required");
  refuses(kApi, R"({"model":"m","max_tokens":"9","messages":[]})", "valid integer");
  refuses(kApi, R"({"model":"m","max_tokens":0,"messages":[]})", "greater than or equal to 1");
  refuses(kApi, R"({"model":"m","max_tokens":1})", "messages: Field required");
  refuses(kApi, R"({"model":"","max_tokens":1})", "model: Field required");
  refuses(kApi, messages("[]"), "at least one message is required");
  CHECK(wrong(Api::anthropic_count_tokens,
              R"({"model":"m","messages":[{"role":"user","content":"a"}]})")
            .empty());
}

TEST_CASE("Messages: roles and contents") {
  constexpr Api kApi = Api::anthropic_messages;
  refuses(kApi, messages(R"([{"role":"bot","content":"a"}])"), "messages.0.role");
  refuses(kApi, messages(R"([{"role":"assistant","content":"a"}])"), "first message must use");
  refuses(kApi, messages(R"([{"role":"user"}])"), "messages.0.content: Field required");
  refuses(kApi, messages(R"([{"role":"user","content":1}])"), "valid list");
  refuses(kApi, messages(R"([{"role":"user","content":""}])"), "non-empty content");
  refuses(kApi, messages(R"([{"role":"user","content":[{"type":"text","text":""}]}])"),
          "text content blocks must be non-empty");
  refuses(kApi, messages(R"([{"role":"user","content":[{"text":"a"}]}])"), "type: Field required");
  refuses(kApi, messages(R"([{"role":"user","content":"a"},{"role":"assistant","content":
          [{"type":"thinking","thinking":"t"}]},{"role":"user","content":"b"}])"),
          "thinking.signature: Field required");
  CHECK(wrong(kApi, messages(R"([{"role":"user","content":"a"},{"role":"system","content":"s"},
              {"role":"user","content":"b"},{"role":"assistant","content":""}])"))
            .empty());
}

TEST_CASE("Messages: every result has its call, and every call its result") {
  constexpr Api kApi = Api::anthropic_messages;
  const std::string use =
      R"({"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1",)"
      R"("name":"x","input":{}}]})";
  const std::string result =
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]})";
  CHECK(wrong(kApi, messages("[" + use + "," + result + "]")).empty());
  refuses(kApi, messages("[" + result + "]"), "unexpected `tool_use_id`");
  refuses(kApi, messages("[" + use + R"(,{"role":"user","content":"b"}])"),
          "without `tool_result` blocks immediately after: t1");
  refuses(kApi, messages("[" + use + "]"), "without `tool_result` blocks");
}

TEST_CASE("Messages: tools and thinking") {
  constexpr Api kApi = Api::anthropic_messages;
  const auto with = [](std::string_view more) {
    return R"({"model":"m","max_tokens":2000,"messages":[{"role":"user","content":"a"}],)" +
           std::string(more) + "}";
  };
  refuses(kApi, with(R"("tools":[{"name":"a","input_schema":{}},{"name":"a","input_schema":{}}])"),
          "must be unique");
  refuses(kApi, with(R"("tools":[{"name":"a"}])"), "input_schema: Field required");
  refuses(kApi, with(R"("tools":[{}])"), "name: Field required");
  refuses(kApi, with(R"("thinking":{"type":"enabled","budget_tokens":10})"), "1024");
  refuses(kApi, with(R"("thinking":{"type":"enabled","budget_tokens":2000})"),
          "greater than `thinking.budget_tokens`");
  CHECK(wrong(kApi, with(R"("thinking":{"type":"enabled","budget_tokens":1024})")).empty());
}

TEST_CASE("Chat Completions") {
  constexpr Api kApi = Api::openai_chat;
  CHECK(wrong(kApi, R"({"model":"m","messages":[{"role":"user","content":"a"}]})").empty());
  refuses(kApi, R"({"model":""})", "you must provide a model");
  refuses(kApi, R"({"model":"m"})", "Missing required parameter: 'messages'");
  refuses(kApi, R"({"model":"m","messages":[]})", "empty array");
  refuses(kApi, R"({"model":"m","messages":[{"role":"bot","content":"a"}]})",
          "Invalid value: 'bot'");
  refuses(kApi, R"({"model":"m","temperature":-1,"messages":[{"role":"user","content":"a"}]})",
          "decimal below minimum value. Expected a value >= 0, but got -1 instead.");
  refuses(kApi, R"({"model":"m","temperature":3,"messages":[{"role":"user","content":"a"}]})",
          "decimal above maximum");
  const std::string call = R"({"role":"assistant","tool_calls":[{"id":"c1"},{"id":"c2"}]})";
  const auto tool = [](const std::string& id) {
    return R"(,{"role":"tool","tool_call_id":")" + id + R"(","content":"r"})";
  };
  const auto chat = [](const std::string& list) {
    return R"({"model":"m","messages":[)" + list + "]}";
  };
  CHECK(wrong(kApi, chat(call + tool("c2") + tool("c1"))).empty());
  refuses(kApi, chat(call + tool("c1")), "did not have response messages: c2");
  refuses(kApi, chat(call + tool("c1") + R"(,{"role":"user","content":"a"})"), "c2");
  refuses(kApi, chat(call + tool("c1") + tool("c1")), "must be a response to a preceeding message");
}

TEST_CASE("Responses") {
  constexpr Api kApi = Api::openai_responses;
  CHECK(wrong(kApi, R"({"model":"m","input":"a"})").empty());
  refuses(kApi, R"({"model":"","input":"a"})", "Missing required parameter: 'model'");
  refuses(kApi, R"({"model":"m"})", "must be provided");
  CHECK(wrong(kApi, R"({"model":"m","previous_response_id":"r"})").empty());
  refuses(kApi, R"({"model":"m","input":1})", "Invalid type for 'input'");
  const std::string call = R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}"})";
  const std::string output = R"({"type":"function_call_output","call_id":"c1","output":"r"})";
  const auto input = [](const std::string& list) {
    return R"({"model":"m","input":[)" + list + "]}";
  };
  CHECK(wrong(kApi, input(call + "," + output)).empty());
  refuses(kApi, input(output), "No tool call found for function call output with call_id c1.");
  refuses(kApi, input(call), "No tool output found for function call c1.");
}

TEST_CASE("Gemini") {
  constexpr Api kApi = Api::gemini_generate;
  CHECK(wrong(kApi, R"({"contents":[{"parts":[{"text":"a"}]}]})").empty());
  refuses(kApi, "{}", "contents is not specified");
  refuses(kApi, R"({"contents":[{"role":"assistant","parts":[{"text":"a"}]}]})", "valid role");
  refuses(kApi, R"({"contents":[{"role":"user","parts":[{"functionResponse":{}}]}]})",
          "number of function response parts");
  CHECK(wrong(kApi, R"({"contents":[{"role":"model","parts":[{"functionCall":{}}]},
              {"role":"user","parts":[{"functionResponse":{}}]}]})")
            .empty());
}

TEST_CASE("the head: method, key and version, in each vendor's words") {
  ServerRequest request;
  request.method = "POST";
  request.target = "/v1/messages";
  const auto status = [&] {
    const auto error = check_head(request, route_of(request), KeyCheck::required);
    return error ? error->status : 200;
  };
  CHECK(status() == 401);
  request.headers = {{"x-api-key", "k"}};
  CHECK(status() == 400);
  request.headers.push_back({"anthropic-version", "2023-06-01"});
  CHECK(status() == 200);
  request.method = "GET";
  CHECK(status() == 405);
  request.target = "/v1beta/models/m:generateContent";
  request.method = "POST";
  request.headers.clear();
  CHECK(status() == 403);
  CHECK(!check_head(request, route_of(request), KeyCheck::off));
  request.target = "/v1/models";
  request.method = "GET";
  CHECK(status() == 401);
}

TEST_CASE("a model that nobody knows has a status of its vendor's") {
  const auto status = [](Api api) {
    ModelRequest request;
    request.route.api = api;
    request.model = "nobody";
    const auto error = unknown_model(request);
    REQUIRE(error);
    CHECK(error->message.find("nobody") != std::string::npos);
    return error->status;
  };
  CHECK(status(Api::anthropic_messages) == 404);
  CHECK(status(Api::openai_chat) == 404);
  CHECK(status(Api::openai_responses) == 400);
  CHECK(status(Api::gemini_generate) == 404);
}

}  // namespace
}  // namespace pawl::fake
