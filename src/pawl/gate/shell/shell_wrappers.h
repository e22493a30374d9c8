// What the finder of commands knows of programs that run other commands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/shell/shell_hidden.h"
#include "pawl/gate/shell/shell_reader.h"

namespace pawl {

// "-x", "--long", but not "-".
bool is_dashed(std::string_view word);

bool is_shell_program(std::string_view program);
// Its arguments hold another command: env, xargs, sudo.
bool is_wrapper(std::string_view program);
// Adds words to the command that it is given.
bool is_appender(std::string_view program);
// Runs what it reads: a here-document, a pipe, a process substitution.
bool runs_what_it_reads(std::string_view program);
// Takes a text behind -c, as shells do.
bool takes_text_behind_c(std::string_view program);
// Any of its words may be a text.
bool takes_text_anywhere(std::string_view program);

// "-c", "-lc", "--command".
bool has_letter_c(std::string_view word);
// The shell's commands come from its input, and from no argument or file.
bool reads_its_input(std::span<const CommandWord> words);
// The bytes that a shell in this text may read are all written in it.
bool is_input_known(const ShellReading& reading);
// As they are printed: "a\\nb" is two lines.
std::string with_line_ends(std::string text);

// The wrapper's command certainly begins before this word. A word behind an option may be the
// option's value.
bool begins_before(std::span<const CommandWord> words, std::size_t at);
// A="$x" behind env.
bool is_setting(const CommandWord& word);
// What xargs -I puts its input in the place of, or empty.
std::string replaced_by(std::span<const CommandWord> words);
// Words that hold `replaced` become unknown.
std::vector<CommandWord> with_unknown(std::span<const CommandWord> words,
                                      std::string_view replaced);

}  // namespace pawl
