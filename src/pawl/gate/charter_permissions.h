// Who may do what, as a charter declares it: the sections `approvals`, `permissions`, `guardrails`
// and the lists of `tools`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/gate/approvals/approval_policy.h"
#include "pawl/gate/rules/rules.h"
#include "pawl/gate/rules/trust.h"
#include "pawl/gate/shell/shell_rules.h"
#include "pawl/kernel/events.h"

namespace pawl {

// A policy of the user's: the file it was read from, and what it says as JSON.
struct PolicyText {
  std::string file;
  std::string source;

  friend bool operator==(const PolicyText&, const PolicyText&) = default;
};

inline constexpr std::int64_t kApprovalExpiryMaxMs = 400LL * 24 * 3600 * 1000;
inline constexpr std::size_t kToolPatternsMax = 256;

struct CharterPermissions {
  std::optional<std::vector<std::string>> allow;  // patterns; absent: every tool
  std::vector<ToolRule> listed;                   // of tools.ask and tools.deny
  std::vector<RuleOverride> guardrails;
  std::optional<Grants> grants;
  std::optional<ShellPolicy> shell;  // tools.shell
  std::optional<ApprovalPolicyConfig> approvals;
  std::uint64_t expires_ms = 0;
  Approvers approvers = Approvers::anyone;
  std::vector<Signer> signers = {};     // whose approvals count; of the user's policy
  std::vector<OuterLimits> outer = {};  // of the user's policy; a charter declares none
};

//   approvals: always_require
//   approvals: { policy: {threshold: {steps: 5}}, expires: 1h, four_eyes: true }
void read_approvals(const Node& node, std::vector<Fault>& faults, CharterPermissions& out);
//   permissions: { grant: [network, fs_read], trust: medium, domains: [example.org], paths: [/srv]
//   }
void read_permissions(const Node& node, std::vector<Fault>& faults, CharterPermissions& out);
// `tools.ask` or `tools.deny`: patterns of names, as rules. `section` begins their ids: "tools".
void read_tool_patterns(MapReader& reader, std::string_view section, std::string_view key,
                        CharterPermissions& out);

}  // namespace pawl
