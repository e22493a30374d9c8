#include "pawl/run/driver_snapshots.h"

#include <algorithm>
#include <utility>

namespace pawl {
namespace {

constexpr std::uint64_t kSnapshotGrowth = 4;
// A larger state is loaded from its records instead: stores cannot be asked to hold any size.
constexpr std::size_t kSnapshotStateMax = 256U << 20U;

}  // namespace

std::optional<StoredSnapshot> Snapshots::due() {
  if (encoding_) {
    if (encoding_->state != Encoding::State::whole) return std::nullopt;
    const auto ready = std::exchange(encoding_, nullptr);
    return taken({ready->seq, ready->chain, ready->encoder.take()});
  }
  const std::uint64_t due_bytes = std::max(bytes_min_, kSnapshotGrowth * loaded_.snapshot_bytes);
  if (loaded_.bytes_since_snapshot < due_bytes) return std::nullopt;
  loaded_.bytes_since_snapshot = 0;
  const std::uint64_t seq = loaded_.run->length - 1;
  if (snapshot_entries(loaded_.run.state()) <= kSnapshotSliceEntries) {
    return taken({seq, loaded_.chain, encode_snapshot(loaded_.run)});
  }
  begin(seq);
  return std::nullopt;
}

void Snapshots::begin(std::uint64_t seq) {
  encoding_ =
      std::make_shared<Encoding>(Encoding{seq, loaded_.chain, SnapshotEncoder(loaded_.run)});
  encode_more(loop_, encoding_);
}

void Snapshots::encode_more(Loop& loop, const std::weak_ptr<Encoding>& encoding) {
  loop.post([&loop, encoding] {
    const auto alive = encoding.lock();
    if (!alive) return;
    if (!alive->encoder.encode(kSnapshotSliceEntries)) return encode_more(loop, encoding);
    alive->state = Encoding::State::whole;
  });
}

std::optional<StoredSnapshot> Snapshots::taken(StoredSnapshot snapshot) {
  loaded_.snapshot_bytes = snapshot.state.size();
  if (snapshot.state.size() > kSnapshotStateMax) return std::nullopt;
  return snapshot;
}

}  // namespace pawl
