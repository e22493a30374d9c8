// What a confined process may do, in words of the operating system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/backend.h"
#include "pawl/base/descriptor.h"

namespace pawl::sandbox {

inline constexpr std::size_t kRootsMax = 64;
inline constexpr std::size_t kProtectedNamesMax = 256;
inline constexpr std::size_t kPathBytesMax = 4095;
inline constexpr std::uint16_t kProxyPort = 3128;  // inside the network namespace

inline constexpr std::size_t kPlanMountsMax = 256;

// A file or directory of the host's that is seen at another place inside. It may lie in a root,
// where something must be there already, or beneath kMountsInside.
struct PlanMount {
  std::string source;
  std::string target;
  enum class Access : std::uint8_t { read, write } access = Access::read;
};
inline constexpr std::string_view kMountsInside = "/run/pawl";

// A root as it was opened, without links, when the session began.
struct HeldRoot {
  std::string path;
  Descriptor object;
};
using HeldRoots = std::vector<HeldRoot>;

// Made once a session. All paths are absolute, and the same inside and outside, but for `mounts`.
struct SandboxPlan {
  IsolationLevel level = IsolationLevel::namespaces;
  std::string working_directory;
  std::vector<std::string> write_roots;
  std::vector<std::string> read_roots;
  std::vector<std::string> protected_names;  // relative to each of places_of(): read-only
  NetworkAccess network = NetworkAccess::none;
  BackendLimits limits;
  std::vector<PlanMount> mounts = {};              // in this order, over roots and protected names
  std::vector<std::string> hidden_names = {};      // likewise: not even read; also in read roots
  std::vector<std::string> protected_places = {};  // absolute: read-only, and their parents held
  std::vector<std::string> found_places = {};      // absolute, of a walk: read-only
  std::vector<std::string> hidden_places = {};     // likewise: not even read
  std::vector<std::string> deny_roots = {};  // absolute: hidden, unless a longer root says else
  std::vector<std::string> masked = {};  // programs that are there inside, and cannot be executed
  std::shared_ptr<const HeldRoots> held = {};  // read and write roots, for as long as the session
};

// The descriptor of a root; -1: the plan holds none for it.
int held_root(const SandboxPlan& plan, std::string_view path);
// Opens the read and write roots of a plan that holds none yet.
Status hold_roots(SandboxPlan& plan);

enum class RootAccess : std::uint8_t { none, deny, read, write };
// Of the longest root that the path lies within. Of several for one place: deny, write, read.
RootAccess access_at(const SandboxPlan& plan, std::string_view path);

// The directories that protected names are relative to: write roots, the working directory if it
// lies within one, and the directories between them. Each once.
std::vector<std::string> places_of(const SandboxPlan& plan);

// The plan of a session; an error names the path that is wrong and why. `before` are the roots of
// the session's first plan: a path that leads elsewhere by now is refused.
Result<SandboxPlan> make_sandbox_plan(const ExecutionContext& context, IsolationLevel level,
                                      std::shared_ptr<const HeldRoots> before = {});

}  // namespace pawl::sandbox
