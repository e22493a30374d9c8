#include "pawl/gate/rules/trust.h"

#include <algorithm>
#include <array>

#include "pawl/gate/rules/glob.h"
#include "pawl/gate/rules/reach.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 5> kLevels = {"untrusted", "low", "medium", "high",
                                                     "system"};
constexpr std::array<std::string_view, kPermissionCount> kPermissions = {
    "network", "fs_read", "fs_write", "env", "subprocess", "pii"};

template <class Enum, std::size_t N>
std::optional<Enum> find_word(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto* const found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamesShownMax; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kNamesShownMax) {
    text += " and " + std::to_string(names.size() - kNamesShownMax) + " more";
  }
  return text;
}

Judgement denied(std::string rule, std::string reason) {
  return {Verdict::deny, std::move(rule), std::move(reason)};
}

// All of them: whoever grants one should not have to find the next by trying.
std::string not_granted(const std::vector<Permission>& missing) {
  std::vector<std::string> names;
  for (const Permission one : missing) names.emplace_back(name(one));
  if (names.size() == 1) return "the permission " + names.front() + ", which is not granted";
  return "the permissions " + listed(names) + ", which are not granted";
}

std::string tool_words(std::string_view tool) {
  return "the tool " + std::string(tool);
}

std::optional<Judgement> check_domains(const ToolTraits& tool, const Grants& grants) {
  if (!grants.allowed_domains) return std::nullopt;
  for (const std::string& host : tool.domains) {
    if (host_is_in(host, *grants.allowed_domains)) continue;
    return denied("trust.domains", tool_words(tool.name) + " may not reach " + host +
                                       "; allowed domains: " + listed(*grants.allowed_domains));
  }
  return std::nullopt;
}

std::optional<Judgement> check_paths(const ToolTraits& tool, const Grants& grants) {
  if (!grants.allowed_paths) return std::nullopt;
  for (const std::string& path : tool.paths) {
    const bool inside = std::any_of(
        grants.allowed_paths->begin(), grants.allowed_paths->end(),
        [&path](const std::string& root) { return path_beneath(path, root) == Match::yes; });
    if (inside) continue;
    return denied("trust.paths", tool_words(tool.name) + " may not touch " + path +
                                     "; allowed paths: " + listed(*grants.allowed_paths));
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(TrustLevel level) {
  return kLevels.at(static_cast<std::size_t>(level));
}

std::optional<TrustLevel> parse_trust_level(std::string_view word) {
  return find_word<TrustLevel>(kLevels, word);
}

std::string_view name(Permission permission) {
  return kPermissions.at(static_cast<std::size_t>(permission));
}

std::optional<Permission> parse_permission(std::string_view word) {
  return find_word<Permission>(kPermissions, word);
}

std::vector<Permission> PermissionBits::without(PermissionBits granted) const {
  std::vector<Permission> missing;
  for (std::size_t i = 0; i < kPermissionCount; ++i) {
    const auto permission = static_cast<Permission>(i);
    if (has(permission) && !granted.has(permission)) missing.push_back(permission);
  }
  return missing;
}

Judgement check_trust(const ToolTraits& tool, const Grants& grants) {
  if (tool.trust < grants.trust_min) {
    return denied("trust.level", tool_words(tool.name) + " is of trust " +
                                     std::string(name(tool.trust)) + "; at least " +
                                     std::string(name(grants.trust_min)) + " is needed");
  }
  const auto missing = tool.needs.without(grants.bits);
  if (!missing.empty()) {
    return denied("trust." + std::string(name(missing.front())),
                  tool_words(tool.name) + " needs " + not_granted(missing));
  }
  if (auto judgement = check_domains(tool, grants)) return *judgement;
  if (auto judgement = check_paths(tool, grants)) return *judgement;
  if (tool.trust == TrustLevel::untrusted) {
    return {Verdict::ask, "trust.untrusted", tool_words(tool.name) + " is not trusted",
            Asking::every_time};
  }
  return {Verdict::allow, "trust", {}};
}

Judgement check_allow_list(std::string_view tool,
                           const std::optional<std::vector<std::string>>& patterns,
                           std::span<const std::string> known) {
  if (!patterns || any_glob_matches(*patterns, tool)) return {Verdict::allow, "allow-list", {}};
  std::vector<std::string> permitted;
  for (const std::string& other : known) {
    if (any_glob_matches(*patterns, other)) permitted.push_back(other);
  }
  return denied("allow-list",
                tool_words(tool) + " is not allowed here; permitted tools: " + listed(permitted));
}

std::string_view name(PermissionStage stage) {
  switch (stage) {
    case PermissionStage::author:
      return "author";
    case PermissionStage::share:
      return "share";
    case PermissionStage::execute:
      break;
  }
  return "execute";
}

Judgement check_stage(PermissionStage stage, std::string_view tool,
                      const ToolRequirements& requirements, const StageSubject& subject) {
  const std::string rule = "stage." + std::string(name(stage));
  switch (stage) {
    case PermissionStage::author:
      if (requirements.author_admin_only && subject.role != StageSubject::Role::administrator) {
        return denied(rule, "only an administrator may add " + tool_words(tool) + " to an agent");
      }
      break;
    case PermissionStage::share:
      if (!requirements.safe_for_share && subject.visibility != Visibility::private_to_owner) {
        return denied(
            rule, tool_words(tool) + " is not safe to share: keep the agent private, or remove it");
      }
      break;
    case PermissionStage::execute:
      if (requirements.execute_names &&
          !any_glob_matches(*requirements.execute_names, subject.agent)) {
        return denied(rule, "the agent " + subject.agent + " may not call " + tool_words(tool) +
                                "; agents that may: " + listed(*requirements.execute_names));
      }
      break;
  }
  return {Verdict::allow, rule, {}};
}

}  // namespace pawl
