// One input event with what it caused: the unit of the journal. See docs/journal-format.md.
#pragma once

#include <cstdint>
#include <vector>

#include "pawl/kernel/decisions.h"

namespace pawl {

// The version of records that this program writes. See docs/journal-format.md, "Versions".
inline constexpr std::uint32_t kRecordMajor = 2;
inline constexpr std::uint32_t kRecordMinor = 0;

// What a reader stepped over, of a record of a newer minor version.
enum class Skipped : std::uint8_t {
  nothing,
  optional,  // only what says of itself that it may be
  fields,    // fields that this version does not know, and that differ from their defaults
};

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
  std::uint32_t minor = kRecordMinor;  // the version of what wrote it
  Skipped skipped = Skipped::nothing;  // of it, when it was read

  friend bool operator==(const Record&, const Record&) = default;
};

// False: what this program would write in its place is not the same.
inline bool is_understood(const Record& record) {
  return record.skipped == Skipped::nothing;
}

}  // namespace pawl
