#include "pawl/testing/sim/process.h"

#include <stdexcept>
#include <utility>

#include "pawl/testing/sim/world/charters.h"
#include "pawl/testing/sim/world/signing.h"

namespace pawl::sim {

SimProcess::SimProcess(World& world, SimStorage& storage, std::string name,
                       std::function<void()> on_crash)
    : world_(world),
      name_(std::move(name)),
      loop_(world.clock),
      connection_(storage, loop_, world.faults, std::move(on_crash)) {
  const AgentSource source = [this](const PinnedCharter& pinned) -> Result<PreparedAgent> {
    return agent(pinned.name);
  };
  engine_ = std::make_unique<Engine>(
      EngineOptions{loop_, connection_.parts(), callbacks(), source, name_, kSnapshotBytes});
  engine_->on_ended([this](const RunId& run, const Status& status) {
    if (status) return world_.oracle.on_let_go(run);
    const bool unwritten = status.error().message.find(kUnwrittenEnd) != std::string::npos;
    if (unwritten) world_.oracle.on_left_unwritten(run);
  });
  subscription_ = engine_->subscribe([this](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view != nullptr) world_.oracle.on_published(**view);
  });
}

SimProcess::~SimProcess() {
  connection_.die();
}

PreparedAgent SimProcess::agent(const std::string& charter) {
  PreparedAgent agent;
  write_charter(charter, agent.charter);
  agent.charter.model = kSimModel;
  agent.executor = make_executor(world_, loop_);
  agent.tools = make_tools(world_, loop_);
  agent.gate = make_gate(world_, loop_);
  agent.compactor = make_compactor(world_, loop_);
  agent.charter.compaction.keep_messages = 4;
  agent.charter.permissions.signers = sim_signers();
  // What the models of a machine are told must all be there to be found: they have room for it.
  const bool roomy = kind_of(charter) == CharterKind::tree;
  if (roomy) agent.charter.model = kLargeModel;
  for (ExecutorModelDescriptor& model : sim_models()) {
    if (roomy && model.id != kLargeModel) continue;
    const std::string literal = model.id;
    const std::string provider(provider_of(literal));
    agent.targets.push_back({literal, provider, "model", ReasoningEffort::unset, std::move(model)});
  }
  return agent;
}

// What a callback does, now and then.
CallbackResult SimProcess::whim() {
  if (world_.faults.strikes(FaultKind::hook_failure, 20)) throw std::runtime_error("a bug");
  if (world_.faults.strikes(FaultKind::hook_stop, 5)) return CallbackResult::stop("enough");
  if (world_.faults.strikes(FaultKind::hook_replace, 20)) {
    return CallbackResult::replace("replaced " + std::to_string(++world_.written));
  }
  return CallbackResult::proceed();
}

// Like whim(), for what must then not be done.
CallbackResult SimProcess::whim_before(const RunId& run, std::uint64_t what, HookPoint point) {
  // A tool is not run when its callback throws; a model is called all the same.
  const bool closed = point == HookPoint::before_tool;
  world_.oracle.on_asked_before(run, what, point,
                                closed ? HookVerdict::stop : HookVerdict::proceed);
  const CallbackResult result = whim();
  world_.oracle.on_asked_before(run, what, point, result.verdict);
  return result;
}

CallbackRegistry SimProcess::callbacks() {
  CallbackRegistry registry;
  registry.before_tool.push_back([this](const ToolCallbackContext& asked) {
    const auto call = static_cast<std::uint64_t>(asked.call);
    return whim_before(asked.run, call, HookPoint::before_tool);
  });
  registry.after_tool.push_back([this](const ToolCallbackContext&) { return whim(); });
  registry.before_model.push_back([this](const ModelCallbackContext& asked) {
    return whim_before(asked.run, asked.step, HookPoint::before_model);
  });
  registry.after_model.push_back([this](const ModelCallbackContext&) { return whim(); });
  // Not in every process: a run without them begins at once.
  if (world_.rng.one_in(2)) {
    registry.before_agent.push_back([this](const AgentCallbackContext&) { return whim(); });
    registry.after_agent.push_back([this](const AgentCallbackContext&) { return whim(); });
  }
  return registry;
}

void SimProcess::start(const RunId& id, const std::string& charter, const Limits& limits,
                       Approvers approvers) {
  StartRequest request;
  request.agent = agent(charter);
  request.agent.charter.limits = limits;
  request.agent.charter.permissions.approvers = approvers;
  request.context = InvocationContextBuilder().identity(kStarter).build();
  request.input = "do it";
  request.sign = [](const std::string& message) -> Result<std::string> {
    return sim_signature(kStarter, message);
  };
  request.id = id;
  engine_->start(std::move(request), [this](const Result<RunId>& accepted) {
    if (accepted) world_.oracle.on_accepted(*accepted);
  });
}

void SimProcess::fork(const RunId& parent, std::uint64_t step, const RunId& id) {
  ForkRequest request;
  request.parent = parent;
  request.step = step;
  request.id = id;
  request.by = "operator";
  request.sign = [](const std::string& message) -> Result<std::string> {
    return sim_signature("operator", message);
  };
  engine_->fork(std::move(request), [this](const Result<Forked>& forked) {
    if (forked) world_.oracle.on_forked(*forked);
  });
}

}  // namespace pawl::sim
