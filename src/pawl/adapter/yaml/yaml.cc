#include "pawl/adapter/yaml/yaml.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <exception>
#include <istream>
#include <streambuf>
#include <tuple>

#include "pawl/adapter/yaml/yaml_builder.h"
#include "pawl/base/utf8.h"

namespace pawl {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Mark mark_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0.
  return {static_cast<std::uint32_t>(lines) + 1,
          static_cast<std::uint32_t>(offset - line_start) + 1};
}

// YAML 1.2.2, section 5.1, and no lone carriage return: yaml-cpp would not count the line. yaml-cpp
// takes a U+0004 for the end of the text, so this check is also what keeps it honest.
std::string_view refusal(std::string_view rest, const Utf8Step& step) {
  const char32_t c = step.code_point;
  if (!step.valid) return "bytes that are not UTF-8";
  if (c == 0) return "a NUL byte";
  if (c == '\r') return rest.starts_with("\r\n") ? "" : "a carriage return without a line feed";
  if (c == '\t' || c == '\n' || c == 0x85) return "";
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return "a control character";
  return c == 0xFFFE || c == 0xFFFF ? "a character that Unicode reserves" : "";
}

std::optional<Fault> find_bad_character(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if ((c >= ' ' && c < '\x7F') || c == '\n') {
      ++at;
      continue;
    }
    const std::string_view rest = text.substr(at);
    const Utf8Step step = first_utf8(rest);
    if (const std::string_view why = refusal(rest, step); !why.empty()) {
      return Fault{mark_at(text, at), std::string(why), "save the file as plain UTF-8 text"};
    }
    at += step.bytes;
  }
  return std::nullopt;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_flow_indicator(char c) {
  return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

bool is_separator(char c) {
  return c == ',' || c == ':' || c == '[' || c == '{' || c == '?';
}

// Estimates from above, and without knowing what it looks at, how many tokens yaml-cpp makes of a
// text: in a flow collection an entry is a comma, a KEY and a scalar.
class TokenEstimate {
 public:
  void add(char c) {
    tokens_ += weight(c);
    before_ = c;
    if (!is_blank(c)) before_blanks_ = c;
  }
  void reset() { tokens_ = 0; }
  std::size_t tokens() const { return tokens_; }

 private:
  std::size_t weight(char c) const {
    switch (c) {
      case '[':
      case '{':
        // Deep nesting is refused anyway: the sooner the better.
        return before_ == '[' || before_ == '{' ? 8 : 4;
      case ',':
        return 3;
      case '}':
      case ':':
        return 2;
      case ']':
        return 1;
      case '"':
      case '\'': {
        // After a separator it begins the scalar that the separator was counted for already.
        const bool begins = is_blank(before_) || before_ == '"' || before_ == '\'';
        return begins && !is_separator(before_blanks_) ? 2 : 0;
      }
      case '&':
      case '*':
      case '!':
        return is_blank(before_) || is_flow_indicator(before_) ? 8 : 0;  // Refused anyway, too.
      case '?':
        return is_blank(before_) || is_flow_indicator(before_) ? 2 : 0;
      default:
        return 0;
    }
  }

  std::size_t tokens_ = 0;
  char before_ = '\n';
  char before_blanks_ = '\n';
};

// More than one piece of yaml-cpp's (2048 bytes) can hold: it takes the first one in a constructor
// that leaks when it is left by an exception, so that one must never be the last.
constexpr std::size_t kTokensMin = 20'000;

// Hands the text to yaml-cpp piece by piece, and stops it when it takes in much and reports
// nothing: it keeps every token of a flow collection, at some hundred bytes each, until the
// collection is closed and known not to be a key.
class Source final : public std::streambuf {
 public:
  Source(std::string_view text, const YamlLimits& limits, const TreeBuilder& builder,
         std::vector<Fault>& faults)
      : text_(text),
        tokens_max_(kTokensMin + limits.nodes_max * 5 / 2),
        builder_(builder),
        faults_(faults) {
    auto* begin = const_cast<char*>(text.data());  // A get area is never written to.
    setg(begin, begin, begin + text.size());
  }

 protected:
  std::streamsize xsgetn(char* out, std::streamsize count) override {
    const auto start = static_cast<std::size_t>(gptr() - eback());
    const std::streamsize taken = std::streambuf::xsgetn(out, count);
    if (builder_.events() != events_seen_) estimate_.reset();
    events_seen_ = builder_.events();
    for (std::size_t i = 0; i < static_cast<std::size_t>(taken); ++i) {
      estimate_.add(text_[start + i]);
      if (estimate_.tokens() > tokens_max_) stop(start + i);
    }
    return taken;
  }

 private:
  [[noreturn]] void stop(std::size_t at) {
    add_fault(faults_, {mark_at(text_, at), "too much punctuation in one flow collection or scalar",
                        "split it, or write it in block style"});
    throw StopReading{};
  }

  std::string_view text_;
  std::size_t tokens_max_;
  const TreeBuilder& builder_;
  std::vector<Fault>& faults_;
  TokenEstimate estimate_;
  std::size_t events_seen_ = 0;
};

std::string remedy_for(std::string_view message) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Pair, 6> kRemedies = {
      Pair{"flow not found", "close the bracket"},
      Pair{"illegal map value", "quote a text that contains \": \", or check the indentation"},
      Pair{"unknown token", "quote a text that begins with a special character"},
      Pair{"illegal EOF", "close the quote"},
      Pair{"illegal tab", "indent with spaces"},
      Pair{"escape", "use single quotes for a text with backslashes"}};
  for (const auto& [part, remedy] : kRemedies) {
    if (message.find(part) != std::string_view::npos) return std::string(remedy);
  }
  return "check the indentation and the quotes";
}

