// The bytes that the grammar and the words are read from.
#include <algorithm>
#include <utility>

#include "pawl/gate/shell/shell_reader_state.h"

namespace pawl {

void ShellParser::skip_joins() {
  while (position_ + 1 < text_.size() && text_[position_] == '\\' && text_[position_ + 1] == '\n') {
    position_ += 2;
    add(ShellFeature::line_join);
  }
}

char ShellParser::peek() {
  skip_joins();
  return position_ < text_.size() ? text_[position_] : '\0';
}

std::size_t ShellParser::after(std::size_t position) const {
  ++position;
  while (position + 1 < text_.size() && text_[position] == '\\' && text_[position + 1] == '\n') {
    position += 2;
  }
  return position;
}

char ShellParser::peek_second() const {
  const std::size_t second = after(position_);
  return second < text_.size() ? text_[second] : '\0';
}

char ShellParser::peek_third() const {
  const std::size_t third = after(after(position_));
  return third < text_.size() ? text_[third] : '\0';
}

bool ShellParser::take(char c) {
  if (failed() || peek() != c) return false;
  advance();
  return true;
}

void ShellParser::skip_blanks() {
  while (is_shell_blank(peek())) advance();
  if (peek() != '#') return;
  // A comment: to the line's end, whatever stands before that.
  add(ShellFeature::comment);
  position_ = std::min(text_.find('\n', position_), text_.size());
}

void ShellParser::take_line_end() {
  advance();
  read_documents();
}

void ShellParser::skip_space() {
  skip_blanks();
  while (!failed() && peek() == '\n') {
    take_line_end();
    skip_blanks();
  }
}

void ShellParser::fail(ShellOutcome outcome, std::string why) {
  if (progress_.failed) return;
  progress_.failed = true;
  progress_.reading.outcome = outcome;
  progress_.reading.why = std::move(why);
  progress_.reading.at = base_ + position_;
}

}  // namespace pawl
