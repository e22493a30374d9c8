// What a confined process may do, in words of the operating system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/port/backend.h"

namespace pawl::sandbox {

inline constexpr std::size_t kRootsMax = 64;
inline constexpr std::size_t kProtectedNamesMax = 64;
inline constexpr std::size_t kPathBytesMax = 4095;
inline constexpr std::uint16_t kProxyPort = 3128;  // inside the network namespace

// Made once a session. All paths are absolute, and the same inside and outside.
struct SandboxPlan {
  IsolationLevel level = IsolationLevel::namespaces;
  std::string working_directory;
  std::vector<std::string> write_roots;
  std::vector<std::string> read_roots;
  std::vector<std::string>
      protected_names;  // relative to the working directory and each write root
  NetworkAccess network = NetworkAccess::none;
  BackendLimits limits;
};

// The plan of a session; an error names the path that is wrong and why.
Result<SandboxPlan> make_sandbox_plan(const ExecutionContext& context, IsolationLevel level);

}  // namespace pawl::sandbox
