#include "pawl/adapter/yaml/yaml_schema.h"

#include <algorithm>
#include <charconv>

namespace pawl {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_sign(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

// Removes the digits at the front and counts them.
std::size_t eat_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count;
}

// [-+]? [0-9]+
bool is_integer(std::string_view text) {
  text = without_sign(text);
  return eat_digits(text) > 0 && text.empty();
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_decimal(std::string_view text) {
  text = without_sign(text);
  std::size_t digits = eat_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += eat_digits(text);
  }
  if (digits == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text = without_sign(text.substr(1));
    if (eat_digits(text) == 0) return false;
  }
  return text.empty();
}

// The base of "0x1F" and "0o17", or 0.
int radix_of(std::string_view text) {
  const auto only = [text](std::string_view digits) {
    return text.size() > 2 && text.find_first_not_of(digits, 2) == std::string_view::npos;
  };
  if (text.starts_with("0x") && only("0123456789abcdefABCDEF")) return 16;
  if (text.starts_with("0o") && only("01234567")) return 8;
  return 0;
}

std::optional<std::int64_t> to_int(std::string_view digits, int radix) {
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, radix);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::optional<double> to_double(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

bool is_not_finite(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return true;
  text = without_sign(text);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

Node refused(std::string message, Mark mark, std::vector<Fault>& faults) {
  add_fault(faults, {mark, std::move(message), "put it in quotes if it is text"});
  return Node::make_null(mark);
}

}  // namespace

Node resolve_plain(std::string text, Mark mark, std::vector<Fault>& faults) {
  if (text == "true" || text == "True" || text == "TRUE") {
    return Node::make_bool(true, std::move(text), mark);
  }
  if (text == "false" || text == "False" || text == "FALSE") {
    return Node::make_bool(false, std::move(text), mark);
  }
  if (is_integer(text)) {
    const auto value = to_int(text, 10);
    return Node::make_integer(value, std::move(text), mark);
  }
  if (const int radix = radix_of(text); radix != 0) {
    const auto value = to_int(std::string_view(text).substr(2), radix);
    if (!value) return refused(quoted(text) + " does not fit 64 bits", mark, faults);
    return Node::make_integer(value, std::move(text), mark);
  }
  if (is_decimal(text)) {
    const auto value = to_double(text);
    if (!value) return refused(quoted(text) + " is out of range", mark, faults);
    return Node::make_decimal(*value, std::move(text), mark);
  }
  if (is_not_finite(text)) {
    return refused(quoted(text) + " is not a finite number", mark, faults);
  }
  return Node::make_string(std::move(text), mark);
}

}  // namespace pawl
