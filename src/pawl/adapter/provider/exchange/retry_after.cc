#include "pawl/adapter/provider/exchange/retry_after.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pawl::provider {
namespace {

constexpr std::size_t kTextBytesMax = 64;  // No time is longer than this.
constexpr std::size_t kDetailsMax = 64;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// A plain decimal above zero, as milliseconds when one of it is `unit_ms`.
std::optional<std::uint64_t> parse_span_ms(std::string_view text, double unit_ms) {
  text = trimmed(text);
  if (text.empty() || text.size() > kTextBytesMax) return std::nullopt;
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (fault == std::errc::result_out_of_range) return std::nullopt;
  if (fault != std::errc{} || !(value > 0)) return std::nullopt;  // Not a number is not above zero.
  const double span_ms = std::ceil(value * unit_ms);
  if (span_ms >= static_cast<double>(kRetryAfterMaxMs)) return kRetryAfterMaxMs;
  return static_cast<std::uint64_t>(span_ms);
}

std::optional<int> digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');  // Four digits at most.
  }
  return value;
}

std::optional<int> month_of(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::find(kMonths.begin(), kMonths.end(), text);
  if (found == kMonths.end()) return std::nullopt;
  return static_cast<int>(found - kMonths.begin()) + 1;
}

// Days since 1970-01-01 of a date of the Gregorian calendar (after Howard Hinnant's public domain
// formula: years begin in March, so that leap days come last).
std::int64_t days_since_epoch(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

std::optional<std::uint64_t> span_until_ms(std::int64_t then_ms, std::int64_t now_ms) {
  if (then_ms <= now_ms) return std::nullopt;
  // Both are times of this calendar: the difference fits.
  return std::min(static_cast<std::uint64_t>(then_ms - now_ms), kRetryAfterMaxMs);
}

}  // namespace

std::optional<std::uint64_t> parse_seconds_ms(std::string_view text) {
  return parse_span_ms(text, 1'000);
}

std::optional<std::int64_t> parse_http_date_ms(std::string_view text) {
  constexpr std::string_view kShape = "Sun, 06 Nov 1994 08:49:37 GMT";
  text = trimmed(text);
  if (text.size() != kShape.size() || !text.ends_with(" GMT")) return std::nullopt;
  if (text[3] != ',' || text[19] != ':' || text[22] != ':') return std::nullopt;
  const auto day = digits(text.substr(5, 2));
  const auto month = month_of(text.substr(8, 3));
  const auto year = digits(text.substr(12, 4));
  const auto hour = digits(text.substr(17, 2));
  const auto minute = digits(text.substr(20, 2));
  const auto second = digits(text.substr(23, 2));
  if (!day || !month || !year || !hour || !minute || !second) return std::nullopt;
  if (*year < 1970 || *day < 1 || *day > 31 || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  const std::int64_t days = days_since_epoch(*year, *month, *day);
  return ((days * 24 + *hour) * 60 + *minute) * 60'000 + *second * 1'000;
}

std::optional<std::uint64_t> retry_after_ms(const HttpResponseHead& head,
                                            std::int64_t now_wall_ms) {
  if (const std::string* text = head.find("retry-after-ms")) {
    if (const auto span = parse_span_ms(*text, 1)) return span;
  }
  const std::string* text = head.find("retry-after");
  if (text == nullptr) return std::nullopt;
  if (const auto then_ms = parse_http_date_ms(*text)) return span_until_ms(*then_ms, now_wall_ms);
  return parse_seconds_ms(*text);
}

std::optional<std::uint64_t> google_retry_after_ms(const Json& body) {
  const Json* error = body.find("error");
  const Json* details = error != nullptr ? error->find("details") : nullptr;
  if (details == nullptr || !details->is_array()) return std::nullopt;
  const JsonArray& all = details->array();
  for (std::size_t i = 0; i < std::min(all.size(), kDetailsMax); ++i) {
    const std::string* delay = all[i].find_string("retryDelay");
    if (delay == nullptr || !delay->ends_with('s')) continue;
    return parse_seconds_ms(std::string_view(*delay).substr(0, delay->size() - 1));
  }
  return std::nullopt;
}

ShouldRetry should_retry(const HttpResponseHead& head) {
  const std::string* text = head.find("x-should-retry");
  if (text == nullptr) return ShouldRetry::unsaid;
  if (trimmed(*text) == "true") return ShouldRetry::yes;
  return trimmed(*text) == "false" ? ShouldRetry::no : ShouldRetry::unsaid;
}

}  // namespace pawl::provider
