// What git, and programs that take a command from their environment, run beside what is written as
// a command.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pawl/gate/shell/shell_hidden.h"

namespace pawl {

// `git-push x`, which git has as a program of its own, as `git push x`; empty: it cannot be one.
std::vector<CommandWord> as_git_command(std::span<const CommandWord> words);

// Texts that git runs as commands for these arguments (without the word git): aliases and programs
// in -c and config, options such as rebase --exec, ext:: addresses, submodule foreach,
// filter-branch.
std::vector<CommandWord> git_texts(std::span<const CommandWord> arguments);

// The words of a command that git starts as they are: bisect run, submodule foreach; or none.
std::span<const CommandWord> git_started(std::span<const CommandWord> arguments);

// "EDITOR=TEXT": the text, where some program runs what the variable says.
std::optional<std::string_view> setting_text(std::string_view word);

}  // namespace pawl
