// Watches over what the processes of a command or shell use together, because the limits that the
// kernel keeps for single processes can be had many times over by making many.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::int64_t kWatchIntervalMs = 100;

struct TreeRoot {
  pid_t process = 0;
  // Where there is no pid namespace, orphans leave the tree and become the host's: they are known
  // by this (process_tree.h). 0: there is one, and they stay with its first process.
  std::uint64_t mark = 0;
};

// Also by those that have ended and were waited for.
struct TreeUse {
  std::int64_t cpu_ms = 0;
  std::uint64_t written_bytes = 0;
};

// The root, its session, those that carry its mark, and all that descends from one of them.
std::vector<pid_t> family_of(const TreeRoot& root);

class TreeWatch {
 public:
  // What a shell used for earlier calls does not count for this one.
  enum class Past : std::uint8_t { counts, forgotten };
  enum class Memory : std::uint8_t { counted, bounded };  // bounded: a control group does it
  TreeWatch(TreeRoot root, const BackendLimits& limits, Memory memory);

  // The processor time until now does not count any more.
  void forget_time();
  // What was exceeded, if anything.
  std::optional<BackendOutcome::Kind> look();
  // As the last look has found it.
  const std::vector<pid_t>& family() const { return family_; }

 private:
  void measure();
  void bury_adopted();
  bool has_too_much_memory();
  bool holds_too_much_memory();

  TreeRoot root_;
  BackendLimits limits_;
  Memory memory_;
  std::vector<pid_t> family_;
  TreeUse living_;  // when it was last looked
  TreeUse lost_;    // of those who were gone before anybody asked
  std::int64_t cpu_before_ms_ = 0;
  std::uint64_t shared_before_ = 0;
};

}  // namespace pawl::backend
