// When a person must be asked before a plan (or a single call, which is a plan of one step) is
// carried out. A policy is a value with no state: it may be shared between threads.
//
// As a document:
//   always_approve                                  never asks
//   always_require                                  always asks
//   {threshold: {cost: 0.50, steps: 5, risk: high}} asks above the cost, above the count, from the
//                                                   risk on
//   {pattern: [{tool: "bash", arguments: {command: {regex: "rm .*"}}}]}
//   {any: [ ...policies... ]}                       asks if a member does
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/base/json.h"
#include "pawl/base/result.h"
#include "pawl/gate/rules/call_pattern.h"

namespace pawl {

enum class Risk : std::uint8_t { low, medium, high, critical };
std::string_view name(Risk risk);
std::optional<Risk> parse_risk(std::string_view word);

struct ProposedStep {
  std::string tool;
  std::string input = "{}";      // JSON text: the exact bytes of the arguments
  std::string description = {};  // the model's words; no policy believes them
  Risk risk = Risk::low;
  std::uint64_t cost_pico = 0;

  friend bool operator==(const ProposedStep&, const ProposedStep&) = default;
};

struct Plan {
  std::vector<ProposedStep> steps;  // in this order

  friend bool operator==(const Plan&, const Plan&) = default;
};

class ApprovalPolicy {
 public:
  ApprovalPolicy() = default;
  ApprovalPolicy(const ApprovalPolicy&) = delete;
  ApprovalPolicy& operator=(const ApprovalPolicy&) = delete;
  virtual ~ApprovalPolicy() = default;

  // Why a person must be asked, or nothing.
  virtual std::optional<std::string> approval_reason(const Plan& plan) const = 0;
  virtual std::string_view name() const = 0;
  bool requires_approval(const Plan& plan) const { return approval_reason(plan).has_value(); }
};

inline constexpr std::size_t kPolicyDepthMax = 8;
inline constexpr std::size_t kPolicyMembersMax = 64;
inline constexpr std::size_t kPolicyPatternsMax = 256;

struct ApprovalPolicyConfig;

struct AlwaysApproveConfig {
  friend bool operator==(const AlwaysApproveConfig&, const AlwaysApproveConfig&) = default;
};
struct AlwaysRequireConfig {
  friend bool operator==(const AlwaysRequireConfig&, const AlwaysRequireConfig&) = default;
};
struct ThresholdConfig {
  std::optional<std::uint64_t> cost_pico = std::nullopt;  // asks when the plan costs more
  std::optional<std::uint64_t> steps = std::nullopt;      // asks when it has more
  std::optional<Risk> risk = std::nullopt;                // asks when a step has at least this
  friend bool operator==(const ThresholdConfig&, const ThresholdConfig&) = default;
};
struct PatternConfig {
  std::vector<CallPatternSpec> patterns;  // asks when a step matches one, or may
  friend bool operator==(const PatternConfig&, const PatternConfig&) = default;
};
struct CompositeConfig {
  std::vector<ApprovalPolicyConfig> members;
  friend bool operator==(const CompositeConfig&, const CompositeConfig&);
};

struct ApprovalPolicyConfig {
  std::variant<AlwaysRequireConfig, AlwaysApproveConfig, ThresholdConfig, PatternConfig,
               CompositeConfig>
      policy;  // what nobody chose asks

  friend bool operator==(const ApprovalPolicyConfig&, const ApprovalPolicyConfig&) = default;
};

// Nothing when there is a fault. `where` begins every path in the faults: "approvals".
std::optional<ApprovalPolicyConfig> read_approval_policy(const Node& node,
                                                         std::vector<Fault>& faults,
                                                         const std::string& where);
// The same from JSON text; an error lists the faults.
Result<ApprovalPolicyConfig> approval_policy_from_json(std::string_view json);
std::string approval_policy_to_json(const ApprovalPolicyConfig& config);

// An error when a pattern is not one, or a maximum above is exceeded.
Result<std::shared_ptr<const ApprovalPolicy>> make_approval_policy(
    const ApprovalPolicyConfig& config);

}  // namespace pawl
