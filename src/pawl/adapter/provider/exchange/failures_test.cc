#include "pawl/adapter/provider/exchange/failures.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

PhaseFailed failed(int status, const std::string& body, std::vector<HttpHeader> headers = {}) {
  HttpResponseHead head;
  head.status = status;
  head.headers = std::move(headers);
  return failure_of_status(head, provider_error_of(body), 0);
}

TEST_CASE("error bodies of all shapes") {
  const auto read = [](const char* body) {
    const ProviderError error = provider_error_of(body);
    return error.type + "|" + error.message;
  };
  CHECK(read(R"({"type":"error","error":{"type":"a","message":"b"}})") == "a|b");
  CHECK(read(R"({"error":{"message":"b","type":"t","param":null,"code":"c"}})") == "t c|b");
  CHECK(read(R"([{"error":{"code":429,"status":"S","message":"b"}}])") == "429 S|b");
  CHECK(read(R"({"error":{"type":"c","code":"c","message":"b"}})") == "c|b");
  CHECK(read(R"({"error":"plain"})") == "|plain");
  CHECK(read("<html>\n\x01</html>") == "|<html>  </html>");
  CHECK(read("") == "|");
  CHECK(read(R"({"error":{"message":3,"type":[]}})") == "|3");
  CHECK(provider_error_of(std::string(10'000, 'x')).message.size() < 1'100);
}

TEST_CASE("a failure says its status once") {
  CHECK(failed(404, R"({"error":{"code":404,"status":"S","message":"b"}})").message ==
        "HTTP 404 S: b");
  CHECK(failed(429, R"({"error":{"code":429,"message":"b"}})").message == "HTTP 429: b");
  CHECK(failed(502, R"({"error":{"code":429,"message":"b"}})").message == "HTTP 502 429: b");
  CHECK(failed(404, R"({"error":{"type":"4041","message":"b"}})").message == "HTTP 404 4041: b");
}

TEST_CASE("what an error says beyond its status") {
  CHECK(failed(429, R"({"error":{"code":"insufficient_quota"}})").category ==
        ErrorCategory::quota_exceeded);
  CHECK(failed(400, R"({"error":{"code":"context_length_exceeded"}})").kind ==
        FailureKind::unsupported);
  CHECK(failed(413, R"({"error":{"message":"Prompt is too long"}})").kind ==
        FailureKind::unsupported);
  CHECK(failed(400, R"({"error":{"message":"The model x does not exist"}})").kind ==
        FailureKind::model_not_found);
  CHECK(failed(500, "{}", {{"x-should-retry", "false"}}).kind == FailureKind::permanent);
  CHECK(failed(400, "{}", {{"x-should-retry", "true"}}).kind == FailureKind::transient);
  CHECK(failed(401, "{}", {{"x-should-retry", "true"}}).kind == FailureKind::permanent);
  CHECK(failed(500, "{}", {{"retry-after", "3"}}).retry_after_ms == 3'000);
  CHECK(failed(302, "").kind == FailureKind::permanent);
}

TEST_CASE("errors inside of good responses are told by their types") {
  const auto kind = [](const char* type) { return failure_of_type({type, "m"}).kind; };
  CHECK(kind("overloaded_error") == FailureKind::overloaded);
  CHECK(kind("rate_limit_error") == FailureKind::rate_limited);
  CHECK(kind("authentication_error") == FailureKind::permanent);
  CHECK(kind("invalid_request_error") == FailureKind::permanent);
  CHECK(kind("api_error") == FailureKind::transient);
  CHECK(kind("server_error") == FailureKind::transient);
  CHECK(kind("") == FailureKind::transient);
  CHECK(failure_of_type({"insufficient_quota", ""}).category == ErrorCategory::quota_exceeded);
  CHECK(failure_of_type({"", "m"}).message == "error: m");
}

TEST_CASE("sc-P05: keys are taken out, whole, in part and of other providers") {
  const std::string key = "sk-ant-api03-Abcdef0123456789-XYZ";
  CHECK(without_key("bad key " + key + "!", key) == "bad key [redacted]!");
  CHECK(without_key("Bearer " + key.substr(0, 12) + "...", key) == "Bearer [redacted]");
  CHECK(without_key("ends in ***" + key.substr(20), key) == "ends in [redacted]");
  CHECK(without_key("x=AIzaSyA1234567", "") == "x=AIzaSyA1234567");
  CHECK(without_key("x AIzaSyA1234567 y", "") == "x [redacted] y");
  CHECK(without_key("nothing here, sk-1", key) == "nothing here, sk-1");
  CHECK(without_key("a key: pass word!", "pass word!") == "a key: [redacted]");
  CHECK(without_key("the key none in nonetheless", "none") == "the key [redacted] in nonetheless");
  CHECK(without_key("", key) == "");
}

TEST_CASE("messages are one short line of valid text") {
  CHECK(short_message("a\nb\tc\x7F") == "a b c ");
  CHECK(short_message("a\xFF") == "a\uFFFD");
  CHECK(short_message(std::string(5'000, 'x')).size() <= kFailureMessageBytesMax + 8);
}

}  // namespace
}  // namespace pawl::provider
