// What a user lets every charter do at most: `policy` in the configuration file, and the file of
// --policy. A charter can tighten it and never loosen it.
//
//   allow: [view, grep, bash]          # tools, by patterns; absent: every one
//   ask: [bash]
//   deny: [http_*]
//   guardrails: [{id: …, tool: …}]     # as in a charter
//   permissions: {grant: [fs_read]}    # likewise
//   shell: {allow: [ls]}               # likewise
//   approvals: always_require          # likewise
//   tools: {deploy: {author: administrator, execute: [release-*]}}
//   administrators: [root]             # names of users
//   sandbox: {level: namespace}        # the least isolation, see policy_sandbox.h
//   approvers: {ann: "ed25519:…"}      # whose signed approvals count; a list for several keys
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "pawl/gate/charter_permissions.h"
#include "pawl/gate/policy_sandbox.h"

namespace pawl {

inline constexpr std::size_t kPolicyToolsMax = 256;
inline constexpr std::size_t kAdministratorsMax = 256;

struct UserPolicy {
  std::string file;    // where it was read
  std::string source;  // what stands there, as JSON
  CharterPermissions limits;
  std::map<std::string, ToolRequirements> tools;
  std::vector<std::string> administrators;
  SandboxDemand sandbox;
};

UserPolicy read_user_policy(const Node& node, std::vector<Fault>& faults, const std::string& file,
                            const std::string& where);

// Why `four_eyes` cannot be met by these permissions; empty: it can, or is not asked for.
std::string four_eyes_objection(const CharterPermissions& permissions);
inline constexpr std::string_view kFourEyesRemedy =
    "list them in the policy: approvers: { ann: ed25519:…, bob: ed25519:… }; pawl identity new "
    "makes a key";

// What holds for a charter inside these policies, the outermost first. Without `guardrails`, which
// rules_within() joins.
CharterPermissions permissions_within(std::span<const UserPolicy> policies,
                                      CharterPermissions charter);

// Shipped rules, then those of each policy, then the charter's. The outermost has the user's
// rights; what is inside another can only tighten. A charter within no policy is the user's own.
std::vector<ToolRule> rules_within(std::span<const UserPolicy> policies,
                                   const std::vector<RuleOverride>& charter,
                                   std::vector<Fault>& faults);

// Why this user may not put the tool into an agent (the stage `author`); empty: they may.
std::string author_objection(std::span<const UserPolicy> policies, const std::string& tool,
                             const std::string& user);
// The stage `execute`: of each tool that a policy names, the agents that may call it.
std::map<std::string, std::vector<std::string>> execute_names(std::span<const UserPolicy> policies);

// A run is accepted within policies, and is held to them as long as it lives: its journal keeps
// them.
std::vector<PolicyText> texts_of(std::span<const UserPolicy> policies);
// invalid_argument: one that cannot be read. Scripts are placed beside the files.
Result<std::vector<UserPolicy>> policies_of(std::span<const PolicyText> texts);

// Makes the scripts of the rules absolute: those of the user are the user's files, wherever the
// charter is.
void place_scripts(UserPolicy& policy, const std::string& file);

// The policies that hold for an agent.
struct HeldPolicies {
  std::vector<UserPolicy> now = {};       // the outermost first
  std::vector<UserPolicy> accepted = {};  // of a run that began within others; else empty
  std::vector<UserPolicy> all = {};       // those of now, and of `accepted` those that are others
  std::string remark = {};                // for the journal: that they have changed
};
HeldPolicies hold_policies(std::vector<UserPolicy> now, std::vector<UserPolicy> accepted);
// As rules_within() of those of now, and of those of the beginning, together: of all rules that
// match a call the strictest decides.
std::vector<ToolRule> rules_held(const HeldPolicies& held, const std::vector<RuleOverride>& charter,
                                 std::vector<Fault>& faults);

// One line for people.
std::string describe(const UserPolicy& policy);

}  // namespace pawl
