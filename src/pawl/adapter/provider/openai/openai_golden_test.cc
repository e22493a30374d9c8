// The requests of both OpenAI dialects, in tests/golden/provider.
#include <doctest/doctest.h>

#include "pawl/adapter/provider/chat/chat_validator_test.h"
#include "pawl/adapter/provider/common/golden_test.h"
#include "pawl/adapter/provider/responses/responses_validator_test.h"

namespace pawl::provider::openai_test {
namespace {

using Support = ExecutorModelDescriptor::Support;

Message user(const std::string& text) {
  Message message;
  message.text = Content(text);
  return message;
}

Message assistant(const std::string& model, std::vector<Block> blocks) {
  Message message;
  message.role = Role::assistant;
  message.model = model;
  message.blocks = std::move(blocks);
  return message;
}

Message result(std::uint64_t call, const std::string& text,
               Message::Outcome outcome = Message::Outcome::fine) {
  Message message;
  message.role = Role::tool;
  message.call = CallId{call};
  message.text = Content(text);
  message.outcome = outcome;
  return message;
}

CallBlock call(const std::string& tool, const std::string& input, const std::string& id) {
  CallBlock block;
  block.tool = tool;
  block.input = Content(input);
  block.provider_id = id;
  return block;
}

// A question with pictures, thoughts, calls in parallel, one that failed, and another provider's
// turn in the middle.
std::vector<Message> rich_conversation() {
  Message question = user("What is on the picture?");
  question.attachments.push_back({"image/png", "cat.png", Content("PNG")});
  question.attachments.push_back({"application/pdf", "", Content("PDF")});
  const std::string thought =
      R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look first."}],)"
      R"("encrypted_content":"gAAAAB"})";
  return {
      question,
      assistant("openai/gpt-5.2",
                {ThinkingBlock{Content("Look first."), thought}, TextBlock{Content("I look.")},
                 call("look", R"({"at":"cat.png"})", "call_A"), call("files.read", "", "call_B")}),
      result(1, "a cat"),
      result(2, "no such file", Message::Outcome::error),
      assistant("anthropic/claude",
                {ThinkingBlock{Content("Hm."), "c2ln"}, TextBlock{Content("A cat.")},
                 call("look", R"({"at":"dog.png"})", "toolu_01")}),
      result(3, "a dog"),
      user("Sure?")};
}

PhaseExecutionRequest rich_request() {
  PhaseExecutionRequest request;
  request.run = RunId{"run-1"};
  request.system_prompt = "Be brief.";
  request.note = "One step is left.";
  request.transcript = make_transcript(rich_conversation());
  ToolSpec& look = request.tools.emplace_back();
  look.name = "look";
  look.description = "Looks at a picture.";
  look.input_schema =
      R"({"type":"object","properties":{"at":{"type":"string"}},"required":["at"]})";
  request.tools.emplace_back().name = "files.read";
  request.sampling.max_output_tokens = 1000;
  request.sampling.temperature_milli = 250;
  request.sampling.effort = ReasoningEffort::max;
  request.output_schema =
      R"({"type":"object","properties":{"animal":{"type":"string"}},"required":["animal"],)"
      R"("additionalProperties":false})";
  return request;
}

WireOptions wire_options() {
  WireOptions options;
  options.name = "openai";
  options.base_url = "https://api.openai.com";
  options.model.id = "gpt-5.2";
  options.model.images = Support::yes;
  options.model.thinking = Support::yes;
  options.model.temperature = Support::no;
  options.model.structured_output = Support::yes;
  return options;
}

std::string responses(const PhaseExecutionRequest& request, const WireOptions& options) {
  const auto wire =
      make_responses_dialect()->encode(request, load_conversation(request).value(), options);
  REQUIRE(wire);
  CHECK(wire->url == "https://api.openai.com/v1/responses");
  CHECK(responses_fault(parse_json(wire->body.whole()).value(), Author::pawl) == "");
  return wire->body.whole();
}

std::string chat(const PhaseExecutionRequest& request, const WireOptions& options) {
  const auto wire =
      make_chat_dialect()->encode(request, load_conversation(request).value(), options);
  REQUIRE(wire);
  CHECK(chat_fault(parse_json(wire->body.whole()).value(), Author::pawl) == "");
  return wire->body.whole();
}

}  // namespace

TEST_CASE("golden: Responses, everything at once, replayed") {
  check_golden("responses-replay.json", responses(rich_request(), wire_options()));
}

TEST_CASE("golden: Responses, a session that goes on") {
  WireOptions options = wire_options();
  options.resume = WireOptions::Resume::session;
  PhaseExecutionRequest request = rich_request();
  check_golden("responses-session-first.json", responses(request, options));
  request.session = "resp_1";
  request.session_length = 2;  // up to the calls, without their results
  check_golden("responses-session-next.json", responses(request, options));
}

TEST_CASE("golden: Responses, a plain question to a model that can do little") {
  PhaseExecutionRequest request;
  request.transcript = make_transcript(std::vector{user("Hi")});
  request.sampling.temperature_milli = 1000;
  request.sampling.effort = ReasoningEffort::high;
  request.sampling.stream = Streaming::off;
  request.sampling.max_output_tokens = 1;
  request.output_schema = R"({"type":"array"})";
  WireOptions options = wire_options();
  options.model = {};
  options.model.id = "gpt-4.1";
  check_golden("responses-plain.json", responses(request, options));
}

TEST_CASE("golden: chat, everything at once, for servers with different quirks") {
  for (const char* server : {"openai", "openrouter", "deepseek", "mistral", "ollama", "standard"}) {
    WireOptions options = wire_options();
    options.quirks = {server, "documents"};
    options.model.temperature = Support::yes;
    check_golden(std::string("chat-") + server + ".json", chat(rich_request(), options));
  }
}

}  // namespace pawl::provider::openai_test
