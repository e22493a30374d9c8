// The timers of one driven run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pawl/port/loop.h"

namespace pawl {

class DrivenRun;

// An ending run is left when its store has written nothing for this long, as on a full disk: limits
// and cancellations end its tools in time, recorded or not.
inline constexpr std::int64_t kUnwrittenEndMs = 5'000;
// Part of the error that the driver ends with then.
inline constexpr const char* kUnwrittenEnd = "has ended, and its store could not write that down";

class RunTimers {
 public:
  explicit RunTimers(DrivenRun& run) : run_(run) {}

  // Wakes the run when the kernel next has something to do for it.
  void arm();
  // Ends the driver of an ending run whose store does not write.
  void watch_ending();
  void cancel();

 private:
  void on_wake();
  void on_ending_unwritten(std::uint64_t durable_length);

  DrivenRun& run_;
  std::optional<std::uint64_t> due_;
  std::unique_ptr<Timer> wake_;
  std::unique_ptr<Timer> ending_;
};

}  // namespace pawl
