#include "pawl/kernel/agent_spec.h"

#include <algorithm>
#include <array>

namespace pawl {

static constexpr std::array<std::string_view, 2> kOnParentEnds = {"cancel", "detach"};

std::string_view name(OnParentEnd value) {
  return kOnParentEnds[static_cast<std::size_t>(value)];
}

const AgentSpec* find_agent(const std::vector<AgentSpec>& agents, std::string_view name) {
  const auto found = std::lower_bound(
      agents.begin(), agents.end(), name,
      [](const AgentSpec& agent, std::string_view wanted) { return agent.name < wanted; });
  return found == agents.end() || found->name != name ? nullptr : &*found;
}

}  // namespace pawl
