#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "pawl/base/decimal.h"
#include "pawl/base/json.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

// Room that is made with the first member: most objects have no more, and growing costs as much as
// reading.
constexpr std::size_t kMembersAtFirst = 4;
// A number without exponent that has no more characters is smaller than the largest double.
constexpr std::ptrdiff_t kSurelyDoubleBytesMax = 300;
constexpr const char* kIncomplete = "incomplete JSON";

enum class Keep : std::uint8_t { everything, only_keys };

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

// Stands in a string for itself and needs no second look: ASCII but for controls, quote, backslash.
bool is_plain(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code >= 0x20 && code < 0x80 && code != '"' && code != '\\';
}

// The same of eight bytes at once: 0 if all are plain, otherwise the high bit of the first byte
// that is not, and of any behind it. A subtraction sets the high bit of each byte that is less than
// what is taken from it; those that had it before are found by themselves.
std::uint64_t not_plain(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
  const std::uint64_t quotes = (word ^ (kOnes * '"')) - kOnes;
  const std::uint64_t backslashes = (word ^ (kOnes * '\\')) - kOnes;
  return (word | (word - kOnes * 0x20) | quotes | backslashes) & (kOnes << 7U);
}

const char* plain_end(const char* at, const char* end) {
  for (std::uint64_t word = 0; end - at >= std::ptrdiff_t{sizeof word}; at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t found = not_plain(word);
    if (found == 0) continue;
    if constexpr (std::endian::native != std::endian::little) break;
    return at + std::countr_zero(found) / 8;
  }
  while (at != end && is_plain(*at)) ++at;
  return at;
}

// Reads a text straight into the value it is. Each function begins where its value does, leaves
// at_ behind it, and is false after the first fault. With Keep::only_keys values stay null, but
// keys are still collected: a repeated one has to be refused. Recursion is bounded by depth_max.
class Reader {
 public:
  Reader(std::string_view text, const JsonLimits& limits, Keep keep)
      : text_(text), end_(text.data() + text.size()), limits_(limits), keep_(keep) {}

  Result<Json> read() {
    Json root;
    if (!value(root)) return located();
    skip_space();
    if (at_ != end_) {
      fail("text after the value");
      return located();
    }
    return root;
  }

 private:
  bool value(Json& out) {
    skip_space();
    if (at_ == end_) return unexpected();
    if (++values_ > limits_.values_max) {
      return exceed("more than " + std::to_string(limits_.values_max) + " values");
    }
    switch (*at_) {
      case '"':
        return string_value(out);
      case '{':
        return nested(out, &Reader::object);
      case '[':
        return nested(out, &Reader::array);
      case 't':
        return literal("true", Json(true), out);
      case 'f':
        return literal("false", Json(false), out);
      case 'n':
        return literal("null", Json(), out);
      default:
        return number(out);
    }
  }

  bool nested(Json& out, bool (Reader::*container)(Json&)) {
    if (++depth_ > limits_.depth_max) {
      return exceed("more than " + std::to_string(limits_.depth_max) + " levels of nesting");
    }
    ++at_;
    const bool read = (this->*container)(out);
    --depth_;
    return read;
  }

  bool array(Json& out) {
    JsonArray items;
    skip_space();
    if (!took(']')) {
      do {
        Json unkept;
        if (!value(keep_ == Keep::everything ? items.emplace_back() : unkept)) return false;
        skip_space();
      } while (took(','));
      if (!took(']')) return unexpected();
    }
    if (keep_ == Keep::everything) out = Json(std::move(items));
    return true;
  }

  bool object(Json& out) {
    std::vector<JsonMember> members;
    skip_space();
    if (at_ == end_ || *at_ != '}') {
      members.reserve(kMembersAtFirst);
      do {
        if (!member(members.emplace_back())) return false;
        skip_space();
      } while (took(','));
      if (at_ == end_ || *at_ != '}') return unexpected();
    }
    auto object = JsonObject::from_members(std::move(members));
    if (!object) return fail(std::move(object).error());
    ++at_;
    if (keep_ == Keep::everything) out = Json(*std::move(object));
    return true;
  }

  bool member(JsonMember& out) {
    skip_space();
    if (!took('"')) return unexpected();
    if (const auto key = plain_string()) {
      out.key = std::string(*key);
    } else if (!string_behind_quote(out.key)) {
      return false;
    }
    skip_space();
    if (!took(':')) return unexpected();
    return value(out.value);
  }

  bool string_value(Json& out) {
    ++at_;
    if (const auto text = plain_string()) {
      if (keep_ == Keep::everything) out = Json(*text);
      return true;
    }
    std::string text;
    if (!string_behind_quote(text)) return false;
    if (keep_ == Keep::everything) out = Json(std::move(text));
    return true;
  }

  // What stands behind a quote, if it is plain up to the next one.
  std::optional<std::string_view> plain_string() {
    const char* const from = at_;
    const char* const quote = plain_end(from, end_);
    if (quote == end_ || *quote != '"') return std::nullopt;
    at_ = quote + 1;
    return std::string_view(from, static_cast<std::size_t>(quote - from));
  }

