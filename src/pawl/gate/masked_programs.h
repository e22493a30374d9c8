// Programs that rules deny as a whole: inside a sandbox with its own mounts nothing can execute
// them, whatever a command line hides from the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/rules/rules.h"
#include "pawl/gate/shell/shell_rules.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kMaskedProgramsMax = 512;
inline constexpr std::size_t kProgramEntriesMax = 100'000;  // in one directory
inline constexpr std::uintmax_t kComparedProgramBytesMax = 256U << 20U;
// Of commands inside a sandbox.
inline constexpr std::string_view kSandboxPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Names that every one of `tools` (bash, exec) is denied with all arguments.
std::vector<std::string> programs_denied(const std::vector<ToolRule>& rules,
                                         const std::optional<ShellPolicy>& shell,
                                         const std::vector<std::string>& tools);
// The files that such names are on the sandbox's PATH, links resolved, with their hard links and
// copies on PATH and in the program's own directories (/usr/lib/git-core). Files that hold many
// programs (busybox) are left out: masking one would mask all. limit_exceeded: they are too many to
// mask all of them, and a sandbox that masks only some must not start.
Result<std::vector<std::string>> files_of_programs(const std::vector<std::string>& names,
                                                   std::string_view path = kSandboxPath);

}  // namespace pawl
