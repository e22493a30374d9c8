#include "pawl/gate/charter_permissions.h"

#include "pawl/gate/mcp_patterns.h"

namespace pawl {
namespace {

// The long form has none of the words that a policy is written with.
bool is_long_form(const Node& node) {
  return node.find("policy") != nullptr || node.find("expires") != nullptr ||
         node.find("four_eyes") != nullptr;
}

void read_grant(MapReader& reader, const Node& node, Grants& grants) {
  std::vector<std::string> words;
  const Node* list = node.find("grant");
  if (!reader.take_string_list("grant", words)) return;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const auto permission = parse_permission(words[i])) {
      grants.bits.add(*permission);
      continue;
    }
    std::string known;
    for (std::size_t n = 0; n < kPermissionCount; ++n) {
      known += (n == 0 ? "" : ", ") + std::string(name(static_cast<Permission>(n)));
    }
    reader.fault(list->items()[i].mark(), quoted(words[i]) + " is no permission",
                 "one of " + known);
  }
}

void read_trust(MapReader& reader, const Node& node, Grants& grants) {
  std::string word;
  if (!reader.take_string("trust", word)) return;
  if (const auto level = parse_trust_level(word)) {
    grants.trust_min = *level;
  } else {
    reader.fault(node.find("trust")->mark(), quoted(word) + " is no trust level",
                 "one of untrusted, low, medium, high, system");
  }
}

void take_list(MapReader& reader, std::string_view key,
               std::optional<std::vector<std::string>>& out) {
  std::vector<std::string> list;
  if (reader.take_string_list(key, list)) out = std::move(list);
}

}  // namespace

void read_approvals(const Node& node, std::vector<Fault>& faults, CharterPermissions& out) {
  if (node.kind() != Node::Kind::map || !is_long_form(node)) {
    out.approvals = read_approval_policy(node, faults, "approvals");
    return;
  }
  MapReader reader(node, faults, "approvals");
  if (const Node* policy = reader.take("policy")) {
    out.approvals = read_approval_policy(*policy, faults, "approvals.policy");
  }
  reader.take_duration_ms("expires", {1, kApprovalExpiryMaxMs}, out.expires_ms);
  bool four_eyes = false;
  if (reader.take_bool("four_eyes", four_eyes) && four_eyes) out.approvers = Approvers::others;
  reader.finish();
}

void read_permissions(const Node& node, std::vector<Fault>& faults, CharterPermissions& out) {
  MapReader reader(node, faults, "permissions");
  if (node.kind() != Node::Kind::map) return;
  Grants grants;
  if (node.find("grant") == nullptr) grants.bits = PermissionBits::all();
  read_grant(reader, node, grants);
  read_trust(reader, node, grants);
  take_list(reader, "domains", grants.allowed_domains);
  take_list(reader, "paths", grants.allowed_paths);
  reader.finish();
  out.grants = std::move(grants);
}

void read_tool_patterns(MapReader& reader, std::string_view section, std::string_view key,
                        CharterPermissions& out) {
  const Verdict verdict = key == "deny" ? Verdict::deny : Verdict::ask;
  const std::string list_name = std::string(section) + "." + std::string(key);
  std::vector<std::string> patterns;
  const Node* list = reader.take(key);
  if (list == nullptr || !reader.take_string_list(key, patterns)) return;
  if (patterns.size() > kToolPatternsMax) {
    return reader.fault(
        list->mark(), quoted(key) + " may list " + std::to_string(kToolPatternsMax) + " patterns");
  }
  if (key == "ask") refuse_mcp_patterns(reader, *list);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    ToolRule rule;
    rule.id = list_name + "." + std::to_string(i + 1);
    rule.pattern.tool = patterns[i];
    rule.verdict = verdict;
    rule.reason = verdict == Verdict::deny ? patterns[i] + " is denied by " + list_name
                                           : list_name + " names " + patterns[i];
    out.listed.push_back(std::move(rule));
  }
}

}  // namespace pawl
