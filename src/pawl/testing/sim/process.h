// A simulated process: an engine with its own loop and its own way to the shared store. It dies by
// being destroyed, with everything it had under way.
#pragma once

#include <memory>
#include <string>

#include "pawl/engine/engine.h"
#include "pawl/testing/sim/connection.h"
#include "pawl/testing/sim/world/world.h"

namespace pawl::sim {

// Small, so that runs are loaded from snapshots too.
inline constexpr std::uint64_t kSnapshotBytes = 3'000;

class SimProcess {
 public:
  // `on_crash` is called when the process dies inside its own code: it is to be destroyed soon.
  SimProcess(World& world, SimStorage& storage, std::string name, std::function<void()> on_crash);
  ~SimProcess();
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  void start(const RunId& id, const std::string& charter, const Limits& limits,
             Approvers approvers);
  void fork(const RunId& parent, std::uint64_t step, const RunId& id);
  Status resume(const RunId& id) { return engine_->resume(id); }
  Status reopen(const RunId& id, RunReopened event) {
    return engine_->reopen(id, std::move(event));
  }
  // Has a command decided for a run that nobody drives.
  Status decide(const RunId& id, CommandGiven command, StatusCallback done) {
    return engine_->decide(id, std::move(done), std::move(command));
  }
  bool drives(const RunId& id) const { return engine_->find(id) != nullptr; }
  SimConnection& store() { return connection_; }
  SimLoop& loop() { return loop_; }
  const std::string& name() const { return name_; }

 private:
  PreparedAgent agent(const std::string& charter);
  CallbackRegistry callbacks();
  CallbackResult whim();
  CallbackResult whim_before(const RunId& run, std::uint64_t what, HookPoint point);

  World& world_;
  std::string name_;
  SimLoop loop_;
  SimConnection connection_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<void> subscription_;
};

}  // namespace pawl::sim
