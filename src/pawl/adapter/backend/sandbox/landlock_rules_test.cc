#include "pawl/adapter/backend/sandbox/landlock_rules.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace pawl::sandbox {
namespace {

TEST_CASE("alone, the rules name the roots, the system and nothing that is secret") {
  SandboxPlan plan;
  plan.write_roots = {"/srv/one"};
  plan.read_roots = {"/srv/two"};
  const auto rules = landlock_rules_alone(plan, "/tmp/mine");
  const auto access_of = [&](const std::string& path) -> int {
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [&](const LandlockRule& rule) { return rule.path == path; });
    return found == rules.end() ? -1 : static_cast<int>(found->access);
  };
  CHECK(access_of("/srv/one") == static_cast<int>(FileAccess::write));
  CHECK(access_of("/tmp/mine") == static_cast<int>(FileAccess::write));
  CHECK(access_of("/srv/two") == static_cast<int>(FileAccess::read));
  CHECK(access_of("/usr") == static_cast<int>(FileAccess::read));
  for (const char* path : {"/", "/etc", "/proc", "/dev", "/tmp", "/root", "/home", "/run"}) {
    CHECK(access_of(path) == -1);
  }
}

TEST_CASE("what does not exist needs no rule, and a rule for a file has rights of files only") {
  const auto ruleset = make_landlock_ruleset(IsolationLevel::namespaces, NetworkAccess::none);
  REQUIRE(ruleset);
  if (!*ruleset) {
    std::printf("SKIPPED: no version of Landlock that is used stands behind namespaces here\n");
    return;
  }
  CHECK(allow_path(*ruleset, {"/no/such/path", FileAccess::write}));
  CHECK(allow_path(*ruleset, {"/dev/null", FileAccess::device}));
  CHECK(allow_path(*ruleset, {"/etc/passwd", FileAccess::write}));
  CHECK(allow_path(*ruleset, {"/usr", FileAccess::read}));
}

TEST_CASE("what stands behind a level is what the kernel has, as far as it is of use") {
  const auto version = landlock_version();
  const auto behind = landlock_behind(IsolationLevel::namespaces);
  REQUIRE(behind);
  CHECK(*behind <= kLandlockNewest);
  CHECK((*behind == 0) == (!version || *version < kLandlockLeastBehindNamespaces));
  CHECK(landlock_behind(IsolationLevel::landlock).has_value() ==
        (version && *version >= kLandlockLeastAlone));
  CHECK(*landlock_behind(IsolationLevel::none) == 0);
}

}  // namespace
}  // namespace pawl::sandbox