  bool string_behind_quote(std::string& out) {
    const char* unwritten = at_;
    while (true) {
      at_ = plain_end(at_, end_);
      if (at_ == end_) return unexpected();
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte >= 0x80) {
        if (!multibyte()) return false;
        continue;
      }
      if (byte < 0x20) return fail("a control character in a string");
      out.append(unwritten, static_cast<std::size_t>(at_ - unwritten));
      ++at_;
      if (byte == '"') return true;
      if (!escape(out)) return false;
      unwritten = at_;
    }
  }

  bool multibyte() {
    const Utf8Step step = first_utf8({at_, static_cast<std::size_t>(end_ - at_)});
    if (!step.valid) return fail("a string that is not UTF-8");
    at_ += step.bytes;
    return true;
  }

  bool escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ == end_) return unexpected();
    if (*at_ == 'u') return escaped_character(out);
    const std::size_t which = kLetters.find(*at_);
    if (which == kLetters.npos) return fail("an escape that does not exist");
    ++at_;
    out += kMeanings[which];
    return true;
  }

  // Two escapes where the character has no 16-bit code.
  bool escaped_character(std::string& out) {
    constexpr const char* kHalf = "half of an escaped character";
    std::uint32_t code = 0;
    if (!code_unit(code)) return false;
    if (code >= 0xDC00 && code <= 0xDFFF) return fail(kHalf);
    if (code >= 0xD800 && code <= 0xDBFF) {
      std::uint32_t low = 0;
      if (!took('\\')) return at_ == end_ ? unexpected() : fail(kHalf);
      if (!code_unit(low)) return false;
      if (low < 0xDC00 || low > 0xDFFF) return fail(kHalf);
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    }
    append_utf8(out, static_cast<char32_t>(code));
    return true;
  }

  bool code_unit(std::uint32_t& out) {
    constexpr std::ptrdiff_t kDigits = 4;
    if (!took('u')) return unexpected();
    if (end_ - at_ < kDigits) return fail(kIncomplete);
    const auto read = std::from_chars(at_, at_ + kDigits, out, 16);
    if (read.ec != std::errc{} || read.ptr != at_ + kDigits) return unexpected();
    at_ += kDigits;
    return true;
  }

  bool number(Json& out) {
    const char* const from = at_;
    took('-');
    if (!took('0') && !digits()) return unexpected();
    if (took('.') && !digits()) return unexpected();
    const char* const mantissa_end = at_;
    if (took('e') || took('E')) {
      if (!took('+')) took('-');
      if (!exponent()) return false;
    }
    const bool surely = at_ == mantissa_end && at_ - from <= kSurelyDoubleBytesMax;
    if (!surely && !is_double({from, static_cast<std::size_t>(at_ - from)})) {
      return fail("a number is too large for a double");
    }
    if (keep_ == Keep::everything) out = Json(JsonNumber{std::string(from, at_)});
    return true;
  }

  // Beyond this nobody agrees on what a number is, however small it may be.
  bool exponent() {
    const char* const from = at_;
    if (!digits()) return unexpected();
    std::int32_t value = 0;
    if (std::from_chars(from, at_, value).ec == std::errc{}) return true;
    return fail("an exponent that is too large");
  }

  // A number too small for a double is accepted: its text is kept, and zero is near. One too large
  // has no double near it, and readers disagree about what it is.
  static bool is_double(std::string_view text) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec != std::errc::result_out_of_range || Decimal::parse(text).magnitude() <= 0;
  }

  bool digits() {
    const char* const from = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != from;
  }

  bool literal(std::string_view word, Json meaning, Json& out) {
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (!std::string_view(at_, left).starts_with(word)) return fail("syntax error");
    at_ += word.size();
    if (keep_ == Keep::everything) out = std::move(meaning);
    return true;
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool took(char byte) {
    if (at_ == end_ || *at_ != byte) return false;
    ++at_;
    return true;
  }

  bool unexpected() { return fail(at_ == end_ ? kIncomplete : "syntax error"); }
  bool exceed(std::string message) {
    return fail(Error{ErrorCode::limit_exceeded, std::move(message)});
  }
  bool fail(const char* message) { return fail(Error{ErrorCode::invalid_argument, message}); }
  bool fail(Error fault) {
    fault_ = std::move(fault);
    return false;
  }

  // The fault with its place, line and column from 1.
  Error located() const {
    const auto offset = static_cast<std::size_t>(at_ - text_.data());
    const std::string_view before = text_.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = offset - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    return {fault_->code, "JSON line " + std::to_string(line) + " column " +
                              std::to_string(column) + ": " + fault_->message};
  }

  const std::string_view text_;
  const char* at_ = text_.data();
  const char* const end_;
  const JsonLimits limits_;
  const Keep keep_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  std::optional<Error> fault_;
};

Result<Json> parse_bounded(std::string_view text, const JsonLimits& limits, Keep keep) {
  if (text.size() > limits.bytes_max) {
    return Error{ErrorCode::limit_exceeded,
                 "JSON over " + std::to_string(limits.bytes_max) + " bytes"};
  }
  return Reader(text, limits, keep).read();
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  return parse_bounded(text, limits, Keep::everything);
}

Status check_json(std::string_view text, const JsonLimits& limits) {
  PAWL_TRY([[maybe_unused]] const Json nothing, parse_bounded(text, limits, Keep::only_keys));
  return ok();
}

}  // namespace pawl
