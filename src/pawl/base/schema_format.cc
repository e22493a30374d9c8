#include "pawl/base/schema_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "pawl/base/schema_regex.h"
#include "pawl/base/schema_uri.h"

namespace pawl::schema {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && (c & 0x80) == 0;
}
bool is_hex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

// Takes exactly `count` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t count) {
  if (text.size() < count ||
      !std::all_of(text.begin(), text.begin() + std::ptrdiff_t(count), is_digit)) {
    return std::nullopt;
  }
  int value = 0;
  for (const char c : text.substr(0, count)) value = value * 10 + (c - '0');
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text[0] != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::size_t digits_at(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) -
                                  text.begin());
}

bool take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return false;
  const auto month = take_number(text, 2);
  if (!month || *month < 1 || *month > 12 || !take(text, '-')) return false;
  const auto day = take_number(text, 2);
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = *year % 4 == 0 && (*year % 100 != 0 || *year % 400 == 0);
  const int days = kDays[static_cast<std::size_t>(*month - 1)] + (*month == 2 && leap ? 1 : 0);
  return day && *day >= 1 && *day <= days;
}

// The offset in minutes, or nothing if there is none as RFC 3339 writes it.
std::optional<int> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return 0;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int sign = text[0] == '+' ? 1 : -1;
  text.remove_prefix(1);
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

bool is_time(std::string_view text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return false;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return false;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return false;
  if (take(text, '.')) {
    const std::size_t digits = digits_at(text);
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return false;
  // A leap second is the last one of a day in UTC.
  const int utc_minute = (*hour * 60 + *minute - *offset + 2 * 1440) % 1440;
  return *second < 60 || utc_minute == 1439;
}

bool is_date(std::string_view text) {
  return take_date(text) && text.empty();
}

bool is_date_time(std::string_view text) {
  return take_date(text) && (take(text, 'T') || take(text, 't')) && is_time(text);
}

// Takes components such as 1Y2M off the front, in the order of `units`, each at most once.
std::size_t take_components(std::string_view& text, std::string_view units) {
  std::size_t count = 0;
  std::size_t next = 0;
  while (!text.empty() && is_digit(text[0])) {
    const std::size_t digits = digits_at(text);
    if (digits == text.size()) return 0;
    const std::size_t unit = units.find(text[digits], next);
    // No gaps: a year and a day without a month is not ISO 8601's grammar in RFC 3339.
    if (unit == std::string_view::npos || (count != 0 && unit != next)) return 0;
    next = unit + 1;
    text.remove_prefix(digits + 1);
    ++count;
  }
  return count;
}

bool is_duration(std::string_view text) {
  if (!take(text, 'P') || text.empty()) return false;
  if (text.ends_with('W')) return digits_at(text) == text.size() - 1 && text.size() > 1;
  const std::size_t days = text[0] == 'T' ? 0 : take_components(text, "YMD");
  if (text.empty()) return days != 0;
  return take(text, 'T') && take_components(text, "HMS") != 0 && text.empty();
}

bool is_host_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-')
    return false;
  // "??--" is reserved for forms such as xn--, whose decoding is not checked.
  if (label.size() >= 4 && label.substr(2, 2) == "--" && !label.starts_with("xn--")) return false;
  return std::all_of(label.begin(), label.end(), [](char c) { return is_alnum(c) || c == '-'; });
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_host_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_ipv4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    if (part != 0 && !take(text, '.')) return false;
    const std::size_t digits = digits_at(text);
    if (digits == 0 || digits > 3 || (digits > 1 && text[0] == '0')) return false;
    if (*take_number(text, digits) > 255) return false;
  }
  return text.empty();
}

// Counts the 16-bit groups of one side of "::"; nothing if it is malformed. Only the last side of
// an address may end in a dotted quad.
std::optional<int> count_groups(std::string_view side, bool may_end_in_ipv4) {
  if (side.empty()) return 0;
  for (int groups = 1;; ++groups) {
    const std::size_t colon = side.find(':');
    const std::string_view group = side.substr(0, colon);
    const bool last = colon == std::string_view::npos;
    if (last && may_end_in_ipv4 && is_ipv4(group)) return groups + 1;
    if (group.empty() || group.size() > 4 || !std::all_of(group.begin(), group.end(), is_hex)) {
      return std::nullopt;
    }
    if (last) return groups;
    side.remove_prefix(colon + 1);
  }
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return count_groups(text, true) == 8;
  const auto before = count_groups(text.substr(0, gap), false);
  const auto after = count_groups(text.substr(gap + 2), true);
  return before && after && *before + *after <= 7;
}

// RFC 3986's characters, plus every non-ASCII one where IRIs are allowed.
enum class Letters : bool { ascii, all };

