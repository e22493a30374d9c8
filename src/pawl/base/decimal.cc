#include "pawl/base/decimal.h"

#include <algorithm>
#include <charconv>

#include "pawl/json.h"
#include "pawl/result.h"

namespace pawl {
namespace {

constexpr std::int64_t kExponentMax = std::int64_t{1} << 40U;

std::int64_t parse_exponent(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc::result_out_of_range)
    value = text[0] == '-' ? -kExponentMax : kExponentMax;
  return std::clamp(value, -kExponentMax, kExponentMax);
}

__extension__ using Wide = unsigned __int128;

std::uint64_t multiply_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(Wide{a} * b % modulus);
}

std::uint64_t power_of_ten_modulo(std::uint64_t exponent, std::uint64_t modulus) {
  std::uint64_t result = 1 % modulus;
  std::uint64_t factor = 10 % modulus;
  for (; exponent != 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) result = multiply_modulo(result, factor, modulus);
    factor = multiply_modulo(factor, factor, modulus);
  }
  return result;
}

bool equal_objects(const JsonObject& a, const JsonObject& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.members().begin(), a.members().end(), [&b](const JsonMember& member) {
    const Json* const other = b.find(member.key);
    return other != nullptr && equal_values(member.value, *other);
  });
}

}  // namespace

Decimal Decimal::parse(std::string_view text) {
  Decimal value;
  if (!text.empty() && text[0] == '-') {
    value.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  if (exponent_at < text.size()) value.exponent = parse_exponent(text.substr(exponent_at + 1));
  const std::string_view mantissa = text.substr(0, exponent_at);
  const std::size_t point_at = std::min(mantissa.find('.'), mantissa.size());
  value.digits = mantissa.substr(0, point_at);
  if (point_at < mantissa.size()) {
    value.digits.append(mantissa.substr(point_at + 1));
    value.exponent -= static_cast<std::int64_t>(mantissa.size() - point_at - 1);
  }
  value.digits.erase(0, std::min(value.digits.find_first_not_of('0'), value.digits.size()));
  if (value.digits.empty()) return Decimal{};
  const std::size_t kept = value.digits.find_last_not_of('0') + 1;
  value.exponent += static_cast<std::int64_t>(value.digits.size() - kept);
  value.digits.resize(kept);
  return value;
}

std::int64_t Decimal::magnitude() const {
  PAWL_ASSERT(!is_zero());
  return exponent + static_cast<std::int64_t>(digits.size()) - 1;
}

std::strong_ordering compare(const Decimal& a, const Decimal& b) {
  const auto sign = [](const Decimal& d) { return d.is_zero() ? 0 : d.negative ? -1 : 1; };
  if (sign(a) != sign(b) || a.is_zero()) return sign(a) <=> sign(b);
  const Decimal& low = a.negative ? b : a;
  const Decimal& high = a.negative ? a : b;
  if (low.magnitude() != high.magnitude()) return low.magnitude() <=> high.magnitude();
  // With the same first power, and no trailing zeros, the digits compare like text.
  return low.digits.compare(high.digits) <=> 0;
}

bool is_multiple(const Decimal& value, const Decimal& divisor) {
  PAWL_ASSERT(!divisor.is_zero() && !divisor.negative);
  PAWL_ASSERT(divisor.digits.size() <= kDivisorDigitsMax);
  if (value.is_zero()) return true;
  // The value's digits do not end in 0, so no further power of ten divides them.
  if (value.exponent < divisor.exponent) return false;
  std::uint64_t modulus = 0;
  for (const char digit : divisor.digits) {
    modulus = modulus * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  std::uint64_t remainder = 0;
  for (const char digit : value.digits) {
    remainder = (remainder * 10 + static_cast<std::uint64_t>(digit - '0')) % modulus;
  }
  const auto shift = static_cast<std::uint64_t>(value.exponent - divisor.exponent);
  return multiply_modulo(remainder, power_of_ten_modulo(shift, modulus), modulus) == 0;
}

std::optional<std::string> integer_text(const Decimal& value, std::size_t digits_max) {
  if (value.is_zero()) return "0";
  if (!value.is_integer() || value.magnitude() >= static_cast<std::int64_t>(digits_max)) {
    return std::nullopt;
  }
  std::string text = value.negative ? "-" : "";
  text.append(value.digits);
  text.append(static_cast<std::size_t>(value.exponent), '0');
  return text;
}

bool equal_values(const Json& a, const Json& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_number()) {
    return a.number() == b.number() ||
           Decimal::parse(a.number().text) == Decimal::parse(b.number().text);
  }
  if (a.is_object()) return equal_objects(a.object(), b.object());
  if (!a.is_array()) return a == b;
  return std::equal(a.array().begin(), a.array().end(), b.array().begin(), b.array().end(),
                    equal_values);
}

}  // namespace pawl
