#include "pawl/gate/rules/trust.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("every missing bit is named, even for an allow-listed tool") {
  for (std::size_t i = 0; i < kPermissionCount; ++i) {
    const auto permission = static_cast<Permission>(i);
    CHECK(parse_permission(name(permission)) == permission);
    Grants grants{PermissionBits::all()};
    const ToolTraits tool{"t", TrustLevel::system, {permission}};
    CHECK(check_trust(tool, grants).verdict == Verdict::allow);
    grants.bits.remove(permission);
    CHECK(check_allow_list("t", Names{"t"}, Names{"t"}).verdict == Verdict::allow);
    const Judgement judgement = check_trust(tool, grants);
    CHECK(judgement.verdict == Verdict::deny);
    CHECK(judgement.rule == "trust." + std::string(name(permission)));
    CHECK(judgement.reason == "the tool t needs the permission " + std::string(name(permission)) +
                                  ", which is not granted");
  }
  CHECK(parse_permission("root") == std::nullopt);
}

TEST_CASE("of several missing bits all are named at once") {
  const ToolTraits tool{
      "t", TrustLevel::system, {Permission::network, Permission::fs_write, Permission::pii}};
  const Judgement judgement = check_trust(tool, Grants{PermissionBits{Permission::fs_write}});
  CHECK(judgement.rule == "trust.network");
  CHECK(judgement.reason == "the tool t needs the permissions network, pii, which are not granted");
}

TEST_CASE("a tool that needs nothing passes without grants") {
  CHECK(check_trust({"t", TrustLevel::low}, {}).verdict == Verdict::allow);
}

TEST_CASE("an untrusted tool asks every time, and its missing bits still deny") {
  const Grants grants{PermissionBits{Permission::network}};
  const Judgement judgement = check_trust({"t", TrustLevel::untrusted}, grants);
  CHECK(judgement.verdict == Verdict::ask);
  CHECK(judgement.asking == Asking::every_time);
  CHECK(check_trust({"t", TrustLevel::untrusted, {Permission::env}}, grants).verdict ==
        Verdict::deny);
}

TEST_CASE("levels are ordered, and the least one is a floor") {
  const Grants grants{PermissionBits::all(), TrustLevel::medium};
  CHECK(check_trust({"t", TrustLevel::low}, grants).rule == "trust.level");
  CHECK(check_trust({"t", TrustLevel::untrusted}, grants).verdict == Verdict::deny);
  CHECK(check_trust({"t", TrustLevel::medium}, grants).verdict == Verdict::allow);
  CHECK(check_trust({"t", TrustLevel::system}, grants).verdict == Verdict::allow);
  CHECK(parse_trust_level("high") == TrustLevel::high);
  CHECK(parse_trust_level("root") == std::nullopt);
}

TEST_CASE("domains: no list is every one, an empty list none") {
  ToolTraits tool{"fetch", TrustLevel::high, {Permission::network}, {"a.test"}};
  Grants grants{PermissionBits::all()};
  CHECK(check_trust(tool, grants).verdict == Verdict::allow);
  grants.allowed_domains = Names{};
  CHECK(check_trust(tool, grants).rule == "trust.domains");
  grants.allowed_domains = Names{"a.test"};
  CHECK(check_trust(tool, grants).verdict == Verdict::allow);
  tool.domains.emplace_back("b.test");
  CHECK(check_trust(tool, grants).reason ==
        "the tool fetch may not reach b.test; allowed domains: a.test");
}

TEST_CASE("paths: what is in doubt is outside") {
  ToolTraits tool{"edit", TrustLevel::high, {}, {}, {"/w/a"}};
  Grants grants;
  CHECK(check_trust(tool, grants).verdict == Verdict::allow);
  grants.allowed_paths = Names{"/w"};
  CHECK(check_trust(tool, grants).verdict == Verdict::allow);
  for (const char* path : {"/w/../etc", "a", "~/x", "/ww/a"}) {
    tool.paths = {path};
    CHECK(check_trust(tool, grants).rule == "trust.paths");
  }
  tool.paths = {"/w/a"};
  grants.allowed_paths = Names{};
  CHECK(check_trust(tool, grants).verdict == Verdict::deny);
}

TEST_CASE("the allow-list: null is all, empty is nothing, and the reason lists what is permitted") {
  const Names known = {"bash", "view", "mcp__a__x"};
  CHECK(check_allow_list("bash", std::nullopt, known).verdict == Verdict::allow);
  const Judgement none = check_allow_list("bash", Names{}, known);
  CHECK(none.verdict == Verdict::deny);
  CHECK(none.reason == "the tool bash is not allowed here; permitted tools: none");
  const Judgement other = check_allow_list("bash", Names{"view", "mcp__*"}, known);
  CHECK(other.reason == "the tool bash is not allowed here; permitted tools: view, mcp__a__x");
  CHECK(check_allow_list("mcp__a__x", Names{"mcp__*"}, known).verdict == Verdict::allow);
}

TEST_CASE("a long list of tools is cut with a count") {
  Names known;
  for (std::size_t i = 0; i < kNamesShownMax + 7; ++i) known.push_back("t" + std::to_string(i));
  const Judgement judgement = check_allow_list("x", Names{"t*"}, known);
  CHECK(judgement.reason.ends_with("t49 and 7 more"));
}

TEST_CASE("each of the three stages denies by itself, with its own reason") {
  using Role = StageSubject::Role;
  ToolRequirements hard{true, false, Names{"trusted-*"}};
  const StageSubject nobody{Role::user, Visibility::shared, "other"};
  const StageSubject fits{Role::administrator, Visibility::private_to_owner, "trusted-1"};
  for (const PermissionStage stage :
       {PermissionStage::author, PermissionStage::share, PermissionStage::execute}) {
    const Judgement judgement = check_stage(stage, "t", hard, nobody);
    CHECK(judgement.verdict == Verdict::deny);
    CHECK(judgement.rule == "stage." + std::string(name(stage)));
    CHECK(check_stage(stage, "t", hard, fits).verdict == Verdict::allow);
    CHECK(check_stage(stage, "t", {}, nobody).verdict == Verdict::allow);
  }
  CHECK(check_stage(PermissionStage::author, "t", hard, nobody).reason ==
        "only an administrator may add the tool t to an agent");
  CHECK(check_stage(PermissionStage::execute, "t", hard, nobody).reason ==
        "the agent other may not call the tool t; agents that may: trusted-*");
  hard.execute_names = Names{};
  CHECK(check_stage(PermissionStage::execute, "t", hard, fits).verdict == Verdict::deny);
}

}  // namespace
}  // namespace pawl