bool has_uri_letters(std::string_view text, std::string_view extra, Letters letters) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
      i += 2;
    } else if ((c & 0x80) != 0) {
      if (letters == Letters::ascii) return false;
    } else if (!is_alnum(c) &&
               std::string_view("-._~!$&'()*+,;=").find(c) == std::string_view::npos &&
               extra.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

// RFC 3986's IPvFuture, such as v1.fe80::a+en1.
bool is_future_address(std::string_view text) {
  if (!take(text, 'v') && !take(text, 'V')) return false;
  const std::size_t dot = text.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == text.size()) return false;
  const auto version = text.substr(0, dot);
  const auto rest = text.substr(dot + 1);
  return std::all_of(version.begin(), version.end(), is_hex) &&
         rest.find('%') == std::string_view::npos && has_uri_letters(rest, ":", Letters::ascii);
}

bool is_bracketed_host(std::string_view host) {
  if (!host.starts_with('[') || !host.ends_with(']')) return false;
  const std::string_view address = host.substr(1, host.size() - 2);
  return is_ipv6(address) || is_future_address(address);
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return false;
  std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  const bool literal = domain.starts_with("[IPv6:") && domain.ends_with(']');
  const bool domain_ok =
      literal ? is_ipv6(domain.substr(6, domain.size() - 7))
              : is_hostname(domain) || (domain.starts_with('[') && domain.ends_with(']') &&
                                        is_ipv4(domain.substr(1, domain.size() - 2)));
  if (!domain_ok) return false;
  if (local.size() >= 2 && local.front() == '"' && local.back() == '"') return true;
  if (local.front() == '.' || local.back() == '.' || local.find("..") != local.npos) return false;
  return std::all_of(local.begin(), local.end(), [](char c) {
    return is_alnum(c) ||
           std::string_view("!#$%&'*+-/=?^_`{|}~.").find(c) != std::string_view::npos;
  });
}

bool is_authority(std::string_view text, Letters letters) {
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    if (!has_uri_letters(text.substr(0, at), ":", letters)) return false;
    text.remove_prefix(at + 1);
  }
  if (const std::size_t colon = text.rfind(':');
      colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos) {
    if (digits_at(text.substr(colon + 1)) != text.size() - colon - 1) return false;
    text = text.substr(0, colon);
  }
  return is_bracketed_host(text) || has_uri_letters(text, "", letters);
}

bool is_reference(std::string_view text, Letters letters) {
  const Uri uri = split_uri(text);
  if (uri.authority && !is_authority(*uri.authority, letters)) return false;
  // What looks like a scheme and is none: ":foo", "1a:b".
  const std::string_view first = std::string_view(uri.path).substr(0, uri.path.find('/'));
  if (!uri.scheme && !uri.authority && first.find(':') != std::string_view::npos) return false;
  return has_uri_letters(uri.path, ":@/", letters) &&
         has_uri_letters(uri.query.value_or(""), ":@/?", letters) &&
         has_uri_letters(uri.fragment.value_or(""), ":@/?", letters);
}

bool is_uri_reference(std::string_view text) {
  return is_reference(text, Letters::ascii);
}
bool is_uri(std::string_view text) {
  return split_uri(text).scheme && is_reference(text, Letters::ascii);
}
bool is_iri_reference(std::string_view text) {
  return is_reference(text, Letters::all);
}
bool is_iri(std::string_view text) {
  return split_uri(text).scheme && is_reference(text, Letters::all);
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') continue;
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return true;
}

bool is_relative_json_pointer(std::string_view text) {
  const std::size_t digits = digits_at(text);
  if (digits == 0 || (digits > 1 && text[0] == '0')) return false;
  text.remove_prefix(digits);
  return text == "#" || is_json_pointer(text);
}

bool is_regex(std::string_view text) {
  return compile_pattern(text).has_value();
}

struct NamedFormat {
  std::string_view name;
  FormatCheck check;
};
constexpr std::array kFormats = {
    NamedFormat{"date", is_date},
    NamedFormat{"date-time", is_date_time},
    NamedFormat{"duration", is_duration},
    NamedFormat{"email", is_email},
    NamedFormat{"hostname", is_hostname},
    NamedFormat{"ipv4", is_ipv4},
    NamedFormat{"ipv6", is_ipv6},
    NamedFormat{"iri", is_iri},
    NamedFormat{"iri-reference", is_iri_reference},
    NamedFormat{"json-pointer", is_json_pointer},
    NamedFormat{"regex", is_regex},
    NamedFormat{"relative-json-pointer", is_relative_json_pointer},
    NamedFormat{"time", is_time},
    NamedFormat{"uri", is_uri},
    NamedFormat{"uri-reference", is_uri_reference},
    NamedFormat{"uuid", is_uuid},
};

}  // namespace

FormatCheck find_format(std::string_view name) {
  for (const NamedFormat& format : kFormats) {
    if (format.name == name) return format.check;
  }
  return nullptr;
}

}  // namespace pawl::schema
