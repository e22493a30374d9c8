// Every command that a text, or a list of words, may start: what the shell itself would run, and
// what wrappers (env, timeout, sudo, xargs), shells (bash -c), eval, trap and find -exec would run
// after it. For whoever forbids: it finds rather too many than too few.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/shell/shell_hidden.h"
#include "pawl/gate/shell/shell_reader.h"
#include "pawl/gate/shell/shell_told.h"

namespace pawl {

inline constexpr std::size_t kFoundCommandsMax = 256;
inline constexpr std::size_t kFoundDepthMax = 8;  // bash -c "bash -c ..."

struct FoundCommands {
  // Words with nothing in place of what expands; the first is the program.
  std::vector<std::vector<std::string>> commands = {};
  // Those of them that have words which expand, or get more words when they run.
  std::vector<std::vector<CommandWord>> uncertain = {};
  // A text that is run as commands and is not written out, such as "$x" of bash -c "$x"; or empty.
  std::string unseen = {};
  // What programs are told that nobody looked into.
  std::vector<ToldText> told = {};
  // The worst of all texts that were read on the way.
  ShellOutcome outcome = ShellOutcome::understood;
  std::string why = {};  // "a ' without its end at byte 5"
};

FoundCommands commands_in_text(std::string_view text);
FoundCommands commands_in_argv(std::span<const std::string> argv);

// Wrappers that change nothing about what the inner command may do: how many words of `argv` stand
// before it, or 0. "timeout 5 ls" is 2.
std::size_t plain_wrapper_words(std::span<const std::string> argv);

// "rm", "rm *", "git push --force": the first word is the program (a glob, on its path or its last
// part); options may stand anywhere and together ("-rf" is "-f -r" too, "--force" is "--forc"
// too); other words must occur in this order, with anything between. "*" is any number of words.
bool command_matches(std::string_view pattern, std::span<const std::string> argv);

bool program_matches(std::string_view pattern, std::string_view program);
bool operand_matches(std::string_view pattern, const std::string& word);
bool has_command_option(std::span<const std::string> argv, std::string_view pattern);
std::vector<std::string_view> pattern_words(std::string_view pattern);
std::string_view command_base_name(std::string_view path);

// Why a pattern is none, or empty: it has a program, and at most kGlobBytesMax bytes.
std::string pattern_fault(std::string_view pattern);

// Whether one of the patterns matches a command that was found; "" or the pattern. A text that
// cannot be read matches when it contains the program's name, quotes and backslashes or not.
std::string matching_pattern(std::span<const std::string> patterns, const FoundCommands& found,
                             std::string_view text);

// Why a text may run what a pattern matches although no command in it is written so: the part that
// only the shell's expansions settle, or the program that is told to run it; or empty.
std::string hidden_from(std::span<const std::string> patterns, const FoundCommands& found);

}  // namespace pawl
