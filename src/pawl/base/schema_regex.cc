#include "pawl/base/schema_regex.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "pawl/base/utf8.h"

namespace pawl::schema {
namespace {

// ECMA-262's white space and line terminators, and everything else, as the inside of a class.
constexpr std::string_view kSpace =
    "\\x{9}-\\x{D}\\x{20}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}"
    "\\x{3000}\\x{FEFF}";
constexpr std::string_view kNotSpace =
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}"
    "\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}"
    "\\x{3001}-\\x{FEFE}\\x{FF00}-\\x{10FFFF}";

// RE2 knows general categories by their short names only.
constexpr std::array kCategories = {
    std::pair{"casedletter", "L&"},
    std::pair{"closepunctuation", "Pe"},
    std::pair{"connectorpunctuation", "Pc"},
    std::pair{"control", "Cc"},
    std::pair{"currencysymbol", "Sc"},
    std::pair{"dashpunctuation", "Pd"},
    std::pair{"decimalnumber", "Nd"},
    std::pair{"digit", "Nd"},
    std::pair{"enclosingmark", "Me"},
    std::pair{"finalpunctuation", "Pf"},
    std::pair{"format", "Cf"},
    std::pair{"initialpunctuation", "Pi"},
    std::pair{"letter", "L"},
    std::pair{"letternumber", "Nl"},
    std::pair{"lineseparator", "Zl"},
    std::pair{"lowercaseletter", "Ll"},
    std::pair{"mark", "M"},
    std::pair{"combiningmark", "M"},
    std::pair{"mathsymbol", "Sm"},
    std::pair{"modifierletter", "Lm"},
    std::pair{"modifiersymbol", "Sk"},
    std::pair{"nonspacingmark", "Mn"},
    std::pair{"number", "N"},
    std::pair{"openpunctuation", "Ps"},
    std::pair{"other", "C"},
    std::pair{"otherletter", "Lo"},
    std::pair{"othernumber", "No"},
    std::pair{"otherpunctuation", "Po"},
    std::pair{"othersymbol", "So"},
    std::pair{"paragraphseparator", "Zp"},
    std::pair{"privateuse", "Co"},
    std::pair{"punctuation", "P"},
    std::pair{"punct", "P"},
    std::pair{"separator", "Z"},
    std::pair{"spaceseparator", "Zs"},
    std::pair{"spacingmark", "Mc"},
    std::pair{"symbol", "S"},
    std::pair{"titlecaseletter", "Lt"},
    std::pair{"uppercaseletter", "Lu"},
};

Error unsupported(std::string_view what) {
  return {ErrorCode::invalid_argument, "regular expression: " + std::string(what)};
}

std::string code_point_text(unsigned code_point) {
  char digits[8];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), code_point, 16).ptr;
  return "\\x{" + std::string(std::begin(digits), end) + "}";
}

std::string category_name(std::string_view written) {
  for (const std::string_view prefix : {"General_Category=", "gc=", "Script=", "sc="}) {
    if (written.starts_with(prefix)) written.remove_prefix(prefix.size());
  }
  std::string folded;
  for (const char c : written) {
    const auto lower = std::tolower(static_cast<unsigned char>(c));
    if (c != '_') folded.push_back(static_cast<char>(lower));
  }
  for (const auto& [name, category] : kCategories) {
    if (folded == name) return category;
  }
  return std::string(written);
}

// Walks the pattern once, left to right, and writes RE2's spelling of each piece.
class Translation {
 public:
  explicit Translation(std::string_view pattern) : rest_(pattern) {}

  Result<std::string> finish() {
    while (!rest_.empty()) {
      const char c = rest_[0];
      if (c == '\\') {
        PAWL_CHECK(escape());
      } else if (in_class_) {
        inside_class(c);
      } else if (c == '[') {
        open_class();
      } else if (c == '(') {
        PAWL_CHECK(open_group());
      } else if (c == '.') {
        emit("[^\\n\\r\\x{2028}\\x{2029}]", 1);
      } else {
        emit(rest_.substr(0, 1), 1);
      }
    }
    return std::move(out_);
  }

 private:
  void emit(std::string_view text, std::size_t taken) {
    out_.append(text);
    rest_.remove_prefix(taken);
  }

  void inside_class(char c) {
    if (c == ']') in_class_ = false;
    // A bracket inside a class is a letter to ECMA-262, and may open [:alpha:] for RE2.
    emit(c == '[' ? "\\[" : rest_.substr(0, 1), 1);
  }

  void open_class() {
    if (rest_.starts_with("[^]")) return emit("[\\x{0}-\\x{10FFFF}]", 3);
    if (rest_.starts_with("[]")) return emit("[^\\x{0}-\\x{10FFFF}]", 2);
    in_class_ = true;
    emit("[", 1);
    if (rest_.starts_with('^')) emit("^", 1);
  }

  Status open_group() {
    for (const std::string_view look : {"(?=", "(?!", "(?<=", "(?<!"}) {
      if (rest_.starts_with(look)) {
        return unsupported("lookaround " + std::string(look) + "...) is not supported");
      }
    }
    if (rest_.starts_with("(?<")) {
      emit("(?P<", 3);
    } else if (rest_.starts_with("(?:")) {
      emit("(?:", 3);
    } else if (rest_.starts_with("(?")) {
      return unsupported("the group " + std::string(rest_.substr(0, 3)) + " is unknown");
    } else {
      emit("(", 1);
    }
    return ok();
  }

