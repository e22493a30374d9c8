// Every command with its arguments and options, as data: the parser, the help, the man page and the
// shell completions are all made from this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

enum class Need : std::uint8_t { required, optional, one_or_more };

struct ArgumentSpec {
  std::string_view name;  // "RUN"
  std::string_view help;
  Need need = Need::required;
};

enum class Takes : std::uint8_t { nothing, value, value_maybe, values };

struct OptionSpec {
  std::string_view name;  // long, without dashes
  char letter = '\0';     // the short form; NUL when there is none
  Takes takes = Takes::nothing;
  std::string_view value;  // what the help calls the value
  std::string_view help;
  std::string_view words = {};  // the values there are, for completions; none: any
};

struct CommandEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view text;  // further sentences
  std::vector<ArgumentSpec> arguments;
  std::vector<OptionSpec> options;
};

const std::vector<CommandEntry>& commands();
// Accepted before and after the command.
const std::vector<OptionSpec>& global_options();

struct ExitCodeSpec {
  int code;
  std::string_view meaning;
};
const std::vector<ExitCodeSpec>& exit_codes();

// Files and environment variables, for the man page.
struct PlaceSpec {
  std::string_view name;
  std::string_view meaning;
};
const std::vector<PlaceSpec>& places();

const CommandEntry* find_command(std::string_view name);
// "pawl resolve RUN CALL [options]"
std::string usage_line(const CommandEntry& command);
// "-f, --follow" or "--data DIR".
std::string option_label(const OptionSpec& option);

}  // namespace pawl
