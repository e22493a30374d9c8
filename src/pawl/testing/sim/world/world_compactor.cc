// Sums conversations up, slowly and not always.
#include <stdexcept>
#include <utility>

#include "pawl/testing/sim/world/world.h"

namespace pawl::sim {
namespace {

class SimCompactor final : public Compactor {
 public:
  SimCompactor(World& world, SimLoop& process) : world_(world), process_(process) {}

  std::unique_ptr<Operation> compact(const CompactionRequest& request,
                                     std::function<void(CompactionOutcome)> done) override {
    world_.oracle.on_summary_asked(request);
    if (world_.faults.strikes(FaultKind::no_summary, 150)) {
      world_.oracle.on_summary_told(request.run, {});
      throw std::runtime_error("the compactor is broken");
    }
    const bool fails = world_.faults.strikes(FaultKind::no_summary, 500);
    auto wanted = std::make_shared<bool>(true);
    process_.at(world_.rng.between(0, 60),
                [this, run = request.run, fails, wanted, done = std::move(done)] {
                  if (*wanted) answer(run, fails, done);  // else this may be gone
                });
    return std::make_unique<Summing>(std::move(wanted));
  }

 private:
  class Summing final : public Operation {
   public:
    explicit Summing(std::shared_ptr<bool> wanted) : wanted_(std::move(wanted)) {}
    ~Summing() override { *wanted_ = false; }
    Summing(const Summing&) = delete;
    Summing& operator=(const Summing&) = delete;
    void abort() override {}  // It answers before long.

   private:
    std::shared_ptr<bool> wanted_;
  };

  void answer(const RunId& run, bool fails, const std::function<void(CompactionOutcome)>& done) {
    CompactionOutcome outcome;
    outcome.usage = {60 + world_.rng.below(20), 10, 0, 0};
    outcome.model = "summarizer";
    outcome.summary = "summary " + std::to_string(++world_.written);
    if (fails) outcome.summary = Error{ErrorCode::unavailable, "nothing comes to mind"};
    world_.oracle.on_summary_told(run, outcome.usage);
    done(std::move(outcome));
  }

  World& world_;
  SimLoop& process_;
};

}  // namespace

std::shared_ptr<Compactor> make_compactor(World& world, SimLoop& process) {
  return std::make_shared<SimCompactor>(world, process);
}

}  // namespace pawl::sim
