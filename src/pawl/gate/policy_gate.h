// The permission pipeline: list of allowed tools, trust and permission bits, guardrail rules, shell
// rules, pre-tool-use hooks, approval policy. Deny beats ask beats allow, whichever stage says it;
// every verdict names its stage and rule.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/gate/approvals/approval_policy.h"
#include "pawl/gate/call_gate.h"
#include "pawl/gate/rules/rules.h"
#include "pawl/gate/rules/trust.h"
#include "pawl/gate/shell/shell_rules.h"

namespace pawl {

// What a host's hook says before a tool is used.
struct PreToolUseAnswer {
  Verdict verdict = Verdict::deny;
  std::string reason;
  InterruptKind kind = InterruptKind::approval;  // of an ask: `custom` is the host's own interrupt
};

// Asked for every call that nothing has denied. It answers once, on the loop thread, at once or
// later; one that throws, or does not answer in time, denies.
struct PreToolUseHook {
  std::string name;
  std::function<void(const ProposedPlan& call, std::function<void(PreToolUseAnswer)> answer)> ask;
  std::int64_t timeout_ms = 5'000;
};

// What the gate knows of one tool.
struct GatedTool {
  ToolTraits traits;  // without what a call touches
  Risk risk = Risk::low;
  Digest definition;
  enum class Asks : std::uint8_t { nobody, a_person } asks = Asks::nobody;  // ask_user
  std::uint64_t cost_pico = 0;                                              // of one call
  // What a call with these arguments touches: hosts and absolute paths. An error denies.
  std::function<Result<ToolTraits>(const std::string& input)> touches = {};
  // What the shell rules say of the command in these arguments; empty: it has none.
  std::function<Judgement(const std::string& input, const ShellPolicy& policy)> shell = {};
};

struct GatePolicy {
  std::string agent = {};                         // the name of the agent that calls
  std::optional<std::vector<std::string>> allow;  // patterns; absent: every tool; empty: none
  std::optional<Grants> grants;                   // absent: everything is granted
  std::vector<OuterLimits> outer = {};            // each of which must allow it, too
  // The stage `execute`: the agents that may call a tool; one that is not named may be called.
  std::map<std::string, std::vector<std::string>> execute = {};
  std::vector<ToolRule> rules;
  std::optional<ShellPolicy> shell;  // absent: commands are judged as other calls are
  ApprovalPolicyConfig approvals{AlwaysApproveConfig{}};
  std::uint64_t expires_ms = 0;  // an approval nobody gives in this time is denied; 0: it waits
  std::vector<PreToolUseHook> hooks;
  // A program that judges, for rules with a script. Looked up at every call.
  std::function<std::shared_ptr<Tool>(const std::string& script)> scripts;
  // Whether somebody has approved what this digest stands for, for always. Looked up whenever a
  // rule or the shell rules ask; what asks every time is not looked up.
  std::function<bool(const Digest& binding)> remembered = {};
  // The directory, the environment and the files that a call would run, as they are now.
  std::function<std::string(const ProposedCall& call)> circumstances;
};

// The rule that a remembered approval is journaled with.
inline constexpr std::string_view kRememberedRule = "remembered";

// invalid_argument: a rule or policy that is none.
Result<std::shared_ptr<CallGate>> make_policy_gate(GatePolicy policy,
                                                   std::map<std::string, GatedTool> tools,
                                                   Loop& loop);

}  // namespace pawl
