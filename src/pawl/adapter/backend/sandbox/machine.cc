#include "pawl/adapter/backend/sandbox/machine.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include "pawl/adapter/backend/sandbox/landlock_rules.h"
#include "pawl/adapter/backend/sandbox/namespace_cause.h"

namespace pawl {
namespace {

Finding offered(const std::string& about, bool there, const std::string& text,
                const std::string& remedy) {
  Finding finding;
  finding.about = about;
  finding.grade = there ? Finding::Grade::ok : Finding::Grade::warning;
  finding.text = text;
  if (!there) finding.remedy = remedy;
  return finding;
}

// "the reason (the remedy)"
Finding user_namespaces() {
  const std::string why = sandbox::forbidding_setting(sandbox::read_namespace_settings());
  const std::size_t at = why.find(" (");
  if (why.empty()) return offered("user namespaces", true, "can be made", "");
  return offered("user namespaces", false, "cannot be made: " + why.substr(0, at),
                 why.substr(at + 2, why.size() - at - 3));
}

Finding landlock() {
  const auto version = sandbox::landlock_version();
  return offered("landlock", version.has_value(),
                 version ? fmt::format("version {}", *version) : version.error().message,
                 "the level `namespace` holds without it; the level `landlock` cannot be had");
}

Finding seccomp() {
  const bool there = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
  return offered("seccomp", there, there ? "offered" : "not offered",
                 "system calls of sandboxed tools cannot be filtered here");
}

}  // namespace

std::vector<Finding> examine_machine() {
  return {user_namespaces(), landlock(), seccomp()};
}

}  // namespace pawl
