// Limits of a whole session, where the system lets the host make control groups: memory and number
// of processes, version 1 or 2. Where it does not, limits of single processes and the session's own
// watch are what there is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/backend.h"
#include "pawl/base/descriptor.h"

namespace pawl::sandbox {

// "pawl-…", with the host in it: only its pid namespace can say whether it lives.
std::string unique_group_name();
// Whether the host that is in the name is gone.
bool is_left_behind(std::string_view group);
// A host that was killed has left its groups, empty: the kernel has killed what was in them.
void sweep_groups(const std::string& parent);

// Version 2: the nearest group from `group` upwards beneath `mount` that hands down the controllers
// and may be joined from; if there is none, `group` itself. Empty: there are no groups.
std::string unified_parent(const std::string& mount, const std::string& group);

class Cgroup {
 public:
  Cgroup() = default;
  Cgroup(Cgroup&&) = default;
  Cgroup& operator=(Cgroup&&) = default;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup();

  // Takes what can be had; nothing is an answer, too.
  static Cgroup make(const BackendLimits& limits);

  // cgroup.procs of each: who writes "0" to it joins.
  const std::vector<Descriptor>& doors() const { return doors_; }
  bool bounds_memory() const { return !memory_events_.empty(); }
  bool bounds_processes() const { return bounds_processes_; }
  // How many processes were killed because the group had no memory left.
  std::uint64_t memory_kills() const;

 private:
  std::vector<std::string> directories_;
  std::vector<Descriptor> doors_;
  bool bounds_processes_ = false;
  std::string memory_events_;  // the file that has a line "oom_kill N"
};

}  // namespace pawl::sandbox
