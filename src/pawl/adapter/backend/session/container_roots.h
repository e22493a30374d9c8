// Engines take roots by path, and what a path leads to can change until they mount it. So a command
// begins with a look at what was mounted, from inside: it runs only where each root is the file or
// directory that the session holds.
#pragma once

#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/result.h"

namespace pawl::backend {

inline constexpr int kOtherRootExitCode = 125;

// `argv` behind that look, which a shell of the system makes. It says which root is another one,
// and exits with kOtherRootExitCode. unavailable: rules mask the programs that it needs.
Result<std::vector<std::string>> behind_root_check(const sandbox::SandboxPlan& plan,
                                                   const std::vector<std::string>& argv);

}  // namespace pawl::backend
