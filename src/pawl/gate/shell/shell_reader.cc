#include "pawl/gate/shell/shell_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/gate/shell/shell_reader_state.h"

namespace pawl {
namespace {

struct FeatureName {
  ShellFeature feature;
  std::string_view name;
};

constexpr std::array<FeatureName, 18> kFeatures = {{
    {ShellFeature::pipeline, "a pipeline"},
    {ShellFeature::list, "several commands"},
    {ShellFeature::background, "a background command"},
    {ShellFeature::compound, "a compound command"},
    {ShellFeature::function, "a function"},
    {ShellFeature::assignment, "an assignment"},
    {ShellFeature::redirection, "a redirection"},
    {ShellFeature::here_document, "a here-document"},
    {ShellFeature::expansion, "an expansion"},
    {ShellFeature::substitution, "a substitution"},
    {ShellFeature::comment, "a comment"},
    {ShellFeature::negation, "a negation"},
    {ShellFeature::timing, "time"},
    {ShellFeature::coprocess, "a coprocess"},
    {ShellFeature::line_join, "a joined line"},
    {ShellFeature::control, "a control character"},
    {ShellFeature::not_ascii, "characters beyond ASCII"},
    {ShellFeature::ansi_quote, "a $'...'"},
}};

bool is_literal_kind(ShellPartKind kind) {
  return kind <= ShellPartKind::ansi_quoted;
}

bool is_control(char c) {
  return (c >= 0 && c < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string_view name(ShellFeature feature) {
  for (const FeatureName& one : kFeatures) {
    if (one.feature == feature) return one.name;
  }
  return "";
}

std::string describe(const ShellFeatures& features) {
  std::string text;
  for (const FeatureName& one : kFeatures) {
    if (!features.has(one.feature)) continue;
    text += (text.empty() ? "" : ", ") + std::string(one.name);
  }
  return text;
}

bool ShellWord::is_literal() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const ShellPart& part) { return is_literal_kind(part.kind); });
}

bool ShellWord::is_plain() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const ShellPart& part) { return part.kind == ShellPartKind::plain; });
}

std::string ShellWord::value() const {
  std::string text;
  for (const ShellPart& part : parts) {
    if (is_literal_kind(part.kind)) text += part.text;
  }
  return text;
}

ShellReading read_shell(std::string_view text) {
  ShellProgress progress;
  ShellReading& reading = progress.reading;
  if (text.size() > kShellBytesMax) {
    reading.outcome = ShellOutcome::too_much;
    reading.why = "longer than " + std::to_string(kShellBytesMax) + " bytes";
    reading.at = kShellBytesMax;
    return std::move(reading);
  }
  // A NUL ends the text for some readers and not for others.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    reading.outcome = ShellOutcome::malformed;
    reading.why = "a NUL byte";
    reading.at = nul;
    return std::move(reading);
  }
  if (std::any_of(text.begin(), text.end(), is_control))
    reading.features.add(ShellFeature::control);
  if (std::any_of(text.begin(), text.end(), [](char c) { return c < 0; })) {
    reading.features.add(ShellFeature::not_ascii);
  }
  ShellParser(progress, text, 0).read_program();
  return std::move(reading);
}

bool is_shell_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_shell_break(char c) {
  return is_shell_blank(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos ||
         c == '\0';
}

bool is_shell_name(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
         });
}

// Lists, pipelines, simple commands.

void ShellParser::read_program() {
  const Deeper deeper(*this);
  read_list(ListEnd::text);
  if (!failed() && !at_end()) malformed(std::string("an unexpected '") + peek() + "'");
  if (!failed() && !documents_.empty()) {
    fail(ShellOutcome::unsupported, "a here-document without its text");
  }
}

bool ShellParser::at_list_end(ListEnd end) {
  if (failed() || at_end()) return true;
  if (peek() == ')') return true;
  if (end == ListEnd::case_item && peek() == ';' &&
      (peek_second() == ';' || peek_second() == '&')) {
    return true;
  }
  if (end == ListEnd::text || end == ListEnd::parenthesis) return false;
  constexpr std::array<std::string_view, 8> kClosing = {"then", "do",   "done", "fi",
                                                        "else", "elif", "esac", "}"};
  return std::find(kClosing.begin(), kClosing.end(), peek_keyword()) != kClosing.end();
}