  Status escape() {
    if (rest_.size() < 2) return unsupported("nothing follows the last backslash");
    const char c = rest_[1];
    switch (c) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 't':
      case 'n':
      case 'r':
      case 'v':
      case 'f':
        emit(rest_.substr(0, 2), 2);
        return ok();
      case 's':
        return space(kSpace);
      case 'S':
        return space(kNotSpace);
      case 'b':
      case 'B':
        if (in_class_ && c == 'B') return unsupported("\\B inside a class");
        emit(in_class_ ? "\\x{8}" : rest_.substr(0, 2), 2);
        return ok();
      case 'c':
        return control();
      case 'x':
        return hexadecimal(2);
      case 'u':
        return unicode();
      case 'p':
      case 'P':
        return property();
      case '0':
        emit("\\x{0}", 2);
        return ok();
      default:
        return identity(c);
    }
  }

  Status space(std::string_view members) {
    emit(in_class_ ? std::string(members) : "[" + std::string(members) + "]", 2);
    return ok();
  }

  Status control() {
    if (rest_.size() < 3 || std::isalpha(static_cast<unsigned char>(rest_[2])) == 0) {
      return unsupported("a letter must follow \\c");
    }
    emit(code_point_text(static_cast<unsigned char>(rest_[2]) % 32U), 3);
    return ok();
  }

  std::optional<unsigned> hex_at(std::size_t at, std::size_t digits) const {
    if (rest_.size() < at + digits) return std::nullopt;
    unsigned value = 0;
    const char* const first = rest_.data() + at;
    const auto read = std::from_chars(first, first + digits, value, 16);
    if (read.ec != std::errc{} || read.ptr != first + digits) return std::nullopt;
    return value;
  }

  Status hexadecimal(std::size_t digits) {
    const auto value = hex_at(2, digits);
    if (!value) return unsupported("bad hexadecimal escape");
    emit(code_point_text(*value), 2 + digits);
    return ok();
  }

  Status unicode() {
    if (rest_.starts_with("\\u{")) {
      const std::size_t end = std::min(rest_.find('}'), rest_.size());
      const auto value = end > 3 && end < 11 ? hex_at(3, end - 3) : std::nullopt;
      if (!value || *value > 0x10FFFF) return unsupported("bad escape \\u{...}");
      emit(code_point_text(*value), end + 1);
      return ok();
    }
    const auto high = hex_at(2, 4);
    const auto low = rest_.substr(0, 8).ends_with("\\u") ? hex_at(8, 4) : std::nullopt;
    if (high && low && (*high & 0xFC00U) == 0xD800U && (*low & 0xFC00U) == 0xDC00U) {
      emit(code_point_text(0x10000U + ((*high & 0x3FFU) << 10U) + (*low & 0x3FFU)), 12);
      return ok();
    }
    return hexadecimal(4);
  }

  Status property() {
    const std::size_t end = rest_.find('}');
    if (rest_.size() < 3 || rest_[2] != '{' || end == std::string_view::npos) {
      return unsupported("\\p needs a name in braces");
    }
    const std::string name = category_name(rest_.substr(3, end - 3));
    const bool negated = rest_[1] == 'P';
    if (name == "L&") {
      if (in_class_ || negated) return unsupported("this use of Cased_Letter");
      emit("[\\p{Lu}\\p{Ll}\\p{Lt}]", end + 1);
    } else if (name == "Any") {
      emit(negated ? "\\P{Any}" : "\\p{Any}", end + 1);
    } else if (name == "ASCII") {
      if (in_class_) return unsupported("\\p{ASCII} inside a class");
      emit(negated ? "[^\\x{0}-\\x{7F}]" : "[\\x{0}-\\x{7F}]", end + 1);
    } else {
      emit(std::string(negated ? "\\P{" : "\\p{") + name + "}", end + 1);
    }
    return ok();
  }

  Status identity(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isdigit(byte) != 0 || c == 'k') return unsupported("backreferences are not supported");
    if (std::isalpha(byte) != 0) {
      return unsupported("the escape \\" + std::string(1, c) + " is unknown");
    }
    if (std::ispunct(byte) != 0 && c != '_') {
      emit(rest_.substr(0, 2), 2);
    } else {
      emit("", 1);  // The character itself follows.
    }
    return ok();
  }

  std::string_view rest_;
  std::string out_;
  bool in_class_ = false;
};

}  // namespace

Result<std::string> to_re2(std::string_view pattern) {
  if (pattern.size() > kPatternBytesMax) {
    return Error{ErrorCode::limit_exceeded, "regular expression over 4096 bytes"};
  }
  return Translation(pattern).finish();
}

Result<std::shared_ptr<const re2::RE2>> compile_pattern(std::string_view pattern) {
  PAWL_TRY(const std::string translated, to_re2(pattern));
  re2::RE2::Options options;
  options.set_log_errors(false);
  // Most expressions fit into the small budget; only those that do not get, and are charged, more.
  options.set_max_mem(512 << 10);
  auto regex = std::make_shared<const re2::RE2>(translated, options);
  if (regex->error_code() == re2::RE2::ErrorPatternTooLarge) {
    options.set_max_mem(8 << 20);
    regex = std::make_shared<const re2::RE2>(translated, options);
  }
  if (!regex->ok()) return unsupported(regex->error());
  return regex;
}

}  // namespace pawl::schema
