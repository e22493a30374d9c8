// Exact decimal arithmetic over the text of JSON numbers, for comparisons that a double would get
// wrong: 0.3 is a multiple of 0.1, 2^63 + 1 is not 2^63.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl {

class Json;

// ±digits × 10^exponent. `digits` has neither leading nor trailing zeros and is empty for zero, so
// equal values have equal members.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  // `text` is a JSON number. An exponent beyond ±2^40 is taken as ±2^40.
  static Decimal parse(std::string_view text);

  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return exponent >= 0; }
  // The power of ten of the first digit: 0 for 1..9, -1 for 0.1. Zero has none.
  std::int64_t magnitude() const;

  friend bool operator==(const Decimal&, const Decimal&) = default;
};

std::strong_ordering compare(const Decimal& a, const Decimal& b);

// More significant digits than this in a divisor are not supported by is_multiple().
inline constexpr std::size_t kDivisorDigitsMax = 18;

// `divisor` is above zero and has at most kDivisorDigitsMax digits.
bool is_multiple(const Decimal& value, const Decimal& divisor);

// The integer's text without exponent or point, if it has at most `digits_max` digits.
std::optional<std::string> integer_text(const Decimal& value, std::size_t digits_max);

// Equality of values as JSON Schema means it: 1 equals 1.0, and the order of members is no matter.
bool equal_values(const Json& a, const Json& b);

}  // namespace pawl
