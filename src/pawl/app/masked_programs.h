// Programs that rules deny as a whole: inside a sandbox with its own mounts nothing can execute
// them, whatever a command line hides from the rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/runtime/permission/rules.h"
#include "pawl/runtime/permission/shell_rules.h"

namespace pawl {

inline constexpr std::size_t kMaskedProgramsMax = 128;

// Names that every one of `tools` (bash, exec) is denied with all arguments.
std::vector<std::string> programs_denied(const std::vector<ToolRule>& rules,
                                         const std::optional<ShellPolicy>& shell,
                                         const std::vector<std::string>& tools);
// The files that such names are on the sandbox's PATH, links resolved. Files that hold many
// programs (busybox) are left out: masking one would mask all.
std::vector<std::string> files_of_programs(const std::vector<std::string>& names);

}  // namespace pawl
