// One model call on its way through the pool: it waits for its turn, is made, and is accounted for.
#pragma once

#include <memory>
#include <string>

#include "pawl/executor.h"
#include "pawl/models/model_pool.h"

namespace pawl {

struct Route {
  std::shared_ptr<ModelPool> pool;
  std::string provider;
  std::string model;  // as the provider knows it
};

// `request.model` is the target's literal; the executor gets `route.model`. Reports as
// Executor::execute_phase() does. `prices` are the target's.
std::unique_ptr<Operation> start_routed_call(Route route, PhaseExecutionRequest request,
                                             Prices prices, PhaseEventSink sink);

// A phase that ends with `outcome` without anybody being asked.
std::unique_ptr<Operation> answer_phase(Loop& loop, PhaseDone outcome, PhaseEventSink sink);

}  // namespace pawl
