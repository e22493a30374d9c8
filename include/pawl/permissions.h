// What may run, and who is asked: a policy for the calls of an agent as plain values, and the
// calls that wait for a person. Reading policies and judging calls by them are the gate's own
// business.
//
// A call passes these stages in this order: list of allowed tools, trust and permission bits,
// guardrail rules, shell rules, pre-tool-use hooks, approval policy. Deny beats ask beats allow,
// whichever stage says it; every verdict names its stage and rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/limits.h"
#include "pawl/loop.h"
#include "pawl/result.h"
#include "pawl/tool.h"

namespace pawl {

class CallGate;

// In the order of strictness: comparisons rely on it.
enum class Verdict : std::uint8_t { allow, ask, deny };

// Whether an answer that was given once may stand for later calls that are the same.
enum class Asking : std::uint8_t { may_be_remembered, every_time };

struct Judgement {
  Verdict verdict = Verdict::allow;
  std::string rule = {};    // who decided: "allow-list", "trust", the id of a rule
  std::string reason = {};  // for the person and for the model: what to do instead
  Asking asking = Asking::may_be_remembered;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

// --- Rules

inline constexpr std::size_t kConditionsMax = 32;        // of one pattern
inline constexpr std::size_t kConditionValuesMax = 64;   // of one condition
inline constexpr std::size_t kConditionBytesMax = 1024;  // of one value

enum class ConditionKind : std::uint8_t {
  glob,     // the argument matches one of the patterns
  regex,    // RE2
  beneath,  // a path at or below one of the places
  host,     // a URL whose host is in the list
  scheme,   // a URL whose scheme is in the list
  runs,     // shell text, or a list of words, in which one of the commands occurs anywhere
};

enum class Sense : std::uint8_t { is, is_not };

struct ArgumentCondition {
  std::string argument;  // a member's name, a JSON pointer ("/files/0"), or "*": all arguments
  ConditionKind kind = ConditionKind::glob;
  Sense sense = Sense::is;
  std::vector<std::string> values = {};  // one is enough

  friend bool operator==(const ArgumentCondition&, const ArgumentCondition&) = default;
};

struct CallPatternSpec {
  std::string tool = "*";                         // glob
  std::vector<ArgumentCondition> arguments = {};  // all must hold

  friend bool operator==(const CallPatternSpec&, const CallPatternSpec&) = default;
};

inline constexpr std::size_t kToolRulesMax = 512;
inline constexpr std::size_t kRuleIdBytesMax = 128;
inline constexpr std::size_t kRuleReasonBytesMax = 1024;
inline constexpr std::size_t kRulePhasesMax = 64;

enum class Protection : std::uint8_t { none, is_protected };  // a protected rule stays switched on

struct ToolRule {
  std::string id;
  CallPatternSpec pattern = {};
  std::vector<std::string> during = {};  // phases of a workflow; none named is all
  Verdict verdict = Verdict::ask;
  std::string reason = {};
  std::string script = {};  // when not empty, this program decides for the calls that match
  bool enabled = true;
  Protection protection = Protection::none;

  friend bool operator==(const ToolRule&, const ToolRule&) = default;
};

// What Pawl ships; docs/permissions.md has the table.
std::vector<ToolRule> default_rules();

// --- Trust

// In this order: comparisons rely on it.
enum class TrustLevel : std::uint8_t { untrusted, low, medium, high, system };
std::string_view name(TrustLevel level);
std::optional<TrustLevel> parse_trust_level(std::string_view word);

enum class Permission : std::uint8_t { network, fs_read, fs_write, env, subprocess, pii };
inline constexpr std::size_t kPermissionCount = 6;
std::string_view name(Permission permission);
std::optional<Permission> parse_permission(std::string_view word);

class PermissionBits {
 public:
  constexpr PermissionBits() = default;
  constexpr PermissionBits(std::initializer_list<Permission> set) {  // NOLINT: {network, env}
    for (const Permission permission : set) add(permission);
  }
  static constexpr PermissionBits all() {
    PermissionBits bits;
    bits.bits_ = (1U << kPermissionCount) - 1;
    return bits;
  }
  constexpr void add(Permission permission) { bits_ |= mask(permission); }
  constexpr void remove(Permission permission) { bits_ &= ~mask(permission); }
  constexpr bool has(Permission permission) const { return (bits_ & mask(permission)) != 0; }
  // What stands here and not there.
  std::vector<Permission> without(PermissionBits granted) const;
  friend bool operator==(PermissionBits, PermissionBits) = default;

