#include "pawl/adapter/backend/sandbox/landlock_rules.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "pawl/adapter/backend/sandbox/system_paths.h"
#include "pawl/base/describe_errno.h"

namespace pawl::sandbox {
namespace {

// Debian 12's <linux/landlock.h> ends at version 2; these numbers are the kernel's interface.
constexpr std::uint64_t bit(unsigned number) {
  return std::uint64_t{1} << number;
}
constexpr std::uint64_t kExecute = bit(0);
constexpr std::uint64_t kWriteFile = bit(1);
constexpr std::uint64_t kReadFile = bit(2);
constexpr std::uint64_t kReadDirectory = bit(3);
constexpr std::uint64_t kMakeCharacterDevice = bit(6);
constexpr std::uint64_t kMakeBlockDevice = bit(11);
constexpr std::uint64_t kRefer = bit(13);
constexpr std::uint64_t kTruncate = bit(14);
constexpr std::uint64_t kDeviceRequest = bit(15);
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceRequest;
constexpr std::uint64_t kTcp = bit(0) | bit(1);     // bind, connect
constexpr std::uint64_t kScopes = bit(0) | bit(1);  // abstract unix sockets, signals
constexpr unsigned kVersionFlag = 1;
constexpr int kRulePathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};

struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

std::uint64_t known_to(int version) {
  std::uint64_t known = kRefer - 1;
  if (version >= kLandlockRefer) known |= kRefer;
  if (version >= kLandlockTruncate) known |= kTruncate;
  if (version >= kLandlockDevices) known |= kDeviceRequest;
  return known;
}

std::size_t attribute_bytes(int version) {
  if (version >= kLandlockScopes) return 3 * sizeof(std::uint64_t);
  return (version >= kLandlockNetwork ? 2 : 1) * sizeof(std::uint64_t);
}

std::uint64_t rights(FileAccess access) {
  constexpr std::uint64_t kRead = kExecute | kReadFile | kReadDirectory;
  switch (access) {
    case FileAccess::read:
      return kRead;
    case FileAccess::device:
      return kReadFile | kWriteFile | kReadDirectory | kTruncate;
    case FileAccess::write:
      break;
  }
  return ((kDeviceRequest - 1) & ~(kMakeCharacterDevice | kMakeBlockDevice));
}

}  // namespace

Result<int> landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionFlag);
  if (version > 0) return static_cast<int>(version);
  const std::string why = errno == EOPNOTSUPP
                              ? "is switched off (boot with lsm=landlock,… on the command line)"
                              : "is not there: " + describe_errno(errno) +
                                    " (it needs a kernel with CONFIG_SECURITY_LANDLOCK; a "
                                    "container's seccomp profile may hide it)";
  return Error{ErrorCode::unavailable, "Landlock " + why};
}

Result<int> landlock_behind(IsolationLevel level) {
  const auto version = landlock_version();
  if (level == IsolationLevel::namespaces) {
    const bool used = version && *version >= kLandlockLeastBehindNamespaces;
    return used ? std::min(*version, kLandlockNewest) : 0;
  }
  if (level != IsolationLevel::landlock) return 0;
  if (!version) return Error{ErrorCode::unavailable, "no sandbox: " + version.error().message};
  if (*version >= kLandlockLeastAlone) return std::min(*version, kLandlockNewest);
  return Error{ErrorCode::unavailable,
               "no sandbox: Landlock of this kernel is version " + std::to_string(*version) +
                   ", which cannot keep a tool from signalling other processes of its user (the "
                   "level `landlock` needs version 6, Linux 6.12 or newer; the level `namespace` "
                   "needs no Landlock)"};
}

Result<Descriptor> make_landlock_ruleset(IsolationLevel level, NetworkAccess network) {
  PAWL_TRY(const int version, landlock_behind(level));
  if (version == 0) return Descriptor();
  RulesetAttributes attributes;
  attributes.files = known_to(version);
  const bool alone = level == IsolationLevel::landlock;
  if (version >= kLandlockNetwork && alone && network == NetworkAccess::none) {
    attributes.network = kTcp;
  }
  if (version >= kLandlockScopes) attributes.scopes = kScopes;
  Descriptor ruleset(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, attribute_bytes(version), 0)));
  if (ruleset) return ruleset;
  return Error{ErrorCode::unavailable, "Landlock: no ruleset: " + describe_errno(errno)};
}

Status allow_beneath(const Descriptor& ruleset, int object, const LandlockRule& rule) {
  PAWL_TRY(const int version, landlock_version());
  struct stat status{};
  PathRule allowed{rights(rule.access) & known_to(version), object};
  if (::fstat(object, &status) == 0 && !S_ISDIR(status.st_mode)) allowed.allowed &= kOfFiles;
  if (::syscall(SYS_landlock_add_rule, ruleset.number(), kRulePathBeneath, &allowed, 0) == 0) {
    return ok();
  }
  return Error{ErrorCode::unavailable, "Landlock: " + rule.path + ": " + describe_errno(errno)};
}

Status allow_path(const Descriptor& ruleset, const LandlockRule& rule) {
  const Descriptor object(::open(rule.path.c_str(), O_PATH | O_CLOEXEC));
  if (!object && (errno == ENOENT || errno == EACCES)) return ok();
  if (!object) return Error{ErrorCode::unavailable, rule.path + ": " + describe_errno(errno)};
  return allow_beneath(ruleset, object.number(), rule);
}

std::vector<LandlockRule> landlock_rules_alone(const SandboxPlan& plan,
                                               const std::string& temporary_directory) {
  std::vector<LandlockRule> rules;
  const auto read = [&](std::string_view path) {
    rules.push_back({std::string(path), FileAccess::read});
  };
  for (const std::string_view path : kSystemDirectories) read(path);
  for (const std::string_view path : kSystemConfiguration) read(path);
  for (const std::string_view path : kNetworkConfiguration) read(path);
  for (const std::string_view path : kSystemStatistics) read(path);
  for (const char* path : {"/etc/passwd", "/etc/group"}) read(path);
  for (const std::string& root : plan.read_roots) {
    rules.push_back({root, FileAccess::read, held_root(plan, root)});
  }
  for (const std::string_view name : kDevices) {
    rules.push_back({"/dev/" + std::string(name), FileAccess::device});
  }
  rules.push_back({temporary_directory, FileAccess::write});
  for (const std::string& root : plan.write_roots) {
    rules.push_back({root, FileAccess::write, held_root(plan, root)});
  }
  return rules;
}

}  // namespace pawl::sandbox
