// Guardrail rules: which calls are allowed, asked about or denied, apart from the list of allowed
// tools. Shipped rules, those of the user and those of a project are merged by id; what a project
// writes can only tighten. Of all rules that match a call the strictest decides, in whatever order
// they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/gate/rules/call_pattern.h"
#include "pawl/gate/rules/verdict.h"
#include "pawl/permissions.h"

namespace pawl {

// A rule as somebody wrote it: what is not there stays as it was, or has its default when the id is
// new.
struct RuleOverride {
  std::string id;
  Mark mark = {};
  std::optional<std::string> tool = std::nullopt;
  std::optional<std::vector<ArgumentCondition>> arguments = std::nullopt;
  std::optional<std::vector<std::string>> during = std::nullopt;
  std::optional<Verdict> verdict = std::nullopt;
  std::optional<std::string> reason = std::nullopt;
  std::optional<std::string> script = std::nullopt;
  std::optional<bool> enabled = std::nullopt;
};

// A list of rules:
//   - id: no-force-push
//     tool: bash
//     arguments: {command: {runs: ["git push --force"]}}
//     during: [review]
//     verdict: deny            # allow, ask, deny
//     reason: Rebase and push normally.
//     script: ./check.sh       # decides for the calls that match
//     enabled: true
std::vector<RuleOverride> read_rules(const Node& node, std::vector<Fault>& faults,
                                     const std::string& where);

// The user may change any field of any rule, except that a protected one cannot be switched off,
// weakened or narrowed. A project may add rules that ask or deny, and make existing ones stricter.
enum class RuleSource : std::uint8_t { user, project };

// What is not permitted is a fault and is not done; the rest is. A caller with faults refuses the
// configuration.
std::vector<ToolRule> merge_rules(std::vector<ToolRule> rules,
                                  std::span<const RuleOverride> overrides, RuleSource source,
                                  std::vector<Fault>& faults);

struct RuleCall {
  std::string_view tool;
  std::string_view input;  // JSON text
  std::string_view phase = {};
};

struct PendingScript {
  std::string rule;
  std::string script;
  std::string reason;
};

// What the rules say. `judgement` is empty when none spoke. Scripts decide only when nothing has
// denied already: run each, take the stricter of what they and the judgement say; one that fails,
// is late or says nothing sensible denies.
struct RuleOutcome {
  std::optional<Judgement> judgement = std::nullopt;
  std::vector<PendingScript> needs_script = {};
};

// Whether the program of a rule is there. Asked at every call: a script may vanish.
using ScriptLookup = std::function<bool(const std::string& script)>;

class RuleSet {
 public:
  // An error names the rule whose pattern is none.
  static Result<RuleSet> compile(std::vector<ToolRule> rules);
  RuleSet(RuleSet&&) noexcept = default;
  RuleSet& operator=(RuleSet&&) noexcept = default;

  RuleOutcome judge(const RuleCall& call, const ScriptLookup& script_exists) const;
  const std::vector<ToolRule>& rules() const { return rules_; }

 private:
  RuleSet() = default;
  std::vector<ToolRule> rules_;
  std::vector<CallPattern> patterns_;  // one for each rule
};

}  // namespace pawl
