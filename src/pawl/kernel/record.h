// One input event with what it caused: the unit of the journal. See docs/journal-format.md.
#pragma once

#include <cstdint>
#include <vector>

#include "pawl/kernel/decisions.h"

namespace pawl {

// When an event happened: the host's clocks enter the kernel only here.
struct Stamp {
  std::uint64_t epoch = 0;
  std::int64_t at_ms = 0;        // wall time; may jump
  std::uint64_t elapsed_ms = 0;  // run time by a monotonic clock; never backwards

  PAWL_FACT(Stamp, "stamp", PAWL_FIELD(epoch) PAWL_FIELD(at_ms) PAWL_FIELD(elapsed_ms));
};

struct Record {
  std::uint64_t seq = 0;
  Stamp stamp;
  InstanceId instance = kRootInstance;
  Event event;
  std::vector<Decision> decisions;
  std::vector<Effect> effects;

  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace pawl
