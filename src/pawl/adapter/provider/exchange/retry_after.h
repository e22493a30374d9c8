// When a provider says that a request may be made again. What it says is not believed beyond
// reason: nothing that is not a time, and no longer than kRetryAfterMaxMs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pawl/json.h"
#include "pawl/kernel/retry.h"
#include "pawl/port/http.h"

namespace pawl::provider {

// From retry-after-ms, else retry-after (seconds or a date of HTTP).
std::optional<std::uint64_t> retry_after_ms(const HttpResponseHead& head, std::int64_t now_wall_ms);
// From a google.rpc.RetryInfo among error.details: "34.4s".
std::optional<std::uint64_t> google_retry_after_ms(const Json& body);

// "34.4" (no unit), rounded up.
std::optional<std::uint64_t> parse_seconds_ms(std::string_view text);
// "Sun, 06 Nov 1994 08:49:37 GMT" in milliseconds since the Unix epoch.
std::optional<std::int64_t> parse_http_date_ms(std::string_view text);

enum class ShouldRetry : std::uint8_t { unsaid, yes, no };
ShouldRetry should_retry(const HttpResponseHead& head);  // x-should-retry

}  // namespace pawl::provider
