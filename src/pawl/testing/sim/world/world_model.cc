#include <utility>

#include "pawl/testing/sim/world/planned_reply.h"

namespace pawl::sim {
namespace {

struct Phase {
  PhaseExecutionRequest request;
  PhaseEventSink sink;
  bool over = false;
};

class SimExecutor final : public Executor {
 public:
  SimExecutor(World& world, SimLoop& process) : world_(world), process_(process) {
    capabilities_.supports_conversation_replay = true;
  }

  const ExecutorCapabilities& capabilities() const override { return capabilities_; }
  std::vector<ExecutorModelDescriptor> list_models() const override { return sim_models(); }
  bool supports(std::string_view model) const override {
    return model == kSimModel || model == kLargeModel;
  }

  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    world_.oracle.on_model_called(request);
    auto phase = std::make_shared<Phase>(Phase{request, std::move(sink), false});
    const bool slow = world_.faults.strikes(FaultKind::slow_model, 50);
    const std::int64_t takes = slow ? world_.rng.between(1'000, 90'000) : world_.rng.between(0, 40);
    const bool fails = world_.faults.strikes(FaultKind::model_failure, 300);
    process_.at(takes, [this, phase, fails] {
      if (!phase->over) fails ? fail(*phase) : reply(*phase);  // else this may be gone
    });
    return std::make_unique<SimPhase>(*this, phase);
  }

 private:
  class SimPhase final : public Operation {
   public:
    SimPhase(SimExecutor& executor, std::shared_ptr<Phase> phase)
        : executor_(executor), phase_(std::move(phase)) {}
    ~SimPhase() override { phase_->over = true; }
    SimPhase(const SimPhase&) = delete;
    SimPhase& operator=(const SimPhase&) = delete;
    void abort() override {
      executor_.process_.at(executor_.world_.rng.between(0, 100),
                            [&executor = executor_, phase = phase_] {
                              if (std::exchange(phase->over, true)) return;
                              executor.tell(*phase, {5, 1, 0, 0}, 0);
                              phase->sink(PhaseDone{PhaseAborted{}});
                            });
    }

   private:
    SimExecutor& executor_;
    std::shared_ptr<Phase> phase_;
  };

  // Models do not always say what they used.
  void tell(Phase& phase, const Usage& usage, std::uint64_t retry_after_ms) {
    const bool silent = world_.faults.strikes(FaultKind::silent_usage, 300);
    world_.oracle.on_model_told(phase.request,
                                {silent ? std::nullopt : std::optional(usage), retry_after_ms});
    if (!silent) phase.sink(UsageReported{usage});
  }

  void fail(Phase& phase) {
    phase.over = true;
    Rng& rng = world_.rng;
    PhaseFailed failed;
    failed.category =
        rng.one_in(12) ? static_cast<ErrorCategory>(rng.below(8)) : ErrorCategory::network_error;
    failed.message = "the model is not there";
    if (rng.one_in(4)) failed.retry_after_ms = rng.below(rng.one_in(5) ? 200'000 : 20'000);
    static const std::vector<FailureKind> kKinds = {
        FailureKind::rate_limited, FailureKind::overloaded, FailureKind::model_not_found,
        FailureKind::unsupported,  FailureKind::empty,      FailureKind::circuit_open};
    if (rng.one_in(3)) failed.kind = rng.pick(kKinds);
    if (rng.one_in(2)) phase.sink(TextDelta{"half a sen"});
    tell(phase, {10, 2, 0, 0}, failed.retry_after_ms.value_or(0));
    phase.sink(PhaseDone{failed});
  }

  void reply(Phase& phase) {
    phase.over = true;
    const PlannedReply plan = planned_reply(world_, phase.request);
    const bool same_ids = world_.faults.strikes(FaultKind::duplicate_ids, 200);
    world_.oracle.on_model_replied(phase.request, plan.blocks);
    bool collapsed = false;
    std::uint64_t number = 0;
    for (const WrittenBlock& block : plan.blocks) {
      if (block.tool.empty()) {
        phase.sink(TextDelta{block.text});
        continue;
      }
      if (collapsed) continue;
      phase.sink(ToolCallProposed{block.tool, block.text, "id" + std::to_string(number)});
      if (!same_ids) ++number;
      collapsed = same_ids && world_.bug == PlantedBug::duplicate_ids_collapsed;
    }
    tell(phase, {100 + world_.rng.below(50), 20, 0, 0}, 0);
    phase.sink(PhaseDone{PhaseReplied{plan.stop, "", phase.request.model, ""}});
  }

  World& world_;
  SimLoop& process_;
  ExecutorCapabilities capabilities_;
};

}  // namespace

std::vector<ExecutorModelDescriptor> sim_models() {
  return {{kSimModel, "simulated", 700, {"USD", 3, 15, 0, 0}},
          {kLargeModel, "large", 40'000, {"USD", 7, 20, 0, 0}}};
}

std::shared_ptr<Executor> make_executor(World& world, SimLoop& process) {
  return std::make_shared<SimExecutor>(world, process);
}

}  // namespace pawl::sim
