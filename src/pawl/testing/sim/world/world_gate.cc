// The gate of every simulated agent: it judges by the house's policy, and fails in every way a gate
// of a host's can.
#include <stdexcept>
#include <utility>

#include "pawl/testing/sim/world/world.h"

namespace pawl::sim {
namespace {

class Asking final : public Operation {
 public:
  explicit Asking(std::shared_ptr<bool> wanted) : wanted_(std::move(wanted)) {}
  ~Asking() override { *wanted_ = false; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  void abort() override {}

 private:
  std::shared_ptr<bool> wanted_;
};

class SimGate final : public CallGate {
 public:
  SimGate(World& world, SimLoop& process) : world_(world), process_(process) {}

  std::vector<CallJudgement> judge(const ProposedPlan& plan) override {
    fail_now_and_then(plan, 15);
    std::vector<CallJudgement> judgements;
    for (const ProposedCall& call : plan.calls) {
      const CallVerdict verdict = world_.policy.first_word(call.tool, call.input);
      world_.oracle.on_gate_said(plan.run, call, verdict);
      judgements.push_back(judgement_on(call, verdict));
    }
    if (world_.faults.strikes(FaultKind::gate_forgets, 15)) {
      world_.oracle.on_gate_said(plan.run, plan.calls.back(), CallVerdict::deny);
      judgements.pop_back();
    }
    return judgements;
  }

  std::unique_ptr<Operation> ask(const ProposedPlan& plan,
                                 std::function<void(CallJudgement)> done) override {
    fail_now_and_then(plan, 150);
    const bool late = world_.faults.strikes(FaultKind::gate_late, 300);
    const std::int64_t takes = late ? world_.rng.between(500, 20'000) : world_.rng.between(0, 20);
    auto wanted = std::make_shared<bool>(true);
    process_.at(takes, [this, plan, wanted, done = std::move(done)] {
      if (*wanted) answer(plan, done);  // else the gate itself may be gone
    });
    return std::make_unique<Asking>(std::move(wanted));
  }

  Digest binding_of(const ProposedCall& call) override {
    const bool loose = world_.bug == PlantedBug::approval_unbound;
    return world_.policy.binding_of(call.tool, loose ? "" : call.input);
  }

 private:
  CallJudgement judgement_on(const ProposedCall& call, CallVerdict verdict) {
    CallJudgement judgement = world_.policy.judgement(verdict, call.tool, call.input);
    if (judgement.binding) judgement.binding = binding_of(call);
    // The planted bug: where a person is to be asked, nobody is.
    const bool eager = world_.bug == PlantedBug::ask_is_allow && verdict == CallVerdict::ask;
    if (eager) judgement.verdict = CallVerdict::allow;
    return judgement;
  }

  // Who throws has denied.
  void fail_now_and_then(const ProposedPlan& plan, std::uint64_t per_ten_thousand) {
    if (!world_.faults.strikes(FaultKind::gate_failure, per_ten_thousand)) return;
    for (const ProposedCall& call : plan.calls) {
      world_.oracle.on_gate_said(plan.run, call, CallVerdict::deny);
    }
    throw std::runtime_error("the gate is broken");
  }

  void answer(const ProposedPlan& plan, const std::function<void(CallJudgement)>& done) {
    const ProposedCall& call = plan.calls.front();
    // Against the contract, and a no.
    const bool evades = world_.faults.strikes(FaultKind::gate_forgets, 150);
    const CallVerdict verdict = world_.policy.last_word(call.tool, call.input);
    world_.oracle.on_gate_said(plan.run, call, evades ? CallVerdict::deny : verdict);
    CallJudgement judgement = judgement_on(call, verdict);
    if (evades) judgement.verdict = CallVerdict::undecided;
    done(std::move(judgement));
  }

  World& world_;
  SimLoop& process_;
};

}  // namespace

std::shared_ptr<CallGate> make_gate(World& world, SimLoop& process) {
  return std::make_shared<SimGate>(world, process);
}

}  // namespace pawl::sim
