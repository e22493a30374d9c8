#include "pawl/adapter/backend/sandbox/namespace_cause.h"

#include <doctest/doctest.h>

#include <cerrno>

namespace pawl::sandbox {
namespace {

using Host = NamespaceSettings::Host;

bool names(const NamespaceSettings& settings, const char* text) {
  const std::string said = forbidding_setting(settings);
  CAPTURE(said);
  return said.find(text) != std::string::npos && said.find(" (") != std::string::npos;
}

TEST_CASE("the setting that forbids user namespaces is named, with what changes it") {
  CHECK(names({0, 1, 0, Host::ordinary}, "user.max_user_namespaces is 0"));
  CHECK(names({0, {}, {}, Host::root}, "user.max_user_namespaces is 0"));
  CHECK(names({100, 0, 0, Host::ordinary}, "kernel.unprivileged_userns_clone is 0"));
  CHECK(names({100, {}, 1, Host::ordinary}, "kernel.apparmor_restrict_unprivileged_userns is 1"));
}

TEST_CASE("where AppArmor restricts them, the refusal has the commands for this very program") {
  NamespaceSettings ubuntu{100, {}, 1, Host::ordinary};
  ubuntu.program = "/srv/ada/bin/pawl";
  CHECK(names(ubuntu, "profile pawl /srv/ada/bin/pawl flags=(unconfined) { userns, }"));
  CHECK(names(ubuntu, "apparmor_parser -r /etc/apparmor.d/pawl)"));
  ubuntu.shipped_profile = "/srv/ada/share/pawl/apparmor/pawl";
  CHECK(names(ubuntu,
              "(as root: sed 's|^profile pawl [^ ]*|profile pawl /srv/ada/bin/pawl|' "
              "/srv/ada/share/pawl/apparmor/pawl >/etc/apparmor.d/pawl && "));
  ubuntu.program = "/srv/a b/'pawl";  // what a shell would take apart is left to the operator
  CHECK(names(ubuntu, "profile pawl /PATH/OF/pawl|"));
  ubuntu.profile = NamespaceSettings::Profile::own;
  CHECK(forbidding_setting(ubuntu).empty());  // it has been loaded
  CHECK_FALSE(read_namespace_settings().program.empty());
}

TEST_CASE("settings for ordinary users do not count for root, and absent ones forbid nothing") {
  CHECK(forbidding_setting({100, 0, 1, Host::root}).empty());
  CHECK(forbidding_setting({100, {}, {}, Host::ordinary}).empty());
  CHECK(forbidding_setting({{}, 1, 0, Host::ordinary}).empty());
}

TEST_CASE("without a setting that forbids it, the error says what may be the cause") {
  const NamespaceSettings free{100, 1, 0, Host::ordinary};
  const auto said = [&](int error) {
    return no_namespaces("a user namespace", error, free).message;
  };
  CHECK(said(EPERM).find("seccomp") != std::string::npos);
  CHECK(said(EINVAL).find("CONFIG_USER_NS") != std::string::npos);
  CHECK(said(ENOSPC).find("raise user.max_user_namespaces") != std::string::npos);
  CHECK(no_namespaces("a mount", EACCES, {100, {}, 1, Host::ordinary})
            .message.find("apparmor_parser") != std::string::npos);
}

}  // namespace
}  // namespace pawl::sandbox
