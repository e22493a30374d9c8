#include "pawl/runtime/driver_snapshots.h"

#include <algorithm>

#include "pawl/kernel/codec.h"

namespace pawl {
namespace {

constexpr std::uint64_t kSnapshotGrowth = 4;
// A larger state is loaded from its records instead: stores cannot be asked to hold any size.
constexpr std::size_t kSnapshotStateMax = 256U << 20U;

}  // namespace

std::optional<StoredSnapshot> Snapshots::due() {
  const std::uint64_t due_bytes = std::max(bytes_min_, kSnapshotGrowth * loaded_.snapshot_bytes);
  if (loaded_.bytes_since_snapshot < due_bytes) return std::nullopt;
  StoredSnapshot snapshot{loaded_.run->length - 1, loaded_.chain, encode_snapshot(loaded_.run)};
  loaded_.snapshot_bytes = snapshot.state.size();
  loaded_.bytes_since_snapshot = 0;
  if (snapshot.state.size() > kSnapshotStateMax) return std::nullopt;
  return snapshot;
}

}  // namespace pawl
