// The second layer: which files a process and its children may ever open again, and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::sandbox {

// Versions of the kernel's interface: Linux 5.19, 6.2, 6.7, 6.10, 6.12. The first is of 5.13.
inline constexpr int kLandlockRefer = 2;
inline constexpr int kLandlockTruncate = 3;
inline constexpr int kLandlockNetwork = 4;
inline constexpr int kLandlockDevices = 5;
inline constexpr int kLandlockScopes = 6;
// The newest version with something that this program uses.
inline constexpr int kLandlockNewest = kLandlockScopes;
// Behind namespaces Landlock is a second layer, and every promise holds without it. Version 1 is
// left out there: it forbids to move or link a file from one directory to another.
inline constexpr int kLandlockLeastBehindNamespaces = kLandlockRefer;
// Alone it must hold signals to other processes of the same user, too, which nothing else can.
inline constexpr int kLandlockLeastAlone = kLandlockScopes;

enum class FileAccess : std::uint8_t { read, write, device };

struct LandlockRule {
  std::string path;
  FileAccess access = FileAccess::read;
  int object = -1;  // a descriptor that its owner holds; -1: the path is opened
};

// The interface number of the kernel's Landlock. unavailable: there is none, with the remedy.
Result<int> landlock_version();
// The version that stands behind the level here: what the kernel has, at most kLandlockNewest; 0 if
// none does. unavailable: the level needs a version that is not there, with the remedy.
Result<int> landlock_behind(IsolationLevel level);
// Everything that this kernel knows is denied until a rule allows it. An empty descriptor: no
// version stands behind the level.
Result<Descriptor> make_landlock_ruleset(IsolationLevel level, NetworkAccess network);
// `object` is a descriptor of the file or directory, O_PATH is enough.
Status allow_beneath(const Descriptor& ruleset, int object, const LandlockRule& rule);
// The same by path; what does not exist needs no rule.
Status allow_path(const Descriptor& ruleset, const LandlockRule& rule);

// What a process sees where there is no mount namespace: the system, read-only, and the roots.
std::vector<LandlockRule> landlock_rules_alone(const SandboxPlan& plan,
                                               const std::string& temporary_directory);

}  // namespace pawl::sandbox
