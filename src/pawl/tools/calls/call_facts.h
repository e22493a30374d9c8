// What a call touches, and the circumstances that an approval of it is bound to.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/permissions.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {

// Where calls run.
struct CallPlace {
  std::string directory;  // absolute
  std::map<std::string, std::string> environment = {};
  std::map<std::string, std::vector<std::string>> commands = {};  // of tools that are commands
  std::vector<std::string> roots = {};    // absolute: what programs in the sandbox can touch
  std::vector<std::string> scripts = {};  // absolute: of rules; what they say is part of the policy
  std::map<std::string, std::string> on_host = {};  // those without a sandbox, and where they run
  std::map<std::string, std::string> host_environment = {};  // what those see of the host's

  const std::string& directory_of(const std::string& tool) const {
    const auto found = on_host.find(tool);
    return found == on_host.end() ? directory : found->second;
  }
};

// One thing that a call would touch, as its arguments have it.
struct ToolTouch {
  ArgumentKind kind = ArgumentKind::path_read;
  std::string text;                // a path or a command
  std::vector<std::string> words;  // argv

  friend bool operator==(const ToolTouch&, const ToolTouch&) = default;
};

// What a call with this input would touch; of a patch every path in it. An Error: the input cannot
// be read, and nothing may be assumed about it.
Result<std::vector<ToolTouch>> touches(const ToolDescription& tool, std::string_view input);

// Tells of the arguments of the tool's calls the paths in them, made absolute, and for what starts
// programs the roots. An error: the input cannot be read.
std::function<Result<ToolTraits>(const std::string& input)> touches_of(CallPlace place,
                                                                       ToolDescription tool);
// What the shell rules say of the command or the words in the arguments.
Judgement shell_of(const ToolDescription& tool, const std::string& input,
                   const ShellPolicy& policy);
// What the shell rules said of a call, with its arguments as JSON: allowed only if git, which it
// may be about, starts nothing. `objection`: why a command of git's may start programs where the
// call runs; none: it starts none.
using GitObjection = std::function<std::optional<std::string>()>;
Judgement with_plain_git(Judgement judgement, std::string_view input,
                         const GitObjection& objection);
// The host of the argument `url`.
Result<ToolTraits> touches_of_url(const std::string& input);

// Files that a command may run: longer ones, and more of them, are known by their size and times
// only (one of which nobody can set).
inline constexpr std::size_t kScriptBytesDigested = 4U << 20U;
inline constexpr std::size_t kScriptsDigestedMax = 64;
// Directories that the words of a call name, one below the other too, as in "cd a && cd b && sh
// build.sh", and names that are looked up there. What goes beyond is as with too many words.
inline constexpr std::size_t kWordDirectoriesMax = 64;
inline constexpr std::size_t kLooksMax = 262'144;

// The directory (device and inode), the environment, and the content of every file that the call's
// words name, as they are now.
std::string circumstances_of(const CallPlace& place, const ProposedCall& call);

}  // namespace pawl
