// Leases in place of locks, for two planted bugs only: the store itself has none. A run is held by
// a kernel lock, which no clock ends and no heartbeat renews.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "pawl/testing/sim/clock.h"
#include "pawl/testing/sim/planted.h"

namespace pawl::sim {

class SimLeases {
 public:
  SimLeases(const SimLoop& loop, PlantedBug bug) : loop_(loop), bug_(bug) {}

  bool in_use() const {
    return bug_ == PlantedBug::wall_clock_lease || bug_ == PlantedBug::heartbeat_after_takeover;
  }
  bool is_held(const std::string& run) const {
    const auto found = leases_.find(run);
    return found != leases_.end() && !found->second.holder.expired();
  }
  // Held, and yet somebody else may take it.
  bool has_lapsed(const std::string& run) const {
    if (!in_use() || !is_held(run)) return false;
    const Lease& lease = leases_.at(run);
    // Its holder renews it all the time. By the wall it is over when the wall jumps.
    if (bug_ == PlantedBug::wall_clock_lease)
      return wall_ahead_ms() - lease.wall_ahead_ms > kLeaseMs;
    return loop_.monotonic_ms() - lease.heard_ms > kLeaseMs;
  }
  std::shared_ptr<void> give(const std::string& run) {
    const auto holder = std::make_shared<char>();
    leases_[run] = {holder, wall_ahead_ms(), loop_.monotonic_ms()};
    return holder;
  }
  // The heartbeat of whoever appends.
  void renew(const std::string& run) {
    const auto found = leases_.find(run);
    if (found != leases_.end()) found->second.heard_ms = loop_.monotonic_ms();
  }
  void clear() { leases_.clear(); }

 private:
  static constexpr std::int64_t kLeaseMs = 10'000;

  struct Lease {
    std::weak_ptr<void> holder;
    std::int64_t wall_ahead_ms = 0;
    std::int64_t heard_ms = 0;
  };
  std::int64_t wall_ahead_ms() const { return loop_.wall_ms() - loop_.monotonic_ms(); }

  const SimLoop& loop_;
  PlantedBug bug_;
  std::map<std::string, Lease> leases_;
};

}  // namespace pawl::sim
