#include "pawl/runner.h"

#include "pawl/base/thrown.h"
#include "pawl/filter/processors/processors_reader.h"
#include "pawl/gate/call_gate.h"
#include "pawl/tools/tool_registry.h"

namespace pawl {

Status guard(RunnableAgent& agent, GatePolicy policy, Loop& loop,
             std::map<std::string, GatedTool> known) {
  std::map<std::string, GatedTool> tools;
  for (const auto& tool : agent.tools) {
    const ToolSpec& spec = tool->spec();
    GatedTool gated = known.contains(spec.name) ? std::move(known[spec.name]) : GatedTool{};
    gated.traits.name = spec.name;
    gated.definition = definition_digest(spec);
    tools[spec.name] = std::move(gated);
  }
  policy.agent = agent.charter.name;
  auto gate = make_policy_gate(std::move(policy), std::move(tools), loop);
  if (!gate) {
    agent.tools.clear();  // rather none than unguarded ones
    return gate.error();
  }
  agent.gate = *std::move(gate);
  return ok();
}

Status use_processors(RunnableAgent& agent, std::vector<ProcessorEntry> input,
                      std::vector<ProcessorEntry> output) {
  const auto made = std::make_shared<Processors>();
  for (ProcessorEntry& entry : input) PAWL_CHECK(made->input.add(std::move(entry)));
  for (ProcessorEntry& entry : output) PAWL_CHECK(made->output.add(std::move(entry)));
  agent.processors = made;
  return ok();
}

}  // namespace pawl