// Where a line is indented with a tab, of which YAML says something else, if anything.
std::optional<std::size_t> find_indenting_tab(std::string_view text, std::size_t at) {
  const std::size_t line = text.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0.
  const std::size_t first = text.find_first_not_of(' ', line);
  if (first == std::string_view::npos || first > at || text[first] != '\t') return std::nullopt;
  return first;
}

// An alias without its anchor is a syntax error to yaml-cpp; here it is an alias like any other.
Fault to_fault(const YAML::Exception& error, std::string_view text) {
  const auto at = static_cast<std::size_t>(std::max(error.mark.pos, 0));
  if (at < text.size() && text[at] == '*' && error.msg.find("anchor") != std::string::npos) {
    return {to_mark(error.mark), "aliases are not supported", "write the value out"};
  }
  if (const auto tab = find_indenting_tab(text, std::min(at, text.size()))) {
    return {mark_at(text, *tab), "a tab in the indentation", "indent with spaces"};
  }
  // The message may quote one byte of a longer character.
  return {to_mark(error.mark), to_valid_utf8(error.msg), remedy_for(error.msg)};
}

Node read_tree(std::string_view text, const YamlLimits& limits, std::vector<Fault>& faults) {
  TreeBuilder builder(text, limits, faults);
  try {
    Source source(text, limits, builder, faults);
    std::istream stream(&source);
    YAML::Parser parser(stream);
    // A second document is a fault of the builder's, which ends the loop.
    while (parser.HandleNextDocument(builder)) {
    }
    Node root = builder.take_root();
    const bool is_empty = root.kind() == Node::Kind::null && root.mark() == Mark{};
    return is_empty ? Node::make_null({1, 1}) : std::move(root);
  } catch (const StopReading&) {
    PAWL_ASSERT(!faults.empty());
  } catch (const YAML::Exception& error) {
    add_fault(faults, to_fault(error, text));
  } catch (const std::exception& error) {
    add_fault(faults, {{}, std::string("cannot be read: ") + error.what(), ""});
  }
  return {};
}

}  // namespace

DocumentResult parse_yaml(std::string_view text, const YamlLimits& limits) {
  DocumentResult result;
  if (text.size() > limits.bytes_max) {
    result.faults = {
        {{}, "more than " + std::to_string(limits.bytes_max) + " bytes", "split the document"}};
    return result;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (auto fault = find_bad_character(text)) {
    result.faults.push_back(std::move(*fault));
    return result;
  }
  Node root = read_tree(text, limits, result.faults);
  if (result.faults.empty()) result.root = std::move(root);
  std::stable_sort(result.faults.begin(), result.faults.end(), [](const Fault& a, const Fault& b) {
    return std::tie(a.mark.line, a.mark.column) < std::tie(b.mark.line, b.mark.column);
  });
  return result;
}

}  // namespace pawl
