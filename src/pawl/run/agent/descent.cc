#include "pawl/run/agent/descent.h"

#include <algorithm>
#include <array>

namespace pawl {
namespace {

constexpr char kBetweenNames = '/';

void add_agents(const std::vector<CharterAgent>& agents, const std::string& directory,
                const std::string& prefix, std::vector<AgentText>& all) {
  for (const CharterAgent& agent : agents) {
    if (all.size() >= kAgentsMax) return;
    AgentText& one = all.emplace_back();
    one.text = agent.text;
    one.spec.name = prefix + agent.name;
    one.spec.description = agent.description;
    one.spec.digest = sha256(agent.text);
    one.spec.directory = agent.directory.empty() ? directory : agent.directory;
    one.spec.limits = agent.limits;
    one.spec.on_parent_end = agent.on_parent_end;
    one.spec.json = agent.json;
    const std::string own = one.spec.directory;
    add_agents(agent.beneath, own, prefix + agent.name + kBetweenNames, all);
  }
}

}  // namespace

std::vector<AgentText> agents_of(const Charter& charter) {
  std::vector<AgentText> all;
  add_agents(charter.machine.agents, charter.directory, "", all);
  std::ranges::sort(all, {},
                    [](const AgentText& one) -> const std::string& { return one.spec.name; });
  return all;
}

std::vector<AgentText> agents_beneath(const std::vector<AgentText>& agents, std::string_view name) {
  const std::string prefix = std::string(name) + kBetweenNames;
  std::vector<AgentText> own;
  for (const AgentText& one : agents) {
    if (!one.spec.name.starts_with(prefix)) continue;
    own.push_back(one);
    own.back().spec.name.erase(0, prefix.size());
  }
  return own;
}

std::vector<AgentSpec> specs_of(const std::vector<AgentText>& agents) {
  std::vector<AgentSpec> specs;
  for (const AgentText& agent : agents) specs.push_back(agent.spec);
  return specs;
}

Presence offers_adhoc(const PreparedAgent& agent) {
  const bool wanted = agent.charter.machine.adhoc_agents == Presence::present && agent.adhoc;
  const bool native = agent.executor && agent.executor->capabilities().supports_native_subagents;
  return wanted && !native ? Presence::present : Presence::absent;
}

Limits limits_beside(Limits charter, const Limits& entry) {
  using Bound = std::uint64_t Limits::*;
  static constexpr std::array<Bound, 12> kBounds = {
      &Limits::steps,     &Limits::model_calls,   &Limits::tool_calls,    &Limits::time_ms,
      &Limits::tokens,    &Limits::bytes_in,      &Limits::bytes_out,     &Limits::branches,
      &Limits::cost_pico, &Limits::ask_cost_pico, &Limits::budget_tokens, &Limits::budget_ms};
  const Limits unsaid;
  for (const Bound bound : kBounds) {
    if (entry.*bound == unsaid.*bound) continue;
    const bool both = charter.*bound != unsaid.*bound;
    charter.*bound = both ? std::min(charter.*bound, entry.*bound) : entry.*bound;
  }
  return charter;
}

}  // namespace pawl
