// The processes of a simulated machine: they are started, stopped, killed, and come back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/testing/sim/process.h"

namespace pawl::sim {

class Residents {
 public:
  using Say = std::function<void(const std::string&)>;

  Residents(World& world, SimStorage& storage, std::uint64_t processes, Say say);

  // Starts those whose time has come, and ends those whose store has stopped.
  void look_after();
  // One that is alive, by chance. Null: there is none.
  SimProcess* any();
  SimProcess* driver_of(const RunId& id) const;

  void crash_one();
  void stop_one();
  void lose_power();
  void clear() { all_.clear(); }

  std::uint64_t crashes() const { return crashes_; }  // of processes, power losses included

 private:
  struct Resident {
    std::unique_ptr<SimProcess> process;
    std::uint64_t lives = 0;
    std::int64_t back_at_ms = 0;
    bool doomed = false;
  };

  void bury(std::size_t i);
  void kill(std::size_t i, const std::string& why);
  void reopen();
  void settle_books();

  World& world_;
  SimStorage& storage_;
  Say say_;
  std::vector<Resident> all_;
  std::uint64_t crashes_ = 0;
};

}  // namespace pawl::sim
