#include "pawl/testing/fake_provider/dialects/model_request.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

Route route(std::string target, Headers headers = {}) {
  ServerRequest request;
  request.target = std::move(target);
  request.headers = std::move(headers);
  return route_of(request);
}

ModelRequest read(std::string_view text, Api api = Api::openai_chat) {
  const auto body = parse_json(text);
  REQUIRE(body);
  Route to;
  to.api = api;
  return read_model_request(to, std::string(text), *body);
}

TEST_CASE("paths lead to what they are for") {
  CHECK(route("/v1/messages?beta=true").api == Api::anthropic_messages);
  CHECK(route("/v1/messages/count_tokens").api == Api::anthropic_count_tokens);
  CHECK(route("/v1/chat/completions").api == Api::openai_chat);
  CHECK(route("/v1/responses").api == Api::openai_responses);
  CHECK(route("/v1/models").vendor == Vendor::openai);
  CHECK(route("/v1/models", {{"anthropic-version", "x"}}).vendor == Vendor::anthropic);
  CHECK(route("/v1/models/m").model == "m");
  CHECK(route("/api/tags").vendor == Vendor::ollama);
  CHECK(route("/v1/nonsense").api == Api::none);
  CHECK(route("/ollama").api == Api::root);
  CHECK(route("/ollama/api/tags?x").api == Api::ollama_tags);
  CHECK(route("/ollama/v1/chat/completions").api == Api::openai_chat);
  CHECK(route("/ollama/v1/chat/completions").key == Route::Key::not_needed);
  CHECK(route("/v1/chat/completions").key == Route::Key::needed);
  CHECK(route("/ollamas/api/tags").api == Api::none);
  const Route gemini = route("/v1beta/models/g-1:streamGenerateContent?alt=sse");
  CHECK(gemini.api == Api::gemini_stream);
  CHECK(gemini.vendor == Vendor::gemini);
  CHECK(gemini.model == "g-1");
  CHECK(route("/v1beta/models/g:nonsense").api == Api::none);
}

TEST_CASE("the key is found where any vendor puts it") {
  const auto key = [](std::string target, Headers headers) {
    ServerRequest request;
    request.target = std::move(target);
    request.headers = std::move(headers);
    return key_of(request);
  };
  CHECK(key("/", {{"x-api-key", "a"}}) == "a");
  CHECK(key("/", {{"authorization", "Bearer b"}}) == "b");
  CHECK(key("/", {{"authorization", "bearer b"}}) == "b");
  CHECK(key("/", {{"x-goog-api-key", "c"}}) == "c");
  CHECK(key("/p?alt=sse&key=d&x=y", {}) == "d");
  CHECK(key("/p?monkey=d", {}).empty());
  CHECK(key("/", {{"authorization", "Basic b"}}).empty());
}

TEST_CASE("the last user text is found in every format") {
  CHECK(read(R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})")
            .last_user == "b");
  CHECK(read(R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},
             {"type":"image","source":{}},{"type":"text","text":"b"}]}]})")
            .last_user == "a\nb");
  CHECK(read(R"({"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t",
             "content":[{"type":"text","text":"r"}]}]}]})")
            .last_user == "r");
  CHECK(read(R"({"messages":[{"role":"tool","tool_call_id":"c","content":"t"}]})").last_user ==
        "t");
  CHECK(read(R"({"input":"i"})").last_user == "i");
  CHECK(
      read(R"({"input":[{"type":"function_call_output","call_id":"c","output":"o"}]})").last_user ==
      "o");
  CHECK(read(R"({"contents":[{"role":"user","parts":[{"text":"g"}]}]})").last_user == "g");
  CHECK(read(R"({"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"r":1}}}]}]})")
            .last_user == R"({"r":1})");
  CHECK(read("{}").last_user.empty());
  CHECK(read(R"({"messages":[]})").last_user.empty());
}

TEST_CASE("tools, model and delivery are read from every format") {
  using Names = std::vector<std::string>;
  CHECK(read(R"({"tools":[{"name":"a"},{"name":"b"}]})").tools == Names{"a", "b"});
  CHECK(read(R"({"tools":[{"type":"function","function":{"name":"c"}}]})").tools == Names{"c"});
  CHECK(read(R"({"tools":[{"functionDeclarations":[{"name":"d"},{"name":"e"}]}]})").tools ==
        Names{"d", "e"});
  CHECK(read(R"({"model":"m"})").model == "m");
  CHECK(read(R"({"stream":true})").delivery == Delivery::stream);
  CHECK(read(R"({"stream":false})").delivery == Delivery::whole);
  CHECK(read("{}", Api::gemini_stream).delivery == Delivery::stream);
  CHECK(read(R"({"stream_options":{"include_usage":true}})").include_usage);
}

}  // namespace
}  // namespace pawl::fake
