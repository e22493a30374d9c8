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

#include "pawl/permissions.h"

namespace pawl {

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
