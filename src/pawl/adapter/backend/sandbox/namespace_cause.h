// Why the kernel refuses a user namespace here, and what helps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/result.h"

namespace pawl::sandbox {

// Where the package puts the profile that lets pawl make user namespaces on Ubuntu.
inline constexpr const char* kAppArmorProfile = "share/pawl/apparmor/pawl";

// What the kernel says about itself; empty: it has no such setting.
struct NamespaceSettings {
  std::optional<std::int64_t> count_max;           // user.max_user_namespaces
  std::optional<std::int64_t> for_users;           // kernel.unprivileged_userns_clone (Debian)
  std::optional<std::int64_t> apparmor_restricts;  // kernel.apparmor_restrict_unprivileged_userns
  enum class Host : std::uint8_t { ordinary, root } host = Host::ordinary;
  // Of this process. With a profile of its own AppArmor's setting does not count.
  enum class Profile : std::uint8_t { none, own } profile = Profile::none;
  std::string program = {};          // this one, absolute; empty: not known
  std::string shipped_profile = {};  // the file that is installed with it; empty: there is none
};
NamespaceSettings read_namespace_settings();

// The setting that keeps this host from making user namespaces, with the remedy in parentheses
// behind it; empty: none of them does.
std::string forbidding_setting(const NamespaceSettings& settings);

// What failed, the cause, and the remedy. `stage` is what was tried, `error` the kernel's number.
Error no_namespaces(const std::string& stage, int error, const NamespaceSettings& settings);

}  // namespace pawl::sandbox
