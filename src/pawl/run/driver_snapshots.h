// Decides when the state of a run is stored whole beside its records, and encodes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pawl/journal/run_loader.h"
#include "pawl/kernel/codec.h"
#include "pawl/port/loop.h"

namespace pawl {

// A snapshot is taken when the records since the last one have at least this many bytes, and four
// times as many as it has itself: so they never make growth quadratic.
inline constexpr std::uint64_t kSnapshotBytesMin = 1U << 20U;
// Entries of conversations that are encoded in one callback: about 100 microseconds.
inline constexpr std::size_t kSnapshotSliceEntries = 2'000;

class Snapshots {
 public:
  // `loaded` must outlive this object; it counts the bytes since the last snapshot.
  Snapshots(LoadedRun& loaded, std::uint64_t bytes_min, Loop& loop)
      : loaded_(loaded), bytes_min_(bytes_min), loop_(loop) {}

  // The snapshot to store with the record that was decided last; nullopt: none is due, or it is
  // still being encoded. A large state is encoded in slices, a callback each.
  std::optional<StoredSnapshot> due();
  // Drops what is being encoded: the run went back to an earlier state.
  void forget() { encoding_.reset(); }

 private:
  struct Encoding {
    std::uint64_t seq = 0;
    Digest chain;
    SnapshotEncoder encoder;
    enum class State : std::uint8_t { in_part, whole } state = State::in_part;
  };

  void begin(std::uint64_t seq);
  // Callbacks hold the encoding weakly: they do nothing once it is dropped or stored.
  static void encode_more(Loop& loop, const std::weak_ptr<Encoding>& encoding);
  std::optional<StoredSnapshot> taken(StoredSnapshot snapshot);

  LoadedRun& loaded_;
  std::uint64_t bytes_min_;
  Loop& loop_;
  std::shared_ptr<Encoding> encoding_;
};

}  // namespace pawl
