// Approval policies as documents, and back.
#include <algorithm>
#include <array>
#include <limits>

#include "pawl/gate/approvals/approval_policy.h"
#include "pawl/gate/rules/node_of_json.h"

namespace pawl {
namespace {

constexpr std::size_t kPicoDecimals = 12;
constexpr std::uint64_t kPicoPerUnit = 1'000'000'000'000;
constexpr std::size_t kUnitDigitsMax = 7;
constexpr std::int64_t kStepsMax = 1'000'000;
constexpr const char* kRemedy =
    "write always_approve, always_require, {threshold: {cost, steps, risk}}, {pattern: [...]} or "
    "{any: [...]}";

// "0.50" is 500,000,000,000 pico.
std::optional<std::uint64_t> parse_cost(std::string_view text) {
  const std::size_t dot = text.find('.');
  const std::string_view units = text.substr(0, dot);
  const std::string_view decimals = dot == std::string_view::npos ? "0" : text.substr(dot + 1);
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!digits(units) || !digits(decimals)) return std::nullopt;
  if (units.size() > kUnitDigitsMax || decimals.size() > kPicoDecimals) return std::nullopt;
  std::uint64_t pico = 0;
  for (const char c : units) pico = pico * 10 + static_cast<std::uint64_t>(c - '0');
  for (std::size_t i = 0; i < kPicoDecimals; ++i) {
    pico = pico * 10 + (i < decimals.size() ? static_cast<std::uint64_t>(decimals[i] - '0') : 0);
  }
  return pico;
}

std::string cost_text(std::uint64_t pico) {
  std::string decimals = std::to_string(pico % kPicoPerUnit);
  decimals.insert(0, kPicoDecimals - decimals.size(), '0');
  decimals.erase(std::max<std::size_t>(decimals.find_last_not_of('0') + 1, 1));
  return std::to_string(pico / kPicoPerUnit) + "." + decimals;
}

class PolicyReader {
 public:
  explicit PolicyReader(std::vector<Fault>& faults) : faults_(faults) {}

  std::optional<ApprovalPolicyConfig> read(const Node& node, const std::string& where,
                                           std::size_t depth) {
    const std::size_t before = faults_.size();
    ApprovalPolicyConfig config;
    if (depth > kPolicyDepthMax) {
      fault(node, where,
            "policies are nested at most " + std::to_string(kPolicyDepthMax) + " deep");
    } else if (const auto word = node.as_string()) {
      read_word(node, *word, where, config);
    } else if (node.members().size() == 1) {
      read_member(node.members().front(), where, depth, config);
    } else {
      fault(node, where, "must be one policy, found " + describe_kind(node));
    }
    if (faults_.size() > before || before >= kFaultsMax) return std::nullopt;
    return config;
  }

 private:
  void fault(const Node& node, const std::string& where, const std::string& what) {
    add_fault(faults_, {node.mark(), where + ": " + what, kRemedy});
  }

  void read_word(const Node& node, std::string_view word, const std::string& where,
                 ApprovalPolicyConfig& config) {
    if (word == "always_approve") {
      config.policy = AlwaysApproveConfig{};
    } else if (word == "always_require") {
      config.policy = AlwaysRequireConfig{};
    } else {
      fault(node, where, "there is no policy " + quoted(word));
    }
  }

  void read_member(const Member& member, const std::string& where, std::size_t depth,
                   ApprovalPolicyConfig& config) {
    const std::string inner = where + "." + member.key;
    if (member.key == "threshold") {
      config.policy = read_threshold(member.value, inner);
    } else if (member.key == "pattern") {
      config.policy = read_patterns(member.value, inner);
    } else if (member.key == "any") {
      config.policy = read_members(member.value, inner, depth);
    } else {
      fault(member.value, where, "there is no policy " + quoted(member.key));
    }
  }

