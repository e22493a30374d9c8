#include "pawl/gate/policy_user.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "pawl/base/ed25519.h"
#include "pawl/gate/approvals/approval_signature.h"
#include "pawl/gate/mcp_patterns.h"
#include "pawl/gate/rules/node_of_json.h"
#include "pawl/json.h"

namespace pawl {
namespace {

void read_requirements(const Member& member, std::vector<Fault>& faults, const std::string& where,
                       UserPolicy& policy) {
  static constexpr std::array<std::string_view, 2> kAuthors = {"anyone", "administrator"};
  ToolRequirements requirements;
  MapReader reader(member.value, faults, where + "." + member.key);
  if (const auto author = reader.take_choice("author", kAuthors)) {
    requirements.author_admin_only = *author == 1;
  }
  std::vector<std::string> names;
  if (reader.take_string_list("execute", names)) requirements.execute_names = std::move(names);
  reader.finish();
  policy.tools[member.key] = std::move(requirements);
}

void read_stages(MapReader& reader, std::vector<Fault>& faults, const std::string& where,
                 UserPolicy& policy) {
  if (const Node* tools = reader.take_map("tools")) {
    if (tools->members().size() > kPolicyToolsMax) {
      return reader.fault(tools->mark(),
                          "\"tools\" may name " + std::to_string(kPolicyToolsMax) + " tools");
    }
    for (const Member& member : tools->members()) {
      read_requirements(member, faults, where + ".tools", policy);
    }
  }
  const Node* named = reader.take("administrators");
  if (!reader.take_string_list("administrators", policy.administrators)) return;
  if (policy.administrators.size() <= kAdministratorsMax) return;
  reader.fault(named->mark(),
               "\"administrators\" may name " + std::to_string(kAdministratorsMax) + " users");
}

void add_signer(MapReader& people, const Member& member, std::vector<Signer>& signers) {
  Signer signer{member.key, {}};
  if (!people.take_strings(member.key, kSignerKeysMax, signer.keys)) return;
  for (const std::string& key : signer.keys) {
    if (const auto parsed = parse_public_key(key); !parsed) {
      people.fault(member.value.mark(),
                   pawl::quoted(key) + " is not a key: " + parsed.error().message,
                   "let " + member.key + " run: pawl identity show");
    }
    for (const Signer& other : signers) {
      if (std::find(other.keys.begin(), other.keys.end(), key) == other.keys.end()) continue;
      people.fault(member.value.mark(), "the key is " + other.name + "'s already",
                   "list all keys of a person under one name");
    }
  }
  if (!signer.keys.empty()) signers.push_back(std::move(signer));
}

void read_approvers(MapReader& reader, std::vector<Fault>& faults, const std::string& where,
                    CharterPermissions& limits) {
  const Node* const node = reader.take_map("approvers");
  if (node != nullptr && node->members().size() > kSignersMax) {
    return reader.fault(node->mark(),
                        "\"approvers\" may name " + std::to_string(kSignersMax) + " people");
  }
  if (node != nullptr) {
    MapReader people(*node, faults, where + ".approvers");
    for (const Member& member : node->members()) add_signer(people, member, limits.signers);
  }
  if (!limits.signers.empty() && limits.approvers == Approvers::anyone) {
    limits.approvers = Approvers::listed;
  }
}

// With one person nobody could approve what that person starts.
void check_four_eyes(MapReader& reader, const Node& node, const CharterPermissions& limits) {
  const std::string objection = four_eyes_objection(limits);
  const Node* const approvals = node.find("approvals");
  if (objection.empty() || approvals == nullptr) return;
  const Node* const named = approvals->find("four_eyes");
  reader.fault((named == nullptr ? approvals : named)->mark(), objection,
               std::string(kFourEyesRemedy));
}

constexpr std::string_view kAcceptedSuffix = ".accepted";

bool is_same(const UserPolicy& one, const UserPolicy& other) {
  return one.source == other.source && one.file == other.file;
}

Result<UserPolicy> policy_of(const PolicyText& text) {
  const Error fault{ErrorCode::invalid_argument,
                    "the policy that the run was accepted within is damaged"};
  const auto document = parse_json(text.source);
  if (!document) return fault;
  std::vector<Fault> faults;
  UserPolicy policy = read_user_policy(node_of_json(*document), faults, text.file, "policy");
  if (!faults.empty()) return fault;
  place_scripts(policy, text.file);
  return policy;
}

// A second pattern list, bits and paths cannot be written as one: both are asked.
void add_outer(const CharterPermissions& outer, CharterPermissions& inner) {
  inner.outer.push_back({outer.allow, outer.grants});
  inner.listed.insert(inner.listed.end(), outer.listed.begin(), outer.listed.end());
  if (outer.shell) inner.shell = inner.shell ? tightened(*outer.shell, *inner.shell) : outer.shell;
  if (outer.approvals && inner.approvals) {
    inner.approvals = ApprovalPolicyConfig{CompositeConfig{{*outer.approvals, *inner.approvals}}};
  } else if (outer.approvals) {
    inner.approvals = outer.approvals;
  }
  if (outer.expires_ms != 0) {
    inner.expires_ms =
        inner.expires_ms == 0 ? outer.expires_ms : std::min(outer.expires_ms, inner.expires_ms);
  }
  if (outer.approvers == Approvers::others || inner.approvers == Approvers::anyone) {
    inner.approvers = outer.approvers;
  }
  if (!outer.signers.empty()) {
    inner.signers =
        inner.signers.empty() ? outer.signers : common_signers(outer.signers, inner.signers);
  }
}

}  // namespace

UserPolicy read_user_policy(const Node& node, std::vector<Fault>& faults, const std::string& file,
                            const std::string& where) {
  UserPolicy policy;
  policy.file = file;
  policy.source = to_json(node);
  CharterPermissions& limits = policy.limits;
  MapReader reader(node, faults, where);
  if (node.kind() != Node::Kind::map) return policy;
  std::vector<std::string> allow;
  if (reader.take_string_list("allow", allow)) limits.allow = std::move(allow);
  if (limits.allow) refuse_mcp_patterns(reader, *node.find("allow"));
  read_tool_patterns(reader, "policy", "ask", limits);
  read_tool_patterns(reader, "policy", "deny", limits);
  if (const Node* rules = reader.take("guardrails")) {
    limits.guardrails = read_rules(*rules, faults, where + ".guardrails");
  }
  if (const Node* given = reader.take("permissions")) read_permissions(*given, faults, limits);
  if (const Node* shell = reader.take("shell")) {
    limits.shell = read_shell_policy(*shell, faults, where + ".shell");
  }
  if (const Node* approvals = reader.take("approvals")) read_approvals(*approvals, faults, limits);
  if (const Node* sandbox = reader.take("sandbox")) {
    policy.sandbox = read_sandbox_demand(*sandbox, faults, where + ".sandbox");
  }
  read_approvers(reader, faults, where, limits);
  read_stages(reader, faults, where, policy);
  reader.finish();
  check_four_eyes(reader, node, limits);
  return policy;
}

std::string four_eyes_objection(const CharterPermissions& permissions) {
  if (permissions.approvers != Approvers::others || permissions.signers.size() > 1) return {};
  return "\"four_eyes\" needs two people with keys: an approval by a second person is their "
         "signature, and no policy lists " +
         std::string(permissions.signers.empty() ? "any key" : "a second person");
}

CharterPermissions permissions_within(std::span<const UserPolicy> policies,
                                      CharterPermissions charter) {
  // From the inside out, so that each tightens what is within it.
  for (std::size_t i = policies.size(); i > 0; --i) add_outer(policies[i - 1].limits, charter);
  return charter;
}

std::vector<ToolRule> rules_within(std::span<const UserPolicy> policies,
                                   const std::vector<RuleOverride>& charter,
                                   std::vector<Fault>& faults) {
  RuleSource source = RuleSource::user;
  std::vector<ToolRule> rules = default_rules();
  for (const UserPolicy& policy : policies) {
    rules = merge_rules(std::move(rules), policy.limits.guardrails, source, faults);
    source = RuleSource::project;
  }
  return merge_rules(std::move(rules), charter, source, faults);
}

std::string author_objection(std::span<const UserPolicy> policies, const std::string& tool,
                             const std::string& user) {
  for (const UserPolicy& policy : policies) {
    const auto found = policy.tools.find(tool);
    if (found == policy.tools.end()) continue;
    StageSubject subject;
    const auto& named = policy.administrators;
    if (std::find(named.begin(), named.end(), user) != named.end()) {
      subject.role = StageSubject::Role::administrator;
    }
    const Judgement said = check_stage(PermissionStage::author, tool, found->second, subject);
    if (said.verdict == Verdict::deny) return said.reason + " (" + policy.file + ")";
  }
  return "";
}

std::map<std::string, std::vector<std::string>> execute_names(
    std::span<const UserPolicy> policies) {
  std::map<std::string, std::vector<std::string>> names;
  for (const UserPolicy& policy : policies) {
    for (const auto& [tool, requirements] : policy.tools) {
      if (!requirements.execute_names) continue;
      const auto [at, is_first] = names.try_emplace(tool, *requirements.execute_names);
      // Patterns that stand in one list only are not what both say.
      if (is_first) continue;
      std::erase_if(at->second, [&](const std::string& pattern) {
        const auto& others = *requirements.execute_names;
        return std::find(others.begin(), others.end(), pattern) == others.end();
      });
    }
  }
  return names;
}

std::vector<PolicyText> texts_of(std::span<const UserPolicy> policies) {
  std::vector<PolicyText> texts;
  for (const UserPolicy& policy : policies) texts.push_back({policy.file, policy.source});
  return texts;
}

Result<std::vector<UserPolicy>> policies_of(std::span<const PolicyText> texts) {
  std::vector<UserPolicy> policies;
  for (const PolicyText& text : texts) {
    PAWL_TRY(UserPolicy policy, policy_of(text));
    policies.push_back(std::move(policy));
  }
  return policies;
}

void place_scripts(UserPolicy& policy, const std::string& file) {
  const auto directory = std::filesystem::absolute(file).parent_path();
  policy.file = file;
  for (RuleOverride& rule : policy.limits.guardrails) {
    if (!rule.script || rule.script->empty()) continue;
    rule.script = (directory / *rule.script).lexically_normal().string();
  }
}

HeldPolicies hold_policies(std::vector<UserPolicy> now, std::vector<UserPolicy> accepted) {
  HeldPolicies held;
  held.all = now;
  held.now = std::move(now);
  const bool same =
      std::equal(held.now.begin(), held.now.end(), accepted.begin(), accepted.end(), is_same);
  if (accepted.empty() || same) return held;
  for (const UserPolicy& one : accepted) {
    const auto holds = [&one](const UserPolicy& other) { return is_same(one, other); };
    if (std::none_of(held.now.begin(), held.now.end(), holds)) held.all.push_back(one);
  }
  held.accepted = std::move(accepted);
  held.remark = "the user's policy is not the one that the run began with: both hold";
  return held;
}

std::vector<ToolRule> rules_held(const HeldPolicies& held, const std::vector<RuleOverride>& charter,
                                 std::vector<Fault>& faults) {
  std::vector<ToolRule> rules = rules_within(std::span(held.now), charter, faults);
  if (held.accepted.empty()) return rules;
  std::vector<Fault> none;  // It was accepted with these.
  for (ToolRule& rule : rules_within(std::span(held.accepted), charter, none)) {
    if (std::find(rules.begin(), rules.end(), rule) != rules.end()) continue;
    rule.id += kAcceptedSuffix;
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::string describe(const UserPolicy& policy) {
  const CharterPermissions& limits = policy.limits;
  std::string text = policy.file + ":";
  if (limits.allow) text += fmt::format(" allows {} patterns of tools,", limits.allow->size());
  text += fmt::format(" {} rules", limits.guardrails.size() + limits.listed.size());
  if (limits.grants) text += ", permissions";
  if (limits.shell) text += ", shell rules";
  if (limits.approvals) text += ", approvals";
  if (policy.sandbox.level || policy.sandbox.landlock > 0) text += ", a sandbox";
  if (!policy.tools.empty()) text += fmt::format(", stages of {} tools", policy.tools.size());
  return text + "; a charter can only tighten it";
}

}  // namespace pawl
