// Words: quotes, escapes, and the characters that make a word more than its bytes.
#include <algorithm>

#include "pawl/gate/shell/shell_reader_state.h"

namespace pawl {
namespace {

constexpr std::string_view kNameBytes =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

// The last byte of what was read so far, if it was neither quoted nor escaped.
char last_plain(const ShellWord& word) {
  if (word.parts.empty() || word.parts.back().kind != ShellPartKind::plain) return '\0';
  return word.parts.back().text.back();
}

}  // namespace

std::size_t assignment_length(const ShellWord& word) {
  if (word.parts.empty() || word.parts.front().kind != ShellPartKind::plain) return 0;
  std::string_view text = word.parts.front().text;
  const std::size_t length = std::min(text.find_first_not_of(kNameBytes), text.size());
  if (!is_shell_name(text.substr(0, length))) return 0;
  std::size_t used = length;
  text.remove_prefix(length);
  const bool subscript =
      text.empty() && word.parts.size() > 2 && word.parts[1].kind == ShellPartKind::glob &&
      word.parts[1].text.starts_with('[') && word.parts[2].kind == ShellPartKind::plain;
  if (subscript) {
    used += word.parts[1].text.size();
    text = word.parts[2].text;
  }
  if (text.starts_with("+=")) return used + 2;
  return text.starts_with('=') ? used + 1 : 0;
}

void ShellParser::append(ShellWord& word, ShellPartKind kind, std::string_view text) {
  const bool joins = !word.parts.empty() && word.parts.back().kind == kind &&
                     (kind == ShellPartKind::plain || kind == ShellPartKind::double_quoted);
  if (joins) {
    word.parts.back().text += text;
    return;
  }
  if (word.parts.size() >= kShellPartsMax) {
    return fail(ShellOutcome::too_much,
                "a word of more than " + std::to_string(kShellPartsMax) + " parts");
  }
  word.parts.push_back({kind, std::string(text)});
}

ShellWord ShellParser::read_word(WordPlace place) {
  ShellWord word;
  peek();
  word.begin = base_ + position_;
  std::size_t open_parentheses = 0;
  while (!failed() && read_part(word, place, open_parentheses)) {
  }
  if (!failed() && word.parts.empty()) malformed("a word is missing");
  if (!failed() && open_parentheses > 0) malformed("')' is missing in a pattern");
  word.end = base_ + position_;
  return word;
}

bool ShellParser::read_part(ShellWord& word, WordPlace place, std::size_t& open_parentheses) {
  const char c = peek();
  if (c == '\0') return false;
  if ((c == '<' || c == '>') && peek_second() == '(') {
    const std::size_t begin = position_;
    advance();
    take('(');
    read_substitution(word, begin, ShellPartKind::process);
    return true;
  }
  if (c == '(' || c == ')' || (c == '|' && place == WordPlace::pattern) ||
      (open_parentheses > 0 && is_shell_break(c))) {
    return read_parenthesis(word, place, open_parentheses);
  }
  if (is_shell_break(c)) return false;
  if (read_quoting(word, c) || read_pattern(word, place, c)) return true;
  append(word, ShellPartKind::plain, {&c, 1});
  advance();
  return true;
}

// "name=(" begins an array; in [[ ]] parentheses belong to patterns; elsewhere they end a word.
bool ShellParser::read_parenthesis(ShellWord& word, WordPlace place,
                                   std::size_t& open_parentheses) {
  const char c = peek();
  if (c == '(' && place != WordPlace::pattern) {
    if (last_plain(word) != '=' || assignment_length(word) == 0) return false;
    read_array(word);
    return true;
  }
  if (place != WordPlace::pattern || (c == ')' && open_parentheses == 0)) return false;
  if (c == '|' && open_parentheses == 0 && peek_second() == '|') return false;
  if (c == '(') ++open_parentheses;
  if (c == ')') --open_parentheses;
  append(word, ShellPartKind::glob, {&c, 1});
  advance();
  return true;
}

bool ShellParser::read_quoting(ShellWord& word, char c) {
  switch (c) {
    case '\\':
      read_escape(word);
      return true;
    case '\'':
      read_single(word);
      return true;
    case '"':
      advance();
      read_double(word, ShellPartKind::double_quoted);
      return true;
    case '`':
      read_backquote(word, QuoteState::unquoted);
      return true;
    case '$':
      read_dollar(word, QuoteState::unquoted);
      return true;
    default:
      return false;
  }
}

// What expands to file names, words or directories.
bool ShellParser::read_pattern(ShellWord& word, WordPlace place, char c) {
  const bool first = word.parts.empty();
  const std::size_t begin = position_;
  ShellPartKind kind = ShellPartKind::plain;
  if (c == '*' || c == '?') {
    kind = ShellPartKind::glob;
  } else if (c == '[') {
    // "[" alone is a command.
    if (first && is_shell_break(peek_second())) return false;
    kind = ShellPartKind::glob;
    const bool subscript = place == WordPlace::command && word.parts.size() == 1 &&
                           word.is_plain() && is_shell_name(word.value());
    if (subscript) {
      add(ShellFeature::expansion);
      read_subscript(word, begin);
      return true;
    }
  } else if (c == '{') {
    // "{}" is what find and xargs replace.
    if (peek_second() == '}' && is_shell_break(peek_third())) return false;
    kind = ShellPartKind::brace;
  } else if (c == '~') {
    const char before = last_plain(word);
    if (!first && before != '=' && before != ':') return false;
    // "=~" assigns to no name.
    if (before == '=' && word.parts.size() == 1 && word.parts[0].text == "=") return false;
    kind = ShellPartKind::tilde;
  }
  if (kind == ShellPartKind::plain) return false;
  add(ShellFeature::expansion);
  advance();
  append(word, kind, {&c, 1});
  return true;
}

// "name[" where an assignment may stand: bash reads to the matching bracket, also across blanks.
void ShellParser::read_subscript(ShellWord& word, std::size_t begin) {
  advance();
  std::size_t open = 1;
  while (!failed() && open > 0) {
    const char c = peek();
    if (c == '\0') return malformed("']' is missing");
    if (skip_nested(c, QuoteState::unquoted)) continue;
    if (c == '[') ++open;
    if (c == ']') --open;
    advance();
  }
  append(word, ShellPartKind::glob, source(begin));
}

void ShellParser::read_array(ShellWord& word) {
  const Deeper deeper(*this);
  const std::size_t begin = position_;
  add(ShellFeature::expansion);
  take('(');
  skip_space();
  while (!failed() && peek() != ')') {
    if (is_shell_break(peek())) return malformed("an unexpected byte in an array");
    read_word(WordPlace::command);
    skip_space();
  }
  if (!take(')')) return malformed("')' is missing");
  append(word, ShellPartKind::array, source(begin));
}

void ShellParser::read_escape(ShellWord& word) {
  advance();
  // Bash keeps a backslash that is the last byte of all.
  if (position_ >= text_.size()) return fail(ShellOutcome::unsupported, "a backslash at the end");
  append(word, ShellPartKind::escaped, text_.substr(position_, 1));
  advance();
}

void ShellParser::read_single(ShellWord& word) {
  const std::size_t end = text_.find('\'', position_ + 1);
  if (end == std::string_view::npos) return malformed("a ' without its end");
  append(word, ShellPartKind::single_quoted, text_.substr(position_ + 1, end - position_ - 1));
  position_ = end + 1;
}

// After the opening quote.
void ShellParser::read_double(ShellWord& word, ShellPartKind kind) {
  append(word, kind, "");
  if (kind == ShellPartKind::translated) add(ShellFeature::expansion);
  while (!failed()) {
    const char c = peek();
    if (c == '\0') return malformed("a \" without its end");
    if (c == '"') return advance();
    const std::size_t before = word.parts.size();
    if (c == '$') {
      read_dollar(word, QuoteState::double_quoted);
    } else if (c == '`') {
      read_backquote(word, QuoteState::double_quoted);
    } else {
      // A backslash is itself before anything but these.
      const bool escape =
          c == '\\' && position_ + 1 < text_.size() &&
          std::string_view("$`\"\\").find(text_[position_ + 1]) != std::string_view::npos;
      if (escape) advance();
      append(word, kind, text_.substr(position_, 1));
      advance();
    }
    for (std::size_t i = before; i < word.parts.size(); ++i) word.parts[i].quoted = true;
  }
}

// The body of a here-document: like double quotes without the quotes.
void ShellParser::read_document() {
  const Deeper deeper(*this);
  ShellWord ignored;
  while (!failed() && !at_end()) {
    const char c = peek();
    if (c == '$') {
      read_dollar(ignored, QuoteState::double_quoted);
    } else if (c == '`') {
      read_backquote(ignored, QuoteState::double_quoted);
    } else {
      if (c == '\\' && position_ + 1 < text_.size()) advance();
      advance();
    }
    ignored.parts.clear();
  }
}

}  // namespace pawl
