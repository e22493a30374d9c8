#include "pawl/app/machine.h"

#include <fmt/format.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "pawl/adapter/journal_sqlite/examination.h"
#include "pawl/app/files.h"

namespace pawl {
namespace {

constexpr std::size_t kSettingBytesMax = 256;

std::optional<std::int64_t> kernel_setting(const std::string& path) {
  const auto text = read_file(path, kSettingBytesMax);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
  static_cast<void>(end);
  return fault == std::errc{} ? std::optional(value) : std::nullopt;
}

Finding offered(const std::string& about, bool there, const std::string& text,
                const std::string& remedy) {
  Finding finding;
  finding.about = about;
  finding.grade = there ? Finding::Grade::ok : Finding::Grade::warning;
  finding.text = text;
  if (!there) finding.remedy = remedy;
  return finding;
}

Finding user_namespaces() {
  const auto count_max = kernel_setting("/proc/sys/user/max_user_namespaces");
  // Debian's own switch; elsewhere there is none.
  const auto allowed = kernel_setting("/proc/sys/kernel/unprivileged_userns_clone");
  const auto restricted = kernel_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  const bool there =
      count_max.value_or(0) > 0 && allowed.value_or(1) != 0 && restricted.value_or(0) == 0;
  return offered("user namespaces", there, there ? "can be made" : "cannot be made by users",
                 "sandboxes of level namespace will not work here");
}

Finding landlock() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  const bool there = version > 0;
  return offered("landlock", there, there ? fmt::format("version {}", version) : "not offered",
                 "file access of sandboxed tools is limited by namespaces alone");
}

Finding seccomp() {
  const bool there = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
  return offered("seccomp", there, there ? "offered" : "not offered",
                 "system calls of sandboxed tools cannot be filtered here");
}

}  // namespace

std::vector<Finding> examine_machine() {
  Finding library;
  library.about = "SQLite";
  library.text = "version " + sqlite::library_version();
  return {library, user_namespaces(), landlock(), seccomp()};
}

}  // namespace pawl