// True when another command may follow.
bool ShellParser::take_separator(ListEnd end) {
  skip_blanks();
  const char c = peek();
  if (failed() || at_list_end(end)) return false;
  if (c == '\n') {
    skip_space();
  } else if ((c == '&' || c == '|') && peek_second() == c) {
    add(ShellFeature::list);
    advance();
    peek();
    advance();
    skip_space();
    if (at_list_end(end)) malformed("a command is missing after && or ||");
    return !failed();
  } else if (c == ';' && (peek_second() == ';' || peek_second() == '&')) {
    malformed("';;' or ';&' outside of a case");
  } else if (c == ';' || c == '&') {
    add(c == ';' ? ShellFeature::list : ShellFeature::background);
    advance();
    skip_space();
  } else {
    malformed(std::string("an unexpected '") + c + "'");
  }
  if (at_list_end(end)) return false;
  add(ShellFeature::list);
  return true;
}

void ShellParser::read_list(ListEnd end) {
  skip_space();
  if (at_list_end(end)) return;
  do {
    read_pipeline();
  } while (!failed() && take_separator(end));
}

// "!" and "time", which stand before pipelines.
bool ShellParser::take_prefix() {
  if (take_keyword("!")) {
    add(ShellFeature::negation);
    return true;
  }
  if (!take_keyword("time")) return false;
  add(ShellFeature::timing);
  skip_blanks();
  if (peek() == '-' && peek_second() == 'p' && is_shell_break(peek_third())) {
    advance();
    peek();
    advance();
  }
  return true;
}

void ShellParser::read_pipeline() {
  while (!failed() && take_prefix()) skip_blanks();
  read_command();
  skip_blanks();
  while (!failed() && peek() == '|' && peek_second() != '|') {
    add(ShellFeature::pipeline);
    advance();
    if (take('&')) add(ShellFeature::redirection);
    skip_space();
    read_command();
    skip_blanks();
  }
}

void ShellParser::add_command(ReadCommand command) {
  auto& commands = progress_.reading.commands;
  if (commands.size() >= kShellCommandsMax) {
    return fail(ShellOutcome::too_much,
                "more than " + std::to_string(kShellCommandsMax) + " commands");
  }
  command.nesting = progress_.depth - 1;
  commands.push_back(std::move(command));
}

bool ShellParser::at_redirection() {
  const char c = peek();
  if (c == '<' || c == '>') return peek_second() != '(';
  if (c == '&') return peek_second() == '>';
  if (!is_digit(c)) return false;
  std::size_t position = position_;
  while (position < text_.size() && is_digit(text_[position])) position = after(position);
  return position < text_.size() && (text_[position] == '<' || text_[position] == '>');
}

// One more piece of a simple command; false at its end.
bool ShellParser::read_simple_item(ReadCommand& command) {
  skip_blanks();
  if (failed()) return false;
  if (at_redirection()) {
    read_redirection(command.redirections);
    return !failed();
  }
  const char c = peek();
  const bool process = (c == '<' || c == '>') && peek_second() == '(';
  if (is_shell_break(c) && !process) return false;
  const bool first = command.words.empty();
  ShellWord word = read_word(first ? WordPlace::command : WordPlace::argument);
  if (failed()) return false;
  if (first && assignment_length(word) > 0) {
    add(ShellFeature::assignment);
    command.assignments.push_back(std::move(word));
  } else {
    command.words.push_back(std::move(word));
  }
  if (command.words.size() + command.assignments.size() > kShellWordsMax) {
    fail(ShellOutcome::too_much, "more than " + std::to_string(kShellWordsMax) + " words");
  }
  return !failed();
}

void ShellParser::read_simple() {
  ReadCommand command;
  while (read_simple_item(command)) {
    const bool one_word =
        command.words.size() == 1 && command.assignments.empty() && command.redirections.empty();
    if (!one_word) continue;
    skip_blanks();
    if (!take('(')) continue;
    skip_blanks();
    if (!take(')')) return malformed("an unexpected '('");
    add(ShellFeature::function);
    return read_function_body();
  }
  const bool empty =
      command.words.empty() && command.assignments.empty() && command.redirections.empty();
  if (!failed() && !empty && peek() == '(') malformed("an unexpected '('");
  if (!failed() && empty) {
    malformed(at_end() ? "a command is missing at the end"
                       : std::string("a command is missing before '") + peek() + "'");
  }
  if (!empty) add_command(std::move(command));
}

}  // namespace pawl
