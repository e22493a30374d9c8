// Commands with their arguments, options and functions, as data: the parser, the help, the man
// page, the shell completions and the dispatch are all made from this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

struct CliContext;

enum class Need : std::uint8_t { required, optional, one_or_more };

struct ArgumentSpec {
  std::string_view name;  // "RUN"
  std::string_view help;
  Need need = Need::required;
  // An option in whose presence it is something else, or not needed.
  std::string_view unless = {};
  std::string_view or_unless = {};
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

// Whether a command reads the configuration and the policy. One that does asks a person first when
// an agent may have written them.
enum class SettingsUse : std::uint8_t { used, unused };

// What one command is: command_NAME.cc makes it, and commands.h has a row for it.
struct CommandEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view text = {};  // further sentences
  std::vector<ArgumentSpec> arguments = {};
  std::vector<OptionSpec> options = {};
  SettingsUse settings = SettingsUse::used;
  int (*run)(const CliContext&) = nullptr;  // returns the exit code
};

// What several commands take.
inline constexpr ArgumentSpec kRunArgument{"RUN", "The id of a run, or any unique prefix of it."};
inline constexpr ArgumentSpec kCharterArgument{"CHARTER", "A charter file."};
inline constexpr OptionSpec kIdentityOption{
    "identity", '\0', Takes::value, "FILE",
    "The file with your key (pawl identity). Default: pawl/identity.pem of the configuration."};

inline constexpr OptionSpec kResumeOption{"resume", '\0', Takes::nothing, "",
                                          "Then drive the run here, unless another process does."};

// In the order of the help.
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
