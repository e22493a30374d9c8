#include "pawl/adapter/backend/sandbox/namespace_cause.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sandbox {
namespace {

constexpr std::size_t kNumberBytesMax = 32;

std::optional<std::int64_t> read_setting(const char* path) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, kNumberBytesMax> text{};
  const ssize_t bytes = file ? ::read(file.number(), text.data(), text.size()) : -1;
  std::int64_t value = 0;
  if (bytes <= 0) return std::nullopt;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + bytes, value);
  static_cast<void>(end);
  return fault == std::errc{} ? std::optional(value) : std::nullopt;
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
  if (settings.apparmor_restricts.value_or(0) != 0) {
    return std::string(
               "AppArmor keeps programs without a profile from using them, as "
               "kernel.apparmor_restrict_unprivileged_userns is 1 (as root: cp PREFIX/") +
           kAppArmorProfile +
           " /etc/apparmor.d/pawl && apparmor_parser -r /etc/apparmor.d/pawl; PREFIX is where Pawl "
           "is installed, and the profile names the program's path)";
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
