// Rules as documents, and how lists of them are merged.
#include <algorithm>
#include <array>

#include "pawl/gate/rules/rules.h"

namespace pawl {
namespace {

bool is_rule_id(std::string_view id) {
  return !id.empty() && id.size() <= kRuleIdBytesMax &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

std::optional<std::string> take_text(MapReader& reader, std::string_view key) {
  std::string text;
  if (!reader.take_string(key, text)) return std::nullopt;
  return text;
}

std::optional<bool> take_flag(MapReader& reader, std::string_view key) {
  bool flag = false;
  if (!reader.take_bool(key, flag)) return std::nullopt;
  return flag;
}

RuleOverride read_rule(const Node& node, std::vector<Fault>& faults, const std::string& where) {
  RuleOverride rule;
  rule.mark = node.mark();
  MapReader reader(node, faults, where);
  if (reader.require_string("id", rule.id) && !is_rule_id(rule.id)) {
    reader.fault(node.mark(), quoted(rule.id) + " is not an id",
                 "letters, digits, '-', '_' and '.', at most " + std::to_string(kRuleIdBytesMax));
  }
  rule.tool = take_text(reader, "tool");
  if (const Node* arguments = reader.take("arguments")) {
    rule.arguments = read_conditions(*arguments, faults, where + ".arguments");
  }
  std::vector<std::string> phases;
  if (reader.take_string_list("during", phases)) rule.during = phases;
  if (phases.size() > kRulePhasesMax) {
    reader.fault(node.mark(), "\"during\" names at most " + std::to_string(kRulePhasesMax));
  }
  constexpr std::array<std::string_view, 3> kVerdicts = {"allow", "ask", "deny"};
  if (const auto verdict = reader.take_choice("verdict", kVerdicts)) {
    rule.verdict = static_cast<Verdict>(*verdict);
  }
  rule.reason = take_text(reader, "reason");
  if (rule.reason && rule.reason->size() > kRuleReasonBytesMax) {
    reader.fault(node.mark(),
                 "\"reason\" has at most " + std::to_string(kRuleReasonBytesMax) + " bytes");
  }
  rule.script = take_text(reader, "script");
  rule.enabled = take_flag(reader, "enabled");
  reader.finish();
  return rule;
}

void apply(const RuleOverride& change, ToolRule& rule) {
  if (change.tool) rule.pattern.tool = *change.tool;
  if (change.arguments) rule.pattern.arguments = *change.arguments;
  if (change.during) rule.during = *change.during;
  if (change.verdict) rule.verdict = *change.verdict;
  if (change.reason) rule.reason = *change.reason;
  if (change.script) rule.script = *change.script;
  if (change.enabled) rule.enabled = *change.enabled;
}

// What a change would weaken, or empty. Another pattern, other phases or a script may all speak of
// fewer calls than before, and which it is cannot be told from the text: none of them passes.
std::string weakened_field(const RuleOverride& change, const ToolRule& rule) {
  if (change.enabled && !*change.enabled && rule.enabled) return "enabled";
  if (change.verdict && *change.verdict < rule.verdict) return "verdict";
  if (change.tool && *change.tool != rule.pattern.tool) return "tool";
  if (change.arguments && *change.arguments != rule.pattern.arguments) return "arguments";
  if (change.during && *change.during != rule.during) return "during";
  if (change.script && *change.script != rule.script) return "script";
  // An allowing rule that is switched on allows more than before.
  if (change.enabled && *change.enabled && !rule.enabled && rule.verdict == Verdict::allow) {
    return change.verdict && *change.verdict > Verdict::allow ? "" : "enabled";
  }
  return "";
}

struct Merging {
  std::vector<ToolRule>& rules;
  RuleSource source;
  std::vector<Fault>& faults;

  void fault(const RuleOverride& change, const std::string& what, std::string remedy) const {
    add_fault(faults, {change.mark, "rule " + quoted(change.id) + ": " + what, std::move(remedy)});
  }

  void change(const RuleOverride& change, ToolRule& rule) const {
    const bool guarded =
        source == RuleSource::project || rule.protection == Protection::is_protected;
    const std::string weakened = guarded ? weakened_field(change, rule) : "";
    if (weakened.empty()) return apply(change, rule);
    if (rule.protection == Protection::is_protected) {
      return fault(change, quoted(weakened) + " of a protected rule cannot be changed",
                   "only a stricter verdict or another reason is possible");
    }
    fault(change, "a project's file can only tighten, and " + quoted(weakened) + " may loosen it",
          "add a rule with an id of its own that asks or denies, or change the user's file");
  }

  void add(const RuleOverride& change) const {
    ToolRule rule;
    rule.id = change.id;
    apply(change, rule);
    if (!change.tool) {
      return fault(change, "a new rule needs a tool", "add tool: \"*\", or correct the id");
    }
    const bool by_script = !rule.script.empty();
    if (source == RuleSource::project && rule.verdict == Verdict::allow && !by_script) {
      return fault(change, "a project's file can only tighten, and this rule allows",
                   "write ask or deny, or put it into the user's file");
    }
    if (const auto compiled = CallPattern::compile(rule.pattern); !compiled) {
      return fault(change, compiled.error().message, "correct the pattern");
    }
    rules.push_back(std::move(rule));
  }
};

void refuse_twice(std::span<const RuleOverride> overrides, std::vector<Fault>& faults) {
  std::vector<std::string_view> seen;
  for (const RuleOverride& rule : overrides) {
    if (std::find(seen.begin(), seen.end(), rule.id) != seen.end()) {
      add_fault(faults,
                {rule.mark, "rule " + quoted(rule.id) + " is written twice", "keep one of them"});
    }
    seen.push_back(rule.id);
  }
}

}  // namespace

std::vector<RuleOverride> read_rules(const Node& node, std::vector<Fault>& faults,
                                     const std::string& where) {
  std::vector<RuleOverride> rules;
  if (node.kind() != Node::Kind::list || node.items().size() > kToolRulesMax) {
    add_fault(faults, {node.mark(),
                       where + ": must be a list of at most " + std::to_string(kToolRulesMax) +
                           " rules, found " + describe_kind(node),
                       "write - id: ..."});
    return rules;
  }
  for (std::size_t i = 0; i < node.items().size(); ++i) {
    rules.push_back(read_rule(node.items()[i], faults, where + "[" + std::to_string(i) + "]"));
  }
  refuse_twice(rules, faults);
  return rules;
}

std::vector<ToolRule> merge_rules(std::vector<ToolRule> rules,
                                  std::span<const RuleOverride> overrides, RuleSource source,
                                  std::vector<Fault>& faults) {
  const Merging merging{rules, source, faults};
  for (const RuleOverride& change : overrides) {
    const auto is_it = [&change](const ToolRule& rule) { return rule.id == change.id; };
    const auto found = std::find_if(rules.begin(), rules.end(), is_it);
    if (found != rules.end()) {
      merging.change(change, *found);
    } else {
      merging.add(change);
    }
  }
  return rules;
}

}  // namespace pawl
