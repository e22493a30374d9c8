// Compound commands, functions, redirections and here-documents.
#include <algorithm>
#include <array>
#include <utility>

#include "pawl/gate/shell/shell_reader_state.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 22> kKeywords = {
    "]]",  "!",  "[[",   "case", "coproc", "do",     "done",  "elif", "else", "esac",     "fi",
    "for", "if", "then", "time", "until",  "select", "while", "{",    "}",    "function", "in"};
constexpr std::size_t kKeywordBytesMax = 8;

bool is_keyword_byte(char c) {
  return (c >= 'a' && c <= 'z') || c == '{' || c == '}' || c == '!' || c == '[' || c == ']';
}

}  // namespace

std::string ShellParser::peek_keyword() const {
  std::string word;
  std::size_t position = position_;
  while (position < text_.size() && is_keyword_byte(text_[position]) &&
         word.size() <= kKeywordBytesMax) {
    word += text_[position];
    position = after(position);
  }
  const bool ends = position >= text_.size() || is_shell_break(text_[position]);
  const bool known = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
  return ends && known ? word : std::string();
}

bool ShellParser::take_keyword(std::string_view keyword) {
  peek();
  if (failed() || peek_keyword() != keyword) return false;
  for (std::size_t i = 0; i < keyword.size(); ++i) {
    peek();
    advance();
  }
  return true;
}

void ShellParser::expect_keyword(std::string_view keyword) {
  skip_space();
  if (!take_keyword(keyword)) malformed("'" + std::string(keyword) + "' is missing");
}

void ShellParser::read_command() {
  if (failed()) return;
  const char c = peek();
  const std::string keyword = peek_keyword();
  if (c != '(' && keyword.empty()) return read_simple();
  const Deeper deeper(*this);
  if (failed()) return;
  if (keyword == "coproc") {
    add(ShellFeature::coprocess);
    take_keyword(keyword);
    skip_blanks();
    read_command();
    // Whether the first word is its name depends on what the second one is.
    return fail(ShellOutcome::unsupported, "a coprocess");
  }
  add(ShellFeature::compound);
  if (!read_compound(keyword)) return malformed("an unexpected '" + keyword + "'");
  read_redirections_of_compound();
}

bool ShellParser::read_compound(std::string_view keyword) {
  if (keyword.empty()) {
    read_parentheses();
  } else if (keyword == "{") {
    take_keyword("{");
    read_group("}");
  } else if (keyword == "if") {
    read_if();
  } else if (keyword == "while" || keyword == "until") {
    read_loop();
  } else if (keyword == "for" || keyword == "select") {
    read_for();
  } else if (keyword == "case") {
    read_case();
  } else if (keyword == "[[") {
    read_condition();
  } else if (keyword == "function") {
    take_keyword("function");
    add(ShellFeature::function);
    skip_blanks();
    read_word(WordPlace::argument);
    skip_blanks();
    if (take('(') && (skip_blanks(), !take(')'))) malformed("an unexpected '('");
    read_function_body();
  } else {
    return false;
  }
  return true;
}

void ShellParser::read_function_body() {
  skip_space();
  const std::string keyword = peek_keyword();
  constexpr std::array<std::string_view, 5> kNoBody = {"", "!", "time", "coproc", "function"};
  const bool none = std::find(kNoBody.begin(), kNoBody.end(), keyword) != kNoBody.end();
  if (peek() != '(' && none) return malformed("a function needs a compound command");
  read_command();
}

// A list that must not be empty, up to a keyword.
void ShellParser::read_group(std::string_view closing) {
  skip_space();
  if (at_list_end(ListEnd::keyword)) return malformed("a command is missing");
  read_list(ListEnd::keyword);
  expect_keyword(closing);
}

// "(" list ")", or "((" expression "))".
void ShellParser::read_parentheses() {
  take('(');
  if (take('(')) {
    // Bash would try again as two subshells; trying twice at every level is 2^depth.
    if (!read_arithmetic("))")) fail(ShellOutcome::unsupported, "'((' that is no arithmetic");
    return;
  }
  skip_space();
  if (peek() == ')') return malformed("a command is missing before ')'");
  read_list(ListEnd::parenthesis);
  if (!take(')')) malformed("')' is missing");
}

void ShellParser::read_if() {
  take_keyword("if");
  read_group("then");
  while (!failed()) {
    skip_space();
    if (at_list_end(ListEnd::keyword)) return malformed("a command is missing");
    read_list(ListEnd::keyword);
    if (take_keyword("elif")) {
      read_group("then");
      continue;
    }
    if (take_keyword("else")) return read_group("fi");
    return expect_keyword("fi");
  }
}

void ShellParser::read_loop() {
  if (!take_keyword("while")) take_keyword("until");
  read_group("do");
  read_group("done");
}

void ShellParser::read_for() {
  if (!take_keyword("for")) take_keyword("select");
  skip_blanks();
  if (peek() == '(' && peek_second() == '(') {
    advance();
    take('(');
    if (!read_arithmetic("))")) return malformed("'))' is missing");
  } else {
    const ShellWord variable = read_word(WordPlace::argument);
    if (!failed() && (!variable.is_plain() || !is_shell_name(variable.value()))) {
      return malformed("a loop needs the name of a variable");
    }
    skip_space();
    if (take_keyword("in")) {
      skip_blanks();
      while (!failed() && !is_shell_break(peek())) {
        read_word(WordPlace::argument);
        skip_blanks();
      }
      if (peek() != ';' && peek() != '\n') return malformed("';' is missing");
    }
  }
  skip_blanks();
  take(';');
  skip_space();
  if (peek_keyword() == "{") return fail(ShellOutcome::unsupported, "a loop with braces");
  expect_keyword("do");
  read_group("done");
}

