#include "pawl/adapter/provider/dialect.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

TEST_CASE("what error bodies of Gemini say") {
  const auto dialect = make_gemini_dialect();
  HttpResponseHead head;
  head.status = 429;
  const PhaseFailed limited = dialect->failure_of(
      head,
      R"({"error":{"code":429,"message":"You exceeded your current quota, please check your plan )"
      R"(and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},)"
      R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}})",
      0);
  CHECK(limited.kind == FailureKind::rate_limited);
  CHECK(limited.retry_after_ms == 34'400);
  head.status = 400;
  const PhaseFailed key = dialect->failure_of(
      head,
      R"([{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}])", 0);
  CHECK(key.category == ErrorCategory::policy_violation);
  const PhaseFailed length = dialect->failure_of(
      head,
      R"({"error":{"code":400,"message":"The input token count (2) exceeds the maximum",)"
      R"("status":"INVALID_ARGUMENT"}})",
      0);
  CHECK(length.kind == FailureKind::unsupported);
}

TEST_CASE("requests go to the path of their model, the key into a header") {
  const auto dialect = make_gemini_dialect();
  WireOptions options;
  options.base_url = "https://g.example.com";
  options.model.id = "gemini-3-pro";
  options.headers = {{"x-own", "1"}};
  PhaseExecutionRequest request;
  const auto wire = dialect->encode(request, load_conversation(request).value(), options);
  REQUIRE(wire);
  CHECK(wire->url ==
        "https://g.example.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
  CHECK(wire->framing == WireRequest::Framing::events);
  CHECK(wire->headers.back().name == "x-own");
  request.sampling.stream = Streaming::off;
  CHECK(dialect->encode(request, load_conversation(request).value(), options)->framing ==
        WireRequest::Framing::whole);
  CHECK(dialect->credentials("k").name == "x-goog-api-key");
  CHECK(dialect->probe(options).url == "https://g.example.com/v1beta/models?pageSize=1");
}

}  // namespace
}  // namespace pawl::provider
