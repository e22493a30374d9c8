#include "pawl/adapter/provider/dialect.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

TEST_CASE("requests to Anthropic have its headers, its path and the operator's headers") {
  const auto dialect = make_anthropic_dialect();
  WireOptions options;
  options.base_url = "https://a.example.com";
  options.model.id = "claude-test";
  options.headers = {{"anthropic-beta", "x"}};
  PhaseExecutionRequest request;
  const auto wire = dialect->encode(request, load_conversation(request).value(), options);
  REQUIRE(wire);
  CHECK(wire->method == "POST");
  CHECK(wire->url == "https://a.example.com/v1/messages");
  CHECK(wire->framing == WireRequest::Framing::events);
  REQUIRE(wire->headers.size() == 3);
  CHECK(wire->headers[1].name == "anthropic-version");
  CHECK(wire->headers[2].value == "x");
  request.sampling.stream = Streaming::off;
  const auto whole = dialect->encode(request, load_conversation(request).value(), options);
  CHECK(whole->framing == WireRequest::Framing::whole);
  CHECK(whole->body.whole().find("\"stream\"") == std::string::npos);
  CHECK(dialect->credentials("k").name == "x-api-key");
  CHECK(dialect->probe(options).method == "GET");
}

TEST_CASE("what error bodies of Anthropic say") {
  const auto dialect = make_anthropic_dialect();
  const auto kind = [&](int status, const std::string& type, const std::string& message) {
    HttpResponseHead head;
    head.status = status;
    return dialect
        ->failure_of(head,
                     R"({"type":"error","error":{"type":")" + type + R"(","message":")" + message +
                         R"("},"request_id":"r"})",
                     0)
        .kind;
  };
  CHECK(kind(400, "invalid_request_error", "prompt is too long: 2 tokens > 1 maximum") ==
        FailureKind::unsupported);
  CHECK(kind(400, "invalid_request_error", "messages: roles must alternate") ==
        FailureKind::permanent);
  CHECK(kind(400, "invalid_request_error", "Your credit balance is too low") ==
        FailureKind::permanent);
  CHECK(kind(404, "not_found_error", "model: claude-x") == FailureKind::model_not_found);
  CHECK(kind(500, "overloaded_error", "Overloaded") == FailureKind::overloaded);
}

}  // namespace
}  // namespace pawl::provider
