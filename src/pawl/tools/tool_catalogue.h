// The list of the common tools, each defined in common/: their names, schemas and effects, what
// each may do, and which of its arguments are paths, commands or patches. docs/tools.md is the same
// for readers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/content.h"

namespace pawl {

struct CommonTool;  // tools/common/common_tool.h

// What a tool may do at most, whatever its arguments are.
struct ToolNeeds {
  bool fs_read = false;
  bool fs_write = false;
  bool subprocess = false;
  bool network = false;  // as far as the session's network policy goes
  bool person = false;   // somebody must answer

  friend bool operator==(const ToolNeeds&, const ToolNeeds&) = default;
};

enum class ArgumentKind : std::uint8_t {
  path_read,
  path_write,
  command,  // shell text
  argv,     // a list of words; the first is the program
  patch,    // paths inside, see touches()
};

struct ToolArgument {
  std::string name;
  ArgumentKind kind = ArgumentKind::path_read;

  friend bool operator==(const ToolArgument&, const ToolArgument&) = default;
};

// The shell that a command starts in.
enum class ShellStart : std::uint8_t {
  session,  // in the session's shell, with all that earlier commands made of it
  fresh,    // in a shell of its own, in the session's directory
  unasked,  // the same for a command that nobody was asked about: what it reads starts no program
};

struct ToolDescription {
  const CommonTool* tool = nullptr;
  ToolSpec spec;
  ToolNeeds needs;
  std::vector<ToolArgument> arguments;  // those that rules and approvals look at
  // bash and exec: no function, alias, trap, variable or `cd` of an earlier command reaches a
  // command that does not begin in the session, so that it means what its text says. What a person
  // approved never begins there. Empty: everything else does.
  std::function<ShellStart(std::string_view input)> shell_start = {};
};

struct CommonToolOptions {
  std::string bash_name = "bash";                        // as the model calls it
  std::int64_t command_time_ms = kToolTimeoutDefaultMs;  // of bash and exec, at most
  std::int64_t file_time_ms = kToolTimeoutDefaultMs;     // of the others
  std::uint64_t output_bytes_max = kToolOutputDefaultBytes;
};

// The names of all that Pawl brings, as charters name them: the common tools, and those of http/.
std::vector<std::string_view> tool_names();
bool is_common_tool(std::string_view name);  // one of them

// Every common tool; with `only` just those (an empty list is none), without those in `except`. A
// name that is unknown is an error that lists the known ones.
Result<std::vector<ToolDescription>> common_definitions(
    const CommonToolOptions& options = {},
    const std::optional<std::vector<std::string>>& only = std::nullopt,
    const std::vector<std::string>& except = {});

// Empty: not one of the common tools.
std::optional<ToolDescription> describe_common_tool(std::string_view name,
                                                    const CommonToolOptions& options = {});

}  // namespace pawl
