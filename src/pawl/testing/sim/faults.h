// Which faults happen, and when. Every decision has a number: a history can be repeated with only
// some of its faults, which is how a failure is shrunk.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "pawl/base/rng.h"

namespace pawl::sim {

enum class FaultKind : std::uint8_t {
  crash_in_append,    // the process dies while it hands a record to its store
  crash_in_commit,    // between write and sync
  crash_after_sync,   // durable, but never acknowledged
  slow_commit,        //
  full_disk,          //
  sync_error,         //
  late_append,        // of a dead process
  process_crash,      //
  process_stop,       // it is stopped for a while, then goes on
  power_loss,         //
  wall_jump,          //
  damage,             // of a record
  poison,             // loading a run kills its process
  model_failure,      //
  slow_model,         //
  tool_failure,       //
  tool_timeout,       //
  tool_crash_remote,  // the effect lands though its process is gone
  duplicate_result,   //
  duplicate_ids,      // of two calls of one reply
  hook_failure,       // a callback throws
  hook_stop,          // a callback stops the run
  hook_replace,       // a callback answers in place of what it was asked about
  silent_usage,       // a model does not say what it used
  gate_failure,       // a gate throws
  gate_forgets,       // a gate judges fewer calls than it was given, or evades
  gate_late,          //
  policy_change,      // the house changes its mind about calls
  no_summary,         // a compactor throws, or has nothing to say
};
inline constexpr std::size_t kFaultKinds = 29;

class Faults {
 public:
  Faults(std::uint64_t seed, std::optional<std::vector<std::uint64_t>> only) : rng_(seed) {
    if (only) only_.emplace(only->begin(), only->end());
  }

  // Whether this fault happens now, with the given chance. After calm() none does.
  bool strikes(FaultKind kind, std::uint64_t per_ten_thousand) {
    const std::uint64_t number = made_++;
    const bool drawn = rng_.below(10'000) < per_ten_thousand;
    if (!drawn || calm_ || (only_ && !only_->contains(number))) return false;
    struck_.push_back(number);
    ++counts_[static_cast<std::size_t>(kind)];
    return true;
  }
  void calm() { calm_ = true; }
  bool is_calm() const { return calm_; }

  const std::vector<std::uint64_t>& struck() const { return struck_; }
  std::uint64_t count(FaultKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  // Draws for how a fault looks; apart from those for whether it happens.
  Rng& rng() { return rng_; }

 private:
  Rng rng_;
  std::optional<std::set<std::uint64_t>> only_;
  std::vector<std::uint64_t> struck_;
  std::uint64_t counts_[kFaultKinds] = {};
  std::uint64_t made_ = 0;
  bool calm_ = false;
};

}  // namespace pawl::sim
