// What begins with '$' or a backquote.
#include <algorithm>
#include <utility>

#include "pawl/gate/shell/shell_reader_state.h"

namespace pawl {
namespace {

constexpr unsigned kAsciiMax = 0x7F;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

}  // namespace

void ShellParser::read_dollar(ShellWord& word, QuoteState quotes) {
  const std::size_t begin = position_;
  const bool unquoted = quotes == QuoteState::unquoted;
  advance();
  const char c = peek();
  if (c == '(') return read_dollar_parenthesis(word, begin);
  if (c == '{') return read_braced(word, begin, quotes);
  if (c == '\'' && unquoted) return read_ansi(word);
  if (c == '"' && unquoted) {
    advance();
    return read_double(word, ShellPartKind::translated);
  }
  if (c == '[') {
    advance();
    add(ShellFeature::expansion);
    if (!read_arithmetic("]")) return malformed("']' is missing");
    return append(word, ShellPartKind::arithmetic, source(begin));
  }
  if (is_name_byte(c) || std::string_view("@*#?$!-").find(c) != std::string_view::npos) {
    if (c != '\0') return read_name(word, begin);
  }
  append(word, unquoted ? ShellPartKind::plain : ShellPartKind::double_quoted, "$");
}

void ShellParser::read_name(ShellWord& word, std::size_t begin) {
  add(ShellFeature::expansion);
  const char first = peek();
  advance();
  // $1 and $? are one byte; a name is as long as it can be.
  const bool name = is_name_byte(first) && !(first >= '0' && first <= '9');
  while (name && is_name_byte(peek())) advance();
  append(word, ShellPartKind::parameter, source(begin));
}

void ShellParser::read_dollar_parenthesis(ShellWord& word, std::size_t begin) {
  take('(');
  if (peek() != '(') return read_substitution(word, begin, ShellPartKind::command);
  advance();
  add(ShellFeature::expansion);
  if (!read_arithmetic("))")) {
    return fail(ShellOutcome::unsupported, "'$((' that is no arithmetic");
  }
  append(word, ShellPartKind::arithmetic, source(begin));
}

// After the opening parenthesis.
void ShellParser::read_substitution(ShellWord& word, std::size_t begin, ShellPartKind kind) {
  const Deeper deeper(*this);
  add(ShellFeature::substitution);
  std::vector<PendingDocument> outer = std::exchange(documents_, {});
  read_list(ListEnd::parenthesis);
  if (!take(')')) return malformed("')' is missing");
  const bool mixed = !outer.empty() && source(begin).find('\n') != std::string::npos;
  if (!documents_.empty() || mixed) {
    return fail(ShellOutcome::unsupported, "a here-document across a substitution");
  }
  documents_ = std::move(outer);
  append(word, kind, source(begin));
}

void ShellParser::read_braced(ShellWord& word, std::size_t begin, QuoteState quotes) {
  const Deeper deeper(*this);
  add(ShellFeature::expansion);
  take('{');
  if (is_shell_blank(peek()) || peek() == '\n' || peek() == '|') {
    return fail(ShellOutcome::unsupported, "'${' that is no parameter");
  }
  while (!failed() && peek() != '}') {
    const char c = peek();
    if (c == '\0') return malformed("'}' is missing");
    // Whether it quotes there depends on the operator before it.
    if (c == '\'' && quotes == QuoteState::double_quoted) {
      return fail(ShellOutcome::unsupported, "a ' in a parameter in double quotes");
    }
    if (!skip_nested(c, quotes)) advance();
  }
  take('}');
  append(word, ShellPartKind::parameter, source(begin));
}

bool ShellParser::skip_nested(char c, QuoteState quotes) {
  ShellWord ignored;
  switch (c) {
    case '\\':
      advance();
      if (position_ < text_.size()) advance();
      return true;
    case '\'':
      read_single(ignored);
      return true;
    case '"':
      advance();
      read_double(ignored, ShellPartKind::double_quoted);
      return true;
    case '`':
      read_backquote(ignored, quotes);
      return true;
    case '$':
      read_dollar(ignored, quotes);
      return true;
    case '<':
    case '>':
      if (peek_second() != '(' || quotes == QuoteState::double_quoted) return false;
      advance();
      take('(');
      read_substitution(ignored, position_, ShellPartKind::process);
      return true;
    default:
      return false;
  }
}

// After the opening; true when it was closed as `closing` says.
bool ShellParser::read_arithmetic(std::string_view closing) {
  const Deeper deeper(*this);
  const bool brackets = closing == "]";
  std::size_t open = 0;
  while (!failed()) {
    const char c = peek();
    if (c == '\0') return false;
    if (c == (brackets ? ']' : ')')) {
      const bool closes = open == 0;
      if (closes && !brackets && peek_second() != ')') return false;
      advance();
      if (closes && !brackets) take(')');
      if (closes) return true;
      --open;
    } else if (c == (brackets ? '[' : '(')) {
      ++open;
      advance();
    } else if (c == '\'') {
      // Quotes in arithmetic are not what they are elsewhere.
      fail(ShellOutcome::unsupported, "a ' in arithmetic");
    } else if ((c == '<' || c == '>') || !skip_nested(c, QuoteState::double_quoted)) {
      advance();
    }
  }
  return false;
}

// `...`: bash takes one level of backslashes away and reads the rest as a program.
void ShellParser::read_backquote(ShellWord& word, QuoteState quotes) {
  const std::size_t begin = position_;
  add(ShellFeature::substitution);
  advance();
  std::string inner;
  while (position_ < text_.size() && text_[position_] != '`') {
    const bool escape = text_[position_] == '\\' && position_ + 1 < text_.size();
    const char next = escape ? text_[position_ + 1] : '\0';
    if (escape && (next == '`' || next == '\\' || next == '$' ||
                   (next == '"' && quotes == QuoteState::double_quoted))) {
      advance();
    } else if (escape) {
      inner += text_[position_];
      advance();
    }
    inner += text_[position_];
    advance();
  }
  if (position_ >= text_.size()) return malformed("a ` without its end");
  advance();
  if (failed()) return;
  ShellParser(progress_, inner, base_ + begin).read_program();
  append(word, ShellPartKind::command, source(begin));
}

// $'...'
void ShellParser::read_ansi(ShellWord& word) {
  std::string value;
  add(ShellFeature::ansi_quote);
  advance();
  while (!failed()) {
    if (position_ >= text_.size()) return malformed("a $' without its end");
    const char c = text_[position_];
    advance();
    if (c == '\'') break;
    if (c == '\\' && position_ < text_.size()) {
      read_ansi_escape(value);
    } else {
      value += c;
    }
  }
  append(word, ShellPartKind::ansi_quoted, value);
}

void ShellParser::append_decoded(std::string& out, unsigned value) {
  if (value == 0) return fail(ShellOutcome::unsupported, "a NUL in $'...'");
  if (value > kAsciiMax) add(ShellFeature::not_ascii);
  if (value < 0x20 && value != '\n' && value != '\t') add(ShellFeature::control);
  out += static_cast<char>(static_cast<unsigned char>(value));
}

void ShellParser::read_numeric_escape(std::string& out, unsigned base, std::size_t digits_max) {
  unsigned value = 0;
  std::size_t digits = 0;
  while (digits < digits_max && position_ < text_.size() &&
         digit_value(text_[position_]) < static_cast<int>(base)) {
    value = value * base + static_cast<unsigned>(digit_value(text_[position_]));
    advance();
    ++digits;
  }
  if (digits == 0) return fail(ShellOutcome::unsupported, "an escape without digits in $'...'");
  // Beyond ASCII the bytes of \u depend on the locale; \777 is cut to a byte by some.
  if ((digits_max > 3 && value > kAsciiMax) || value > 0xFF) {
    return fail(ShellOutcome::unsupported, "a character beyond ASCII in $'...'");
  }
  append_decoded(out, value);
}

void ShellParser::read_ansi_escape(std::string& out) {
  const char c = text_[position_];
  constexpr std::string_view kLetters = "abeEfnrtv\\'\"?";
  constexpr std::string_view kValues = "\a\b\x1b\x1b\f\n\r\t\v\\'\"?";
  if (const std::size_t found = kLetters.find(c); found != std::string_view::npos) {
    advance();
    return append_decoded(out, static_cast<unsigned char>(kValues[found]));
  }
  if (c >= '0' && c <= '7') return read_numeric_escape(out, 8, 3);
  if (c == 'c') return fail(ShellOutcome::unsupported, "\\c in $'...'");
  if (c != 'x' && c != 'u' && c != 'U') {
    out += '\\';
    return;
  }
  advance();
  read_numeric_escape(out, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8);
}

}  // namespace pawl
