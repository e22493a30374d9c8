// The second layer: which files a process and its children may ever open again, and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/descriptor.h"
#include "pawl/base/result.h"

namespace pawl::sandbox {

// Of Linux 5.13, 5.19, 6.2, 6.7, 6.10, 6.12.
inline constexpr int kLandlockRefer = 2;
inline constexpr int kLandlockTruncate = 3;
inline constexpr int kLandlockNetwork = 4;
inline constexpr int kLandlockDevices = 5;
inline constexpr int kLandlockScopes = 6;
// Behind namespaces, files are all that Landlock has to add; alone, it must hold signals, too.
inline constexpr int kLandlockLeastBehindNamespaces = kLandlockTruncate;
inline constexpr int kLandlockLeastAlone = kLandlockScopes;

enum class FileAccess : std::uint8_t { read, write, device };

struct LandlockRule {
  std::string path;
  FileAccess access = FileAccess::read;
};

// The interface number of the kernel's Landlock. unavailable: there is none, with the remedy.
Result<int> landlock_version();
// Everything that this kernel knows is denied until a rule allows it.
Result<Descriptor> make_landlock_ruleset(IsolationLevel level, NetworkAccess network);
// `object` is a descriptor of the file or directory, O_PATH is enough.
Status allow_beneath(const Descriptor& ruleset, int object, const LandlockRule& rule);
// The same by path; what does not exist needs no rule.
Status allow_path(const Descriptor& ruleset, const LandlockRule& rule);

// What a process sees where there is no mount namespace: the system, read-only, and the roots.
std::vector<LandlockRule> landlock_rules_alone(const SandboxPlan& plan,
                                               const std::string& temporary_directory);

}  // namespace pawl::sandbox