  ThresholdConfig read_threshold(const Node& node, const std::string& where) {
    ThresholdConfig config;
    MapReader reader(node, faults_, where);
    if (const Node* cost = reader.take("cost")) {
      config.cost_pico = parse_cost(cost->text());
      if (!config.cost_pico) {
        reader.fault(cost->mark(), "\"cost\" must be an amount, found " + describe_kind(*cost),
                     "write it as 0.50, with at most 12 decimals");
      }
    }
    std::uint64_t steps = 0;
    if (reader.take_int("steps", {0, kStepsMax}, steps)) config.steps = steps;
    constexpr std::array<std::string_view, 4> kRisks = {"low", "medium", "high", "critical"};
    if (const auto risk = reader.take_choice("risk", kRisks)) {
      config.risk = static_cast<Risk>(*risk);
    }
    if (node.kind() == Node::Kind::map && node.members().empty()) {
      reader.fault(node.mark(), "a threshold needs cost, steps or risk", "name one");
    }
    reader.finish();
    return config;
  }

  PatternConfig read_patterns(const Node& node, const std::string& where) {
    PatternConfig config;
    if (node.items().empty() || node.items().size() > kPolicyPatternsMax) {
      fault(node, where, "must be a list of 1 to " + std::to_string(kPolicyPatternsMax));
      return config;
    }
    for (std::size_t i = 0; i < node.items().size(); ++i) {
      const Node& item = node.items()[i];
      const std::string inner = where + "[" + std::to_string(i) + "]";
      CallPatternSpec spec;
      if (const auto tool = item.as_string()) {
        spec.tool = *tool;
      } else {
        MapReader reader(item, faults_, inner);
        reader.require_string("tool", spec.tool);
        if (const Node* arguments = reader.take("arguments")) {
          spec.arguments = read_conditions(*arguments, faults_, inner + ".arguments");
        }
        reader.finish();
      }
      if (const auto compiled = CallPattern::compile(spec); !compiled) {
        fault(item, inner, compiled.error().message);
      }
      config.patterns.push_back(std::move(spec));
    }
    return config;
  }

  CompositeConfig read_members(const Node& node, const std::string& where, std::size_t depth) {
    CompositeConfig config;
    if (node.items().empty() || node.items().size() > kPolicyMembersMax) {
      fault(node, where, "must be a list of 1 to " + std::to_string(kPolicyMembersMax));
      return config;
    }
    for (std::size_t i = 0; i < node.items().size(); ++i) {
      auto member = read(node.items()[i], where + "[" + std::to_string(i) + "]", depth + 1);
      if (member) config.members.push_back(std::move(*member));
    }
    return config;
  }

  std::vector<Fault>& faults_;
};

class PolicyWriter {
 public:
  explicit PolicyWriter(JsonWriter& out) : out_(out) {}

  void operator()(const AlwaysApproveConfig&) const { out_.string("always_approve"); }
  void operator()(const AlwaysRequireConfig&) const { out_.string("always_require"); }
  void operator()(const ThresholdConfig& config) const {
    out_.begin_object().key("threshold").begin_object();
    if (config.cost_pico) out_.field("cost", cost_text(*config.cost_pico));
    if (config.steps) out_.field("steps", *config.steps);
    if (config.risk) out_.field("risk", name(*config.risk));
    out_.end_object().end_object();
  }
  void operator()(const PatternConfig& config) const {
    out_.begin_object().key("pattern").begin_array();
    for (const CallPatternSpec& spec : config.patterns) {
      out_.begin_object().field("tool", spec.tool).key("arguments");
      write_conditions(out_, spec.arguments);
      out_.end_object();
    }
    out_.end_array().end_object();
  }
  void operator()(const CompositeConfig& config) const {
    out_.begin_object().key("any").begin_array();
    for (const ApprovalPolicyConfig& member : config.members) std::visit(*this, member.policy);
    out_.end_array().end_object();
  }

 private:
  JsonWriter& out_;
};

}  // namespace

std::optional<ApprovalPolicyConfig> read_approval_policy(const Node& node,
                                                         std::vector<Fault>& faults,
                                                         const std::string& where) {
  return PolicyReader(faults).read(node, where, 1);
}

Result<ApprovalPolicyConfig> approval_policy_from_json(std::string_view json) {
  PAWL_TRY(const Json value, parse_json(json));
  std::vector<Fault> faults;
  auto config = read_approval_policy(node_of_json(value), faults, "policy");
  if (!config) return Error{ErrorCode::invalid_argument, to_string(faults, "approval policy")};
  return std::move(*config);
}

std::string approval_policy_to_json(const ApprovalPolicyConfig& config) {
  JsonWriter out;
  std::visit(PolicyWriter(out), config.policy);
  return out.take();
}

}  // namespace pawl
