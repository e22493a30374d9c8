#include "pawl/adapter/provider/openai/openai_failure.h"

#include <doctest/doctest.h>

namespace pawl::provider {

TEST_CASE("what statuses and bodies of errors mean") {
  const auto failure = [](int status, std::string_view body) {
    HttpResponseHead head;
    head.status = status;
    head.headers = {{"retry-after", "7"}};
    return openai_status_failure(head, body, 0);
  };
  const PhaseFailed lost =
      failure(400, R"({"error":{"message":"Previous response with id 'resp_1' not found.",)"
                   R"("type":"invalid_request_error","code":"previous_response_not_found"}})");
  CHECK(lost.kind == FailureKind::session_lost);
  const PhaseFailed limited = failure(429, R"({"error":{"code":"rate_limit_exceeded"}})");
  CHECK(limited.kind == FailureKind::rate_limited);
  CHECK(limited.retry_after_ms == 7000);
  const PhaseFailed never = failure(
      429, R"({"error":{"code":"rate_limit_exceeded","message":"Request too large for gpt-5"}})");
  CHECK(never.kind == FailureKind::unsupported);
  CHECK(failure(429, R"({"error":{"code":"insufficient_quota"}})").category ==
        ErrorCategory::quota_exceeded);
  CHECK(failure(401, "<html>").category == ErrorCategory::policy_violation);
  CHECK(failure(400, R"({"error":{"code":"content_filter"}})").category ==
        ErrorCategory::policy_violation);
  CHECK(failure(503, R"({"error":{"message":"slow down","code":"slow_down"}})").kind ==
        FailureKind::overloaded);
  CHECK(failure(500, "").kind == FailureKind::transient);
}

TEST_CASE("a status inside of a good response counts as one") {
  const auto failure = [](const char* text) { return openai_failure(parse_json(text).value()); };
  CHECK(failure(R"({"code":429,"message":"x"})").kind == FailureKind::rate_limited);
  CHECK(failure(R"({"code":"401","message":"x"})").category == ErrorCategory::policy_violation);
  CHECK(failure(R"({"code":99999999999,"message":"x"})").kind == FailureKind::transient);
  CHECK(failure(R"({"code":-1})").kind == FailureKind::transient);
  CHECK(failure(R"("just words")").message.find("just words") != std::string::npos);
  CHECK(failure("null").kind == FailureKind::transient);
}

}  // namespace pawl::provider
