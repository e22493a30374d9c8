#include "pawl/adapter/provider/exchange/retry_after.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

constexpr std::int64_t kNowMs = 784'111'777'000;  // Sun, 06 Nov 1994 08:49:37 GMT

std::optional<std::uint64_t> after(std::vector<HttpHeader> headers) {
  HttpResponseHead head;
  head.headers = std::move(headers);
  return retry_after_ms(head, kNowMs);
}

TEST_CASE("dates of HTTP") {
  CHECK(parse_http_date_ms("Sun, 06 Nov 1994 08:49:37 GMT") == kNowMs);
  CHECK(parse_http_date_ms("Thu, 01 Jan 1970 00:00:00 GMT") == 0);
  CHECK(parse_http_date_ms("Thu, 29 Feb 2024 23:59:60 GMT") == 1'709'251'200'000);
  CHECK(parse_http_date_ms("Wed, 01 Jan 2025 00:00:00 GMT") == 1'735'689'600'000);
  for (const char* text : {"", "now", "Sun, 06 Nov 1994 08:49:37 CET",
                           "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
                           "Sun, 06 Nov 19x4 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"}) {
    CHECK(parse_http_date_ms(text) == std::nullopt);
  }
}

TEST_CASE("sc-P02: what is no time is nothing, what is too long is cut") {
  CHECK(after({{"retry-after", "7"}}) == 7'000);
  CHECK(after({{"retry-after", " 0.0001 "}}) == 1);
  CHECK(after({{"retry-after", "Sun, 06 Nov 1994 08:49:42 GMT"}}) == 5'000);
  CHECK(after({{"retry-after", "Sun, 06 Nov 2099 08:49:42 GMT"}}) == kRetryAfterMaxMs);
  CHECK(after({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}) == std::nullopt);
  CHECK(after({{"retry-after", "3600"}}) == kRetryAfterMaxMs);
  CHECK(after({{"retry-after", "1e12"}}) == kRetryAfterMaxMs);
  CHECK(after({{"retry-after", "99999999999999999999"}}) == kRetryAfterMaxMs);
  for (const char* text : {"", "abc", "-1", "0", "nan", "inf ", "7s", "1e999", "0x10", "7 8"}) {
    CAPTURE(text);
    const auto found = after({{"retry-after", text}});
    CHECK((found == std::nullopt || found == kRetryAfterMaxMs));
  }
  CHECK(after({}) == std::nullopt);
}

TEST_CASE("milliseconds come before seconds, unless they are none") {
  CHECK(after({{"retry-after-ms", "1500"}, {"retry-after", "7"}}) == 1'500);
  CHECK(after({{"retry-after-ms", "x"}, {"retry-after", "7"}}) == 7'000);
}

TEST_CASE("Google's details") {
  const auto of = [](const char* json) { return google_retry_after_ms(parse_json(json).value()); };
  CHECK(of(R"({"error":{"details":[{"a":1},{"retryDelay":"34.4s"}]}})") == 34'400);
  CHECK(of(R"({"error":{"details":[{"retryDelay":"1e9s"}]}})") == kRetryAfterMaxMs);
  for (const char* json :
       {"{}", "[]", R"({"error":{"details":[{"retryDelay":"34.4"}]}})",
        R"({"error":{"details":[{"retryDelay":34}]}})", R"({"error":{"details":{}}})",
        R"({"error":3})", R"({"error":{"details":[{"retryDelay":"-3s"}]}})"}) {
    CHECK(of(json) == std::nullopt);
  }
}

TEST_CASE("x-should-retry") {
  const auto of = [](const char* text) {
    HttpResponseHead head;
    head.headers = {{"x-should-retry", text}};
    return should_retry(head);
  };
  CHECK(of("true") == ShouldRetry::yes);
  CHECK(of("false") == ShouldRetry::no);
  CHECK(of("maybe") == ShouldRetry::unsaid);
  CHECK(should_retry({}) == ShouldRetry::unsaid);
}

}  // namespace
}  // namespace pawl::provider
