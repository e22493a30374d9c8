#include <algorithm>
#include <array>
#include <cstdint>

#include "pawl/base/flat_json.h"
#include "pawl/base/plain_ascii.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What stands for a character after a backslash; 0: nothing does.
char simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

constexpr std::size_t kDepthMost = 128;       // levels whose places are kept
constexpr std::size_t kDigitsPlain = 300;     // a number of no more digits fits into a double
constexpr std::size_t kMembersCompared = 16;  // of one object, each with each

}  // namespace

// Says whether the text is fit. Why it is not is found out by parse_json, which takes its time.
class FlatJson::Reader {
 public:
  Reader(FlatJson& json, const JsonLimits& limits)
      : json_(json),
        limits_(limits),
        begin_(json.text_.data()),
        at_(begin_),
        end_(begin_ + json.text_.size()) {}

  bool read() {
    skip_space();
    if (!value()) return false;
    while (depth_ > 0) {
      if (!next()) return false;
    }
    skip_space();
    return at_ == end_;
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take(char wanted) {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(at_ - begin_); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(json_.nodes_.size()); }

  void add(JsonKind kind, std::uint32_t at, std::uint32_t size, Node::Place place) {
    json_.nodes_.push_back({at, size, count() + 1, kind, place});
  }

  // What follows a value, or a bracket that opens, inside of an array or object.
  bool next() {
    skip_space();
    Node& open = json_.nodes_[open_[depth_ - 1]];
    const bool object = open.kind == JsonKind::object;
    if (take(object ? '}' : ']')) return close();
    if (open.size > 0) {
      if (!take(',')) return false;
      skip_space();
    }
    ++open.size;
    if (object && !key()) return false;
    return value();
  }

  bool key() {
    if (at_ == end_ || *at_ != '"' || !string()) return false;
    skip_space();
    if (!take(':')) return false;
    skip_space();
    return true;
  }

  bool value() {
    if (at_ == end_ || ++values_ > limits_.values_max) return false;
    switch (*at_) {
      case '{':
        return open(JsonKind::object);
      case '[':
        return open(JsonKind::array);
      case '"':
        return string();
      case 't':
        return word("true", JsonKind::boolean);
      case 'f':
        return word("false", JsonKind::boolean);
      case 'n':
        return word("null", JsonKind::null);
      default:
        return number();
    }
  }

  bool open(JsonKind kind) {
    if (depth_ == std::min(limits_.depth_max, kDepthMost)) return false;
    ++at_;
    open_[depth_++] = count();
    add(kind, 0, 0, Node::Place::text);
    return true;
  }

  bool close() {
    const std::uint32_t index = open_[--depth_];
    json_.nodes_[index].end = count();
    return json_.nodes_[index].kind != JsonKind::object || has_unique_keys(index);
  }

  bool has_unique_keys(std::uint32_t object) {
    const auto& nodes = json_.nodes_;
    if (nodes[object].size < 2) return true;
    if (nodes[object].size > kMembersCompared) return has_unique_sorted_keys(object);
    std::array<std::string_view, kMembersCompared> keys;
    std::size_t known = 0;
    for (std::uint32_t at = object + 1; at < count(); at = nodes[at + 1].end) {
      const std::string_view key = json_.characters(nodes[at]);
      for (std::size_t i = 0; i < known; ++i) {
        if (keys[i] == key) return false;
      }
      keys[known++] = key;
    }
    return true;
  }

  bool has_unique_sorted_keys(std::uint32_t object) {
    std::vector<std::string_view> keys;
    keys.reserve(json_.nodes_[object].size);
    for (std::uint32_t at = object + 1; at < count(); at = json_.nodes_[at + 1].end) {
      keys.push_back(json_.characters(json_.nodes_[at]));
    }
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
  }

  bool word(std::string_view wanted, JsonKind kind) {
    if (!std::string_view(at_, end_).starts_with(wanted)) return false;
    add(kind, here(), static_cast<std::uint32_t>(wanted.size()), Node::Place::text);
    at_ += wanted.size();
    return true;
  }

  bool digits() {
    const char* const first = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != first;
  }

  bool number() {
    const char* const first = at_;
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    const bool has_exponent = at_ != end_ && (*at_ == 'e' || *at_ == 'E');
    if (has_exponent) {
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    const std::string_view text(first, at_);
    if ((has_exponent || text.size() > kDigitsPlain) && !check_json(text)) return false;
    add(JsonKind::number, static_cast<std::uint32_t>(first - begin_),
        static_cast<std::uint32_t>(text.size()), Node::Place::text);
    return true;
  }

  // One without escapes is not copied.
  bool string() {
    const char* const first = ++at_;
    if (!characters()) return false;
    if (*at_ == '"') {
      add(JsonKind::string, static_cast<std::uint32_t>(first - begin_),
          static_cast<std::uint32_t>(at_ - first), Node::Place::text);
      ++at_;
      return true;
    }
    return escaped_string(first);
  }

  // Goes on to the next quote or backslash; false: there is none, or something that may not stand
  // in front of it.
  bool characters() {
    while (true) {
      at_ = after_plain_ascii(at_, end_);
      if (at_ == end_) return false;
      if (*at_ == '"' || *at_ == '\\') return true;
      if (static_cast<std::uint8_t>(*at_) < 0x20) return false;
      const Utf8Step step = first_utf8(std::string_view(at_, end_));
      if (!step.valid) return false;
      at_ += step.bytes;
    }
  }

  bool escaped_string(const char* piece) {
    std::string& out = json_.unescaped_;
    const auto start = static_cast<std::uint32_t>(out.size());
    while (*at_ == '\\') {
      out.append(piece, at_);
      ++at_;
      if (!escape(out)) return false;
      piece = at_;
      if (!characters()) return false;
    }
    out.append(piece, at_);
    ++at_;
    add(JsonKind::string, start, static_cast<std::uint32_t>(out.size()) - start,
        Node::Place::unescaped);
    return true;
  }

  bool escape(std::string& out) {
    if (at_ == end_) return false;
    const char c = *at_++;
    if (c == 'u') return escaped_code(out);
    const char plain = simple_escape(c);
    if (plain != 0) out.push_back(plain);
    return plain != 0;
  }

  bool escaped_code(std::string& out) {
    std::optional<char32_t> code = four_digits();
    if (!code || (*code >= 0xDC00 && *code <= 0xDFFF)) return false;
    if (*code >= 0xD800 && *code <= 0xDBFF) {
      if (!take('\\') || !take('u')) return false;
      const std::optional<char32_t> low = four_digits();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
      code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
    }
    append_utf8(out, *code);
    return true;
  }

  std::optional<char32_t> four_digits() {
    if (end_ - at_ < 4) return std::nullopt;
    char32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = digit_of(*at_++);
      if (digit < 0) return std::nullopt;
      code = code << 4U | static_cast<char32_t>(digit);
    }
    return code;
  }

  FlatJson& json_;
  const JsonLimits& limits_;
  const char* const begin_;
  const char* at_;
  const char* const end_;
  std::array<std::uint32_t, kDepthMost> open_;  // NOLINT: written before it is read
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
};

void FlatJson::shrink() {
  if (nodes_.capacity() > kValuesKept) std::vector<Node>().swap(nodes_);
  if (unescaped_.capacity() > kTextBytesKept) std::string().swap(unescaped_);
  nodes_.clear();
  unescaped_.clear();
}

Result<FlatValue> FlatJson::read(std::string_view text, const JsonLimits& limits) {
  shrink();
  text_ = text;
  const bool fits = text.size() <= limits.bytes_max && text.size() < UINT32_MAX;
  if (fits && Reader(*this, limits).read()) return FlatValue(this, 0);
  PAWL_CHECK(check_json(text, limits));
  return Error{ErrorCode::invalid_argument, "the JSON is not understood"};
}

}  // namespace pawl
