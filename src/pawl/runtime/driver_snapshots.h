// Decides when the state of a run is stored whole beside its records.
#pragma once

#include <cstdint>
#include <optional>

#include "pawl/runtime/run_loader.h"

namespace pawl {

// A snapshot is taken when the records since the last one have at least this many bytes, and four
// times as many as it has itself: so they never make growth quadratic.
inline constexpr std::uint64_t kSnapshotBytesMin = 1U << 20U;

class Snapshots {
 public:
  // `loaded` must outlive this object; it counts the bytes since the last snapshot.
  Snapshots(LoadedRun& loaded, std::uint64_t bytes_min) : loaded_(loaded), bytes_min_(bytes_min) {}

  // The snapshot to store with the record that was decided last; nullopt: none is due.
  std::optional<StoredSnapshot> due();

 private:
  LoadedRun& loaded_;
  std::uint64_t bytes_min_;
};

}  // namespace pawl