 private:
  static constexpr std::uint32_t mask(Permission permission) {
    return 1U << static_cast<std::uint32_t>(permission);
  }
  std::uint32_t bits_ = 0;
};

// What a tool is and needs, with the hosts and paths of the call at hand where they are known.
struct ToolTraits {
  std::string name;
  TrustLevel trust = TrustLevel::medium;
  PermissionBits needs = {};
  std::vector<std::string> domains = {};  // hosts that it will speak to
  std::vector<std::string> paths = {};    // files that it will touch; absolute
};

// What the charter and its owner give. No list of domains or paths is every one; an empty list is
// none.
struct Grants {
  PermissionBits bits = {};
  TrustLevel trust_min = TrustLevel::untrusted;  // tools below are denied
  std::optional<std::vector<std::string>> allowed_domains = std::nullopt;
  std::optional<std::vector<std::string>> allowed_paths = std::nullopt;
};

// What somebody further out gives at most, such as the user to every charter.
struct OuterLimits {
  std::optional<std::vector<std::string>> allow = std::nullopt;  // patterns of tools
  std::optional<Grants> grants = std::nullopt;
};

// --- Commands of a shell

enum class ShellGrammar : std::uint8_t {
  single,  // one simple command
  lists,   // also pipelines and lists, when every command of them is allowed
};

inline constexpr std::size_t kShellPatternsMax = 256;  // of one list

struct ShellPolicy {
  // Names of the table of readers ("ls", "git status"), "*" for all of it, or whole commands
  // ("make test"), which must be met word by word.
  std::vector<std::string> allow = {"*"};
  std::vector<std::string> ask = {};   // see command_matches()
  std::vector<std::string> deny = {};  // likewise
  ShellGrammar grammar = ShellGrammar::single;

  friend bool operator==(const ShellPolicy&, const ShellPolicy&) = default;
};

// --- Plans and approval policies

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

// An error when a pattern is not one, or a maximum above is exceeded.
Result<std::shared_ptr<const ApprovalPolicy>> make_approval_policy(
    const ApprovalPolicyConfig& config);

// --- The gate

struct ProposedCall {
  std::string tool;
  std::string input;  // the exact bytes of the arguments
  // Which definition of that name is meant, by definition_key(); empty: the charter's own.
  std::string definition = {};

  const std::string& key() const { return definition.empty() ? tool : definition; }
};

// The calls of one reply, in order. A single call is a plan of one.
struct ProposedPlan {
  RunId run;
  InstanceId instance = kRootInstance;
  std::vector<ProposedCall> calls;
  Tally tally;
  std::string node;
  // ask(): all calls of the reply that the only one in `calls` is of. Empty: it stands alone.
  std::vector<ProposedCall> reply = {};
};

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

// A hook that answers at once. One that throws denies.
PreToolUseHook pre_tool_use(std::string name,
                            std::function<PreToolUseAnswer(const ProposedCall& call)> judge);

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

// --- Calls that wait for a person, and what the person decides.

// A call that waits for a person, with the exact bytes of its arguments.
struct PendingApproval {
  RunId run;
  InstanceId instance = kRootInstance;
  CallId call{};
  InterruptKind kind = InterruptKind::approval;
  std::string tool;
  std::string input;    // what an approval is for, byte for byte
  std::string prose;    // what the model wrote beside it: its word, and nobody else's
  std::string reason;   // why a person is asked
  std::string project;  // the directory of the run's charter
  std::string rule;
  GateStage stage = GateStage::none;
  Digest binding;
  std::int64_t asked_at_ms = 0;
  std::int64_t expires_at_ms = 0;  // 0: never
  std::string to_sign;             // the text of which an approver's signature approves it
  RunId parent = {};               // that started the run; empty: none did
  std::string agent = {};          // as which it did
};

// What somebody decided, about what they were shown.
struct Decided {
  InterruptDecision decision = InterruptDecision::reject;
  std::string by;
  std::string text = {};                             // reject: why; input: the answer
  std::optional<Digest> shown = std::nullopt;        // the binding of what they saw; absent: of now
  std::optional<std::string> edited = std::nullopt;  // approve: other arguments, JSON
  std::uint64_t answer = 0;                          // see CallDecided
  std::string signature = {};                        // base64; see approval_message()
  std::string signed_by = {};                        // whose it is, as the caller has verified it
};
inline constexpr std::size_t kDecisionBytesMax = 512U << 10U;

// A call waits for somebody.
struct PermissionRequest {
  static constexpr std::string_view kName = "permission_request";
  PendingApproval call;
};
// It waits no more.
struct PermissionResolved {
  static constexpr std::string_view kName = "permission_resolved";
  RunId run;
  CallId call{};
  InterruptDecision decision = InterruptDecision::reject;
  std::string by;
  std::string text;  // why, or the answer
};
using PermissionEvent = std::variant<PermissionRequest, PermissionResolved>;

// Who says no when nobody answers.
inline constexpr std::string_view kByTimeout = "timeout";
inline constexpr std::int64_t kPermissionTimeoutDefaultMs = 60'000;
// A call that still waits after so many answers, because none of them fitted, is left waiting.
inline constexpr std::uint32_t kPermissionAsksMax = 3;

struct PermissionPort {
  // Asked for each call that waits. It answers once, on the loop thread, at once or later; what
  // comes after the first answer, or too late, is not heard. Absent: the run waits.
  std::function<void(const PermissionRequest& request, std::function<void(Decided)> answer)> ask;
  std::function<void(const PermissionEvent& event)> events = {};
  std::int64_t timeout_ms = kPermissionTimeoutDefaultMs;  // then it is denied, by kByTimeout
};

}  // namespace pawl
