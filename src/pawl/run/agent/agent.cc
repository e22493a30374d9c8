#include "pawl/run/agent/agent.h"

namespace pawl {

std::vector<ModelTarget> targets_of(const PreparedAgent& agent) {
  std::vector<ModelTarget> targets;
  for (const ResolvedTarget& resolved : agent.targets) {
    targets.push_back({resolved.literal, resolved.facts.prices, resolved.facts.context_tokens,
                       resolved.facts.max_output_tokens});
  }
  if (!targets.empty()) return targets;
  ModelTarget target;
  target.literal = agent.charter.model;
  target.context_tokens = agent.executor->capabilities_of(agent.charter.model).max_context_tokens;
  for (const ExecutorModelDescriptor& model : agent.executor->list_models()) {
    if (model.id != agent.charter.model) continue;
    target.prices = model.prices;
    target.output_tokens = model.max_output_tokens;
  }
  return {target};
}

}  // namespace pawl
