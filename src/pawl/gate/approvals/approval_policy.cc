#include "pawl/gate/approvals/approval_policy.h"

#include <algorithm>
#include <array>
#include <limits>

namespace pawl {
namespace {

constexpr std::array<std::string_view, 4> kRisks = {"low", "medium", "high", "critical"};

class AlwaysApprove final : public ApprovalPolicy {
 public:
  std::optional<std::string> approval_reason(const Plan&) const override { return std::nullopt; }
  std::string_view name() const override { return "always_approve"; }
};

class AlwaysRequire final : public ApprovalPolicy {
 public:
  std::optional<std::string> approval_reason(const Plan&) const override {
    return "every call needs an approval";
  }
  std::string_view name() const override { return "always_require"; }
};

std::uint64_t cost_of(const Plan& plan) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t sum = 0;
  for (const ProposedStep& step : plan.steps) {
    sum = step.cost_pico > kMax - sum ? kMax : sum + step.cost_pico;
  }
  return sum;
}

class Threshold final : public ApprovalPolicy {
 public:
  explicit Threshold(ThresholdConfig config) : config_(config) {}

  std::optional<std::string> approval_reason(const Plan& plan) const override {
    if (config_.cost_pico && cost_of(plan) > *config_.cost_pico) {
      return "it may cost " + std::to_string(cost_of(plan)) + " pico, above the threshold of " +
             std::to_string(*config_.cost_pico);
    }
    if (config_.steps && plan.steps.size() > *config_.steps) {
      return "it has " + std::to_string(plan.steps.size()) + " steps, above the threshold of " +
             std::to_string(*config_.steps);
    }
    for (const ProposedStep& step : plan.steps) {
      if (!config_.risk || step.risk < *config_.risk) continue;
      return "the tool " + step.tool + " is of risk " + std::string(pawl::name(step.risk)) +
             ", at or above the threshold " + std::string(pawl::name(*config_.risk));
    }
    return std::nullopt;
  }
  std::string_view name() const override { return "threshold"; }

 private:
  ThresholdConfig config_;
};

class Pattern final : public ApprovalPolicy {
 public:
  explicit Pattern(std::vector<CallPattern> patterns) : patterns_(std::move(patterns)) {}

  std::optional<std::string> approval_reason(const Plan& plan) const override {
    for (const ProposedStep& step : plan.steps) {
      const CallArguments arguments(step.input);
      for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (!applies(patterns_[i].match(step.tool, arguments), Verdict::ask)) continue;
        return "a call of " + step.tool + " matches pattern " + std::to_string(i + 1) + " (" +
               patterns_[i].spec().tool + ")";
      }
    }
    return std::nullopt;
  }
  std::string_view name() const override { return "pattern"; }

 private:
  std::vector<CallPattern> patterns_;
};

using PolicyPointer = std::shared_ptr<const ApprovalPolicy>;

class Composite final : public ApprovalPolicy {
 public:
  explicit Composite(std::vector<PolicyPointer> members) : members_(std::move(members)) {}

  std::optional<std::string> approval_reason(const Plan& plan) const override {
    for (const PolicyPointer& member : members_) {
      if (auto reason = member->approval_reason(plan)) {
        return std::string(member->name()) + ": " + *reason;
      }
    }
    return std::nullopt;
  }
  std::string_view name() const override { return "any"; }

 private:
  std::vector<PolicyPointer> members_;
};

Error too_large(const std::string& what, std::size_t count) {
  return {ErrorCode::limit_exceeded,
          "an approval policy has at most " + std::to_string(count) + " " + what};
}

class PolicyMaker {
 public:
  Result<PolicyPointer> make(const ApprovalPolicyConfig& config, std::size_t depth) const {
    if (depth > kPolicyDepthMax) return too_large("levels", kPolicyDepthMax);
    return std::visit([this, depth](const auto& one) { return build(one, depth); }, config.policy);
  }

 private:
  Result<PolicyPointer> build(const AlwaysApproveConfig&, std::size_t) const {
    return PolicyPointer(std::make_shared<AlwaysApprove>());
  }
  Result<PolicyPointer> build(const AlwaysRequireConfig&, std::size_t) const {
    return PolicyPointer(std::make_shared<AlwaysRequire>());
  }
  Result<PolicyPointer> build(const ThresholdConfig& config, std::size_t) const {
    return PolicyPointer(std::make_shared<Threshold>(config));
  }
  Result<PolicyPointer> build(const PatternConfig& config, std::size_t) const {
    if (config.patterns.size() > kPolicyPatternsMax)
      return too_large("patterns", kPolicyPatternsMax);
    std::vector<CallPattern> patterns;
    for (const CallPatternSpec& spec : config.patterns) {
      PAWL_TRY(auto pattern, CallPattern::compile(spec));
      patterns.push_back(std::move(pattern));
    }
    return PolicyPointer(std::make_shared<Pattern>(std::move(patterns)));
  }
  Result<PolicyPointer> build(const CompositeConfig& config, std::size_t depth) const {
    if (config.members.size() > kPolicyMembersMax) return too_large("members", kPolicyMembersMax);
    std::vector<PolicyPointer> members;
    for (const ApprovalPolicyConfig& member : config.members) {
      PAWL_TRY(auto made, make(member, depth + 1));
      members.push_back(std::move(made));
    }
    return PolicyPointer(std::make_shared<Composite>(std::move(members)));
  }
};

}  // namespace

std::string_view name(Risk risk) {
  return kRisks.at(static_cast<std::size_t>(risk));
}

std::optional<Risk> parse_risk(std::string_view word) {
  const auto* const found = std::find(kRisks.begin(), kRisks.end(), word);
  if (found == kRisks.end()) return std::nullopt;
  return static_cast<Risk>(found - kRisks.begin());
}

bool operator==(const CompositeConfig& a, const CompositeConfig& b) {
  return a.members == b.members;
}

Result<PolicyPointer> make_approval_policy(const ApprovalPolicyConfig& config) {
  return PolicyMaker().make(config, 1);
}

}  // namespace pawl
