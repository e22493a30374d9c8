// Watches over what the processes of one call use together, because the limits that the kernel
// keeps for single processes can be had many times over by making many.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pawl/port/backend.h"

namespace pawl::backend {

inline constexpr std::int64_t kWatchIntervalMs = 100;

struct TreeUse {
  std::int64_t cpu_ms = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t processes = 0;
  std::uint64_t written_bytes = 0;
};

// The root, its session, and all that descends from it: orphans of a pid namespace go to its first
// process.
std::vector<pid_t> family_of(pid_t root);

class TreeWatch {
 public:
  // What a shell used for earlier calls does not count for this one.
  enum class Past : std::uint8_t { counts, forgotten };
  TreeWatch(pid_t root, Past past, const BackendLimits& limits, std::uint64_t written_before);

  // What was exceeded, if anything.
  std::optional<BackendOutcome::Kind> look();
  std::uint64_t written_bytes() const { return written_; }

 private:
  TreeUse measure();

  pid_t root_;
  BackendLimits limits_;
  std::int64_t cpu_before_ms_;
  std::uint64_t written_;
  std::map<pid_t, std::uint64_t> written_by_;
};

}  // namespace pawl::backend
