#include "pawl/gate/policy_text.h"

#include "pawl/gate/approvals/approval_policy.h"
#include "pawl/json.h"

namespace pawl {
namespace {

void write_list(JsonWriter& out, std::string_view key,
                const std::optional<std::vector<std::string>>& list) {
  out.key(key);
  if (!list) return static_cast<void>(out.null());
  out.begin_array();
  for (const std::string& one : *list) out.string(one);
  out.end_array();
}

void write_grants(JsonWriter& out, const std::optional<Grants>& grants) {
  out.key("grants");
  if (!grants) return static_cast<void>(out.null());
  out.begin_object();
  out.field("trust", name(grants->trust_min));
  out.key("bits").begin_array();
  for (std::size_t i = 0; i < kPermissionCount; ++i) {
    const auto permission = static_cast<Permission>(i);
    if (grants->bits.has(permission)) out.string(name(permission));
  }
  out.end_array();
  write_list(out, "domains", grants->allowed_domains);
  write_list(out, "paths", grants->allowed_paths);
  out.end_object();
}

void write_rule(JsonWriter& out, const ToolRule& rule) {
  out.begin_object();
  out.field("id", rule.id).field("tool", rule.pattern.tool).field("verdict", name(rule.verdict));
  out.field("script", rule.script).field("enabled", rule.enabled).field("reason", rule.reason);
  out.key("arguments");
  write_conditions(out, rule.pattern.arguments);
  out.key("during").begin_array();
  for (const std::string& phase : rule.during) out.string(phase);
  out.end_array();
  out.end_object();
}

}  // namespace

Digest policy_digest(const GatePolicy& policy, const RuleSet& rules) {
  JsonWriter out;
  out.begin_object();
  write_list(out, "allow", policy.allow);
  write_grants(out, policy.grants);
  out.key("outer").begin_array();
  for (const OuterLimits& limits : policy.outer) {
    out.begin_object();
    write_list(out, "allow", limits.allow);
    write_grants(out, limits.grants);
    out.end_object();
  }
  out.end_array();
  out.field("agent", policy.agent);
  out.key("execute").begin_object();
  for (const auto& [tool, names] : policy.execute) write_list(out, tool, names);
  out.end_object();
  out.key("rules").begin_array();
  for (const ToolRule& rule : rules.rules()) write_rule(out, rule);
  out.end_array();
  out.field("approvals", approval_policy_to_json(policy.approvals));
  out.field("expires_ms", policy.expires_ms);
  if (policy.shell) {
    write_list(out, "shell_allow", policy.shell->allow);
    write_list(out, "shell_ask", policy.shell->ask);
    write_list(out, "shell_deny", policy.shell->deny);
    out.field("shell_lists", policy.shell->grammar == ShellGrammar::lists);
  }
  out.key("hooks").begin_array();
  for (const PreToolUseHook& hook : policy.hooks) out.string(hook.name);
  out.end_array();
  out.end_object();
  return sha256(out.take());
}

}  // namespace pawl
