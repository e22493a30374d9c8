// How a family of processes is killed that does not hold still: what is looked at, stopped, killed
// and reaped, and in which order. What that means on this machine is its ground's affair
// (process_tree.cc), so that a test can have processes as fast as it likes.
#pragma once

#include <sys/types.h>

#include <vector>

#include "pawl/adapter/backend/command/proc_table.h"

namespace pawl::tool_command {

inline constexpr int kKillRoundsMax = 1'024;
inline constexpr int kFreezeRoundsMax = 16;
inline constexpr int kChaseStepsMax = 4'096;  // numbers looked at after one round
inline constexpr int kChaseReach = 32;        // numbers that others may take meanwhile

class HuntingGround {
 public:
  HuntingGround() = default;
  HuntingGround(const HuntingGround&) = delete;
  HuntingGround& operator=(const HuntingGround&) = delete;
  virtual ~HuntingGround() = default;

  // All of the family, also those that have ended. It takes its time: who was seen may be gone.
  virtual std::vector<ProcessStat> look() = 0;
  // Whether a number is one of the family's; at once.
  virtual bool is_prey(pid_t pid) = 0;
  // The number that was given to a process last, whoever it is; 0: nobody knows.
  virtual pid_t newest_number() = 0;

  virtual void kill_group() = 0;
  virtual void stop(const ProcessStat& process) = 0;
  // Waits for a moment, so that the next look does not find them dying.
  virtual void kill(const std::vector<ProcessStat>& processes) = 0;
  virtual void kill_number(pid_t pid) = 0;
  virtual void reap(const ProcessStat& process) = 0;
  virtual bool is_late() = 0;
};

// Those that may be alive after all. The root is not reaped.
std::vector<pid_t> hunt_down(pid_t root, HuntingGround& ground);

}  // namespace pawl::tool_command
