// Who a tool is to us and what it may touch: trust levels, permission bits, the list of allowed
// tools, and the three stages (author, share, execute) of a tool in a saved agent. Pure functions:
// data in, judgement out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/rules/verdict.h"

namespace pawl {

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

// Denies and names the first thing that is missing; asks, every time, for an untrusted tool.
Judgement check_trust(const ToolTraits& tool, const Grants& grants);

// The names in a reason, before it says how many more there are.
inline constexpr std::size_t kNamesShownMax = 50;

// No list allows every tool; an empty one none. `known` are the tools that exist: the reason lists
// those of them that the list permits, so that the model can choose another.
Judgement check_allow_list(std::string_view tool,
                           const std::optional<std::vector<std::string>>& patterns,
                           std::span<const std::string> known);

enum class PermissionStage : std::uint8_t { author, share, execute };
std::string_view name(PermissionStage stage);

enum class Visibility : std::uint8_t { private_to_owner, shared, open_to_all };

struct ToolRequirements {
  bool author_admin_only = false;  // only an administrator may put it into an agent
  bool safe_for_share = true;      // may be in an agent that others can use
  std::optional<std::vector<std::string>> execute_names = std::nullopt;  // agents that may call it
};

// Who wants to do what.
struct StageSubject {
  enum class Role : std::uint8_t { user, administrator };
  Role role = Role::user;
  Visibility visibility = Visibility::private_to_owner;
  std::string agent = {};  // the agent (or skill) that runs
};

// Each stage looks at its own requirement only: passing one says nothing about the next.
Judgement check_stage(PermissionStage stage, std::string_view tool,
                      const ToolRequirements& requirements, const StageSubject& subject);

}  // namespace pawl
