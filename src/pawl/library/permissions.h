// Puts guards before an agent: a policy for its calls, processors for its texts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pawl/filter/processors/processor.h"
#include "pawl/gate/policy.h"
#include "pawl/library/agent.h"

namespace pawl {

// Puts the pipeline before the agent's tools. `known` says more of a tool than its name: trust,
// needs, risk. invalid_argument: a rule or policy that is none; then the agent has no tools left.
Status guard(RunnableAgent& agent, GatePolicy policy, Loop& loop,
             std::map<std::string, GatedTool> known = {});

// limit_exceeded: more than kProcessorsMax.
Status use_processors(RunnableAgent& agent, std::vector<ProcessorEntry> input,
                      std::vector<ProcessorEntry> output);

}  // namespace pawl