void ShellParser::read_case() {
  take_keyword("case");
  skip_blanks();
  if (is_shell_break(peek())) return malformed("a word is missing after 'case'");
  read_word(WordPlace::argument);
  expect_keyword("in");
  skip_space();
  while (!failed() && !take_keyword("esac")) {
    if (at_end()) return malformed("'esac' is missing");
    read_case_item();
    skip_space();
  }
}

void ShellParser::read_case_item() {
  take('(');
  do {
    skip_blanks();
    if (is_shell_break(peek())) return malformed("a pattern is missing");
    read_word(WordPlace::argument);
    skip_blanks();
  } while (!failed() && take('|'));
  if (!take(')')) return malformed("')' is missing after a pattern");
  read_list(ListEnd::case_item);
  skip_blanks();
  if (peek() != ';') {
    if (peek_keyword() != "esac") malformed("';;' is missing");
    return;
  }
  advance();
  const bool falls_through = take('&');
  if (!falls_through) {
    take(';');
    take('&');
  }
}

// "[[" ... "]]": only the words matter, for what they expand.
void ShellParser::read_condition() {
  take_keyword("[[");
  WordPlace place = WordPlace::argument;
  while (!failed()) {
    skip_space();
    const char c = peek();
    if (c == '\0') return malformed("']]' is missing");
    const bool pair = (c == '&' || c == '|') && peek_second() == c;
    const bool process = (c == '<' || c == '>') && peek_second() == '(';
    if (pair) advance();
    if (place != WordPlace::pattern && !process &&
        (pair || c == '(' || c == ')' || c == '<' || c == '>')) {
      peek();
      advance();
      continue;
    }
    if (is_shell_break(c) && !process && c != '(') {
      return malformed(std::string("an unexpected '") + c + "' in [[ ]]");
    }
    const ShellWord word = read_word(place);
    const std::string value = word.is_plain() ? word.value() : "";
    if (value == "]]") return;
    const bool compares = value == "=~" || value == "==" || value == "=" || value == "!=";
    place = compares ? WordPlace::pattern : WordPlace::argument;
    if (compares) add(ShellFeature::expansion);
  }
}

// Redirections.

// After the first arrow: < << <<< <<- <> <& > >> >| >& &> &>>
void ShellParser::read_rest_of_operation(std::string& operation) {
  const bool input = operation.back() == '<';
  const bool both = operation.starts_with('&');
  const std::string_view second = input ? "<>&" : both ? ">" : ">|&";
  const char c = peek();
  if (c == '\0' || second.find(c) == std::string_view::npos) return;
  operation += c;
  advance();
  const bool document = input && c == '<';
  if (!document || (peek() != '<' && peek() != '-')) return;
  operation += peek();
  advance();
}

void ShellParser::read_redirection(std::vector<ShellRedirection>& out) {
  add(ShellFeature::redirection);
  ShellRedirection redirection;
  while (peek() >= '0' && peek() <= '9') {
    redirection.operation += peek();
    advance();
  }
  if (take('&')) redirection.operation += '&';
  const char arrow = peek();
  redirection.operation += arrow;
  advance();
  read_rest_of_operation(redirection.operation);
  skip_blanks();
  const bool process = (peek() == '<' || peek() == '>') && peek_second() == '(';
  if ((is_shell_break(peek()) && !process) || at_redirection()) {
    return malformed("the target of a redirection is missing");
  }
  redirection.target = read_word(WordPlace::argument);
  if (failed()) return;
  add_document(redirection.operation, redirection.target);
  out.push_back(std::move(redirection));
  if (out.size() > kShellWordsMax) fail(ShellOutcome::too_much, "too many redirections");
}

void ShellParser::read_redirections_of_compound() {
  ReadCommand command;
  skip_blanks();
  while (!failed() && at_redirection()) {
    read_redirection(command.redirections);
    skip_blanks();
  }
  if (!command.redirections.empty()) add_command(std::move(command));
}

void ShellParser::add_document(const std::string& operation, const ShellWord& delimiter) {
  const bool begins = operation.ends_with("<<") || operation.ends_with("<<-");
  if (!begins || operation.ends_with("<<<")) return;
  add(ShellFeature::here_document);
  if (!delimiter.is_literal()) {
    return fail(ShellOutcome::unsupported, "a here-document whose end is not literal");
  }
  documents_.push_back({delimiter.value(), !delimiter.is_plain(), operation.ends_with('-')});
}

void ShellParser::read_documents() {
  const std::vector<PendingDocument> documents = std::exchange(documents_, {});
  for (const PendingDocument& document : documents) {
    if (!failed()) read_one_document(document);
  }
}

void ShellParser::read_one_document(const PendingDocument& document) {
  const std::size_t begin = position_;
  while (position_ < text_.size()) {
    const std::size_t start = position_;
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    std::string_view line = text_.substr(start, end - start);
    position_ = std::min(end + 1, text_.size());
    if (document.strips_tabs)
      line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line == document.delimiter) {
      progress_.reading.documents.push_back(
          {std::string(text_.substr(begin, start - begin)), document.quoted});
      if (document.quoted) return;
      ShellParser(progress_, text_.substr(begin, start - begin), base_ + begin).read_document();
      return;
    }
    // Bash joins such lines before it looks for the end.
    if (!document.quoted && line.ends_with('\\')) {
      return fail(ShellOutcome::unsupported, "a joined line in a here-document");
    }
  }
  fail(ShellOutcome::unsupported, "the end of a here-document is missing");
}

}  // namespace pawl
