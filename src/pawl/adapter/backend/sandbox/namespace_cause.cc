#include "pawl/adapter/backend/sandbox/namespace_cause.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sandbox {
namespace {

constexpr std::size_t kSettingBytesMax = 256;

std::string read_text(const char* path) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, kSettingBytesMax> text{};
  const ssize_t bytes = file ? ::read(file.number(), text.data(), text.size()) : -1;
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

std::optional<std::int64_t> read_setting(const char* path) {
  const std::string text = read_text(path);
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  static_cast<void>(end);
  return fault == std::errc{} ? std::optional(value) : std::nullopt;
}

// "unconfined", or the name of a profile and its mode.
NamespaceSettings::Profile own_profile() {
  std::string label = read_text("/proc/self/attr/apparmor/current");
  if (label.empty()) label = read_text("/proc/self/attr/current");
  return label.empty() || label.starts_with("unconfined") ? NamespaceSettings::Profile::none
                                                          : NamespaceSettings::Profile::own;
}

void find_profile(NamespaceSettings& settings) {
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  if (none) return;
  settings.program = program;
  const auto shipped = program.parent_path().parent_path() / kAppArmorProfile;
  if (std::filesystem::is_regular_file(shipped, none)) settings.shipped_profile = shipped;
}

// Neither the shell nor AppArmor takes these characters for something else.
bool is_plain(const std::string& path) {
  return !path.empty() && std::ranges::all_of(path, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+").find(c) != std::string_view::npos;
  });
}

// Commands that write a profile for this very program, from the file that is installed with it if
// there is one, and load it.
std::string profile_commands(const NamespaceSettings& settings) {
  const std::string program = is_plain(settings.program) ? settings.program : "/PATH/OF/pawl";
  const std::string write =
      is_plain(settings.shipped_profile)
          ? "sed 's|^profile pawl [^ ]*|profile pawl " + program + "|' " + settings.shipped_profile
          : "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile pawl " + program +
                " flags=(unconfined) { userns, }\\n'";
  return write + " >/etc/apparmor.d/pawl && apparmor_parser -r /etc/apparmor.d/pawl";
}

std::string of_error(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return "a seccomp filter, a security module or a chroot forbids it (in a container: "
             "--security-opt seccomp=unconfined --security-opt apparmor=unconfined; or name the "
             "level `landlock`)";
    case EINVAL:
      return "the kernel was built without them (it needs CONFIG_USER_NS; or name the level "
             "`landlock`)";
    case ENOSPC:
    case EUSERS:
      return "there are too many (raise user.max_user_namespaces)";
    default:
      return "the kernel has no room for one (run fewer at a time)";
  }
}

}  // namespace

NamespaceSettings read_namespace_settings() {
  NamespaceSettings settings;
  settings.count_max = read_setting("/proc/sys/user/max_user_namespaces");
  settings.for_users = read_setting("/proc/sys/kernel/unprivileged_userns_clone");
  settings.apparmor_restricts =
      read_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  settings.profile = own_profile();
  find_profile(settings);
  if (::geteuid() == 0) settings.host = NamespaceSettings::Host::root;
  return settings;
}

std::string forbidding_setting(const NamespaceSettings& settings) {
  if (settings.count_max == 0) {
    return "user.max_user_namespaces is 0 (as root: sysctl -w user.max_user_namespaces=10000)";
  }
  if (settings.host == NamespaceSettings::Host::root) return "";
  if (settings.for_users == 0) {
    return "kernel.unprivileged_userns_clone is 0 (as root: sysctl -w "
           "kernel.unprivileged_userns_clone=1)";
  }
  if (settings.apparmor_restricts.value_or(0) != 0 &&
      settings.profile == NamespaceSettings::Profile::none) {
    return "AppArmor keeps programs without a profile from using them, as "
           "kernel.apparmor_restrict_unprivileged_userns is 1 (as root: " +
           profile_commands(settings) + ")";
  }
  return "";
}

Error no_namespaces(const std::string& stage, int error, const NamespaceSettings& settings) {
  const std::string setting = forbidding_setting(settings);
  const std::string cause =
      setting.empty() ? describe_errno(error) + ": " + of_error(error) : setting;
  return {ErrorCode::unavailable, "no sandbox: " + stage + ": " + cause};
}

}  // namespace pawl::sandbox
