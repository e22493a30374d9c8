// What a program is told that may run other programs: python3 -c 'os.system("git push")'.
//
// Shells, wrappers and git are looked into (shell_finder.cc). Of every other program nobody knows
// what it does with its words, so a rule that denies "git push" asks where they hold it. Programs
// that are known to take their words as data are passed over: grep, echo, git commit.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/shell/shell_reader.h"

namespace pawl {

struct ToldText {
  std::string program;
  std::string text;
};

// More than a name, a path or an option.
bool is_code(std::string_view word);

// Whatever stands in its words, the program does not run it.
bool takes_words_as_data(std::span<const std::string> argv);

// What the words of a command tell its program; none, if it takes them as data.
std::vector<ToldText> told_by_words(std::span<const std::string> argv);

// What commands of a text are given to read that it holds: here-documents and -strings, and what
// echo and printf print into a pipe.
std::vector<ToldText> told_by_input(const ShellReading& reading, std::string_view text);

// The words of the pattern stand in the text, in its order. A pattern of one word says nothing
// about texts: where it can be held, its program is masked.
bool is_told(std::string_view pattern, const ToldText& told);

}  // namespace pawl
