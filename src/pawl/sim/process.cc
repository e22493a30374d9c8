#include "pawl/sim/process.h"

#include <stdexcept>
#include <utility>

namespace pawl::sim {

SimProcess::SimProcess(World& world, SimStorage& storage, std::string name,
                       std::function<void()> on_crash)
    : world_(world),
      name_(std::move(name)),
      loop_(world.clock),
      connection_(storage, loop_, world.faults, std::move(on_crash)) {
  const AgentSource source = [this](const PinnedCharter&) -> Result<RunnableAgent> {
    return agent();
  };
  engine_ = std::make_unique<Engine>(
      EngineOptions{loop_, connection_.parts(), callbacks(), source, name_, kSnapshotBytes});
  subscription_ = engine_->subscribe([this](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view != nullptr) world_.oracle.on_published(**view);
  });
}

SimProcess::~SimProcess() {
  connection_.die();
}

RunnableAgent SimProcess::agent() {
  RunnableAgent agent;
  agent.charter.name = "sim";
  agent.charter.instructions = "Go on.";
  agent.charter.model = kSimModel;
  agent.executor = make_executor(world_, loop_);
  agent.tools = make_tools(world_, loop_);
  return agent;
}

CallbackRegistry SimProcess::callbacks() {
  CallbackRegistry registry;
  registry.before_tool.push_back([this](const ToolCallbackContext&) {
    if (world_.faults.strikes(FaultKind::hook_failure, 20)) throw std::runtime_error("a bug");
    if (world_.faults.strikes(FaultKind::hook_stop, 5)) return CallbackResult::stop("enough");
    return CallbackResult::proceed();
  });
  registry.after_tool.push_back([this](const ToolCallbackContext&) {
    if (world_.faults.strikes(FaultKind::hook_failure, 20)) throw std::runtime_error("a bug");
    if (world_.faults.strikes(FaultKind::hook_stop, 5)) return CallbackResult::stop("enough");
    return CallbackResult::proceed();
  });
  return registry;
}

void SimProcess::start(const RunId& id, const Limits& limits) {
  StartRequest request;
  request.agent = agent();
  request.agent.charter.limits = limits;
  request.input = "do it";
  request.id = id;
  engine_->start(std::move(request), [this](const Result<RunId>& accepted) {
    if (accepted) world_.oracle.on_accepted(*accepted);
  });
}

}  // namespace pawl::sim
