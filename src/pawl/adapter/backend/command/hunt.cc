#include "pawl/adapter/backend/command/hunt.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace pawl::tool_command {
namespace {

using Life = ProcessStat::Life;

// A family that grows while it is being killed would win by forking, so everybody is stopped before
// anybody is killed.
class Hunt {
 public:
  Hunt(pid_t root, HuntingGround& ground) : root_(root), ground_(ground) {}

  // One look at the family, and what it leads to.
  void round() {
    // The kernel kills a group at one stroke, which even a process that is never the same for long
    // does not survive. Where /proc cannot be read, this is all that can be done.
    ground_.kill_group();
    const std::vector<ProcessStat> family = ground_.look();
    std::vector<ProcessStat> living;
    std::vector<ProcessStat> fresh;
    for (const ProcessStat& process : family) {
      newest_ = std::max(newest_, {process.start_ticks, process.pid});
      if (process.life == Life::ended) continue;
      living.push_back(process);
      if (!stopped_.contains({process.pid, process.start_ticks})) fresh.push_back(process);
    }
    if (!fresh.empty() && freezes_++ < kFreezeRoundsMax) {
      stop(fresh);
    } else {
      ground_.kill(living);
    }
    bury(family);
    alive_ = std::move(living);
  }

  // A look takes longer than a process lives that forks and exits, and so on. But the next one has
  // the next number: found at its birth, it is killed before it has a child.
  void chase() {
    if (!follow_births()) walk_on();
  }

  // Who was stopped by the last round would stay so for ever.
  void give_up() { ground_.kill(alive_); }

  bool over() const { return alive_.empty() && settled_; }
  // Also the newest of whom there was only a trace: it may have a child.
  std::vector<pid_t> alive() const {
    std::vector<pid_t> pids;
    for (const ProcessStat& process : alive_) pids.push_back(process.pid);
    if (pids.empty() && !settled_) pids.push_back(newest_.second);
    return pids;
  }

 private:
  void stop(const std::vector<ProcessStat>& processes) {
    for (const ProcessStat& process : processes) {
      ground_.stop(process);
      stopped_.emplace(process.pid, process.start_ticks);
    }
  }

  // Not before the living are dealt with: where the dead are so many that nobody can fork, each one
  // that goes lets somebody do so.
  // A zombie other than the root shows that there was life a moment ago: it may have had a child
  // since, or a parent whose place the host takes only now. So there must be one more look.
  void bury(const std::vector<ProcessStat>& family) {
    settled_ = true;
    for (const ProcessStat& process : family) {
      if (process.life != Life::ended || process.pid == root_) continue;
      settled_ = false;
      ground_.reap(process);
    }
  }

  bool kill_if_prey(pid_t pid) {
    if (!ground_.is_prey(pid)) return false;
    ground_.kill_number(pid);
    return true;
  }

  // Looks at numbers as they are given out, for as long as the family takes some of them. False: it
  // took none of the last ones, or nobody knows which ones these are.
  bool follow_births() {
    bool met = false;
    pid_t seen = 0;
    int misses = 0;
    for (int step = 0; step < kChaseStepsMax && misses < kChaseReach; ++step) {
      const pid_t newest = ground_.newest_number();
      if (newest <= 0 || newest == seen) break;
      const pid_t first = std::max(newest - kChaseReach + 1, 1);
      const bool is_next = seen >= first && seen < newest;  // otherwise too many, or from the start
      for (pid_t pid = is_next ? seen + 1 : first; pid <= newest; ++pid, ++step) {
        const bool hit = kill_if_prey(pid);
        met = met || hit;
        misses = hit ? 0 : misses + 1;
      }
      seen = newest;
    }
    return met;
  }

  // From its newest dead, who lead to it.
  void walk_on() {
    pid_t next = newest_.second;
    pid_t end = next + kChaseReach;
    for (int step = 0; step < kChaseStepsMax && next < end; ++step, ++next) {
      if (kill_if_prey(next)) end = next + kChaseReach;
    }
  }

  pid_t root_;
  HuntingGround& ground_;
  int freezes_ = 0;
  bool settled_ = true;
  std::pair<std::uint64_t, pid_t> newest_;  // its start, and its number
  std::vector<ProcessStat> alive_;
  std::set<std::pair<pid_t, std::uint64_t>> stopped_;
};

}  // namespace

std::vector<pid_t> hunt_down(pid_t root, HuntingGround& ground) {
  Hunt hunt(root, ground);
  for (int round = 0; round < kKillRoundsMax; ++round) {
    hunt.round();
    if (hunt.over()) return {};
    if (ground.is_late()) break;
    hunt.chase();
  }
  hunt.give_up();
  return hunt.alive();
}

}  // namespace pawl::tool_command
