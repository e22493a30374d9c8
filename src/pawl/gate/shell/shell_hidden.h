// What a shell's expansions may make of a command: a rule that denies "git push" must not be got
// round by `git $p`. A word is known, one word that is not known, or any number of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/shell/shell_reader.h"

namespace pawl {

struct CommandWord {
  enum class Form : std::uint8_t {
    literal,
    one,   // exactly one word, such as "$x" in double quotes
    many,  // any number of words, such as $x, {a,b} and *.c
  };
  std::string value;  // what is known of it, with nothing in place of what expands
  Form form = Form::literal;
  std::string shape = {};   // a glob that each word it becomes matches; of one that is not literal
  std::string source = {};  // likewise: how it is written
  bool is_names = false;    // of files that are there: *.c

  bool is_literal() const { return form == Form::literal; }
  static CommandWord known(std::string value) { return {std::move(value)}; }
  // Any number of any words.
  static CommandWord unknown(std::string source);
};

CommandWord command_word(const ShellWord& word, std::string_view text);
std::vector<std::string> values_of(std::span<const CommandWord> words);

// Whether the expansions can make the command one that the pattern matches (see command_matches).
// It says yes rather too often than too seldom.
bool could_match(std::string_view pattern, std::span<const CommandWord> command);

// Whether some text matches both globs.
bool globs_meet(std::string_view one, std::string_view other);

}  // namespace pawl
