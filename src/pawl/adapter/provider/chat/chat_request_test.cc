#include "pawl/adapter/provider/dialect.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/golden_test.h"
#include "pawl/adapter/provider/common/messages_test.h"

namespace pawl::provider {
namespace {

Result<std::string> chat_body(const PhaseExecutionRequest& request,
                              const std::vector<Message>& messages, const WireOptions& options) {
  PAWL_TRY(WireRequest wire, make_chat_dialect()->encode(request, messages, options));
  return wire.body.whole();
}

WireOptions options(std::vector<std::string> quirks) {
  WireOptions made;
  made.name = "local";
  made.base_url = "http://localhost:8080";
  made.model.id = "llama";
  made.model.images = ExecutorModelDescriptor::Support::yes;
  made.quirks = std::move(quirks);
  return made;
}

Message own(std::vector<Block> blocks) {
  return said_by_model("local/llama", std::move(blocks));
}

Json body_of(const PhaseExecutionRequest& request, const WireOptions& wire) {
  const auto body = chat_body(request, load_conversation(request).value(), wire);
  REQUIRE(body);
  return parse_json(*body).value();
}

std::string messages_of(const PhaseExecutionRequest& request, const WireOptions& wire) {
  return write_json(*body_of(request, wire).find("messages"));
}

}  // namespace

TEST_CASE("chat: a turn of thoughts alone is none, and the user's around it become one") {
  const ThinkingBlock thought{Content(std::string("Hm.")), ""};
  const auto request = request_with({said_by_user("a"), own({thought}), said_by_user("b")});
  CHECK(messages_of(request, options({"replay_reasoning"})) ==
        R"([{"role":"user","content":"a\n\nb"}])");
}

TEST_CASE("chat: thoughts go back under the name that the server wants, or not at all") {
  const auto request = request_with(
      {said_by_user("a"),
       own({ThinkingBlock{Content(std::string("Hm.")), ""}, TextBlock{Content(std::string("x"))}}),
       said_by_user("b")});
  CHECK(messages_of(request, options({})).find("Hm.") == std::string::npos);
  CHECK(messages_of(request, options({"replay_reasoning"})).find(R"("reasoning":"Hm.")") !=
        std::string::npos);
  CHECK(messages_of(request, options({"replay_reasoning_content"}))
            .find(R"("reasoning_content":"Hm.")") != std::string::npos);
}

TEST_CASE("chat: documents only for servers that take them") {
  Message paper = said_by_user("read");
  paper.attachments.push_back({"application/pdf", "paper.pdf", Content(std::string("PDF"))});
  CHECK(chat_body(request_with({}), {paper}, options({"documents"})));
  const auto refused = chat_body(request_with({}), {paper}, options({}));
  REQUIRE(!refused);
  CHECK(refused.error().message.find("paper.pdf") != std::string::npos);
}

TEST_CASE("chat: a body is asked for whole when streaming is off") {
  PhaseExecutionRequest request = request_with({said_by_user("a")});
  request.sampling.stream = Streaming::off;
  const auto wire =
      make_chat_dialect()->encode(request, load_conversation(request).value(), options({}));
  REQUIRE(wire);
  CHECK(wire->framing == WireRequest::Framing::whole);
  CHECK(wire->url == "http://localhost:8080/v1/chat/completions");
  const Json body = parse_json(wire->body.whole()).value();
  CHECK(!body.find("stream")->boolean());
  CHECK(body.find("stream_options") == nullptr);
}

TEST_CASE("chat: the bound has the server's name and never more than the model's") {
  PhaseExecutionRequest request = request_with({said_by_user("a")});
  request.sampling.max_output_tokens = 5000;
  WireOptions wire = options({});
  wire.model.max_output_tokens = 4000;
  CHECK(body_of(request, wire).find("max_tokens")->as_uint64() == 4000);
  wire.quirks = {"max_completion_tokens"};
  CHECK(body_of(request, wire).find("max_completion_tokens")->as_uint64() == 4000);
  CHECK(body_of(request, wire).find("max_tokens") == nullptr);
}

}  // namespace pawl::provider
