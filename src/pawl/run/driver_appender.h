// Appends the records of one run to its journal, counts what is durable, and decides when the state
// is stored whole beside its records.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/journal/record_view.h"
#include "pawl/journal/run_loader.h"
#include "pawl/kernel/codec.h"
#include "pawl/loop.h"
#include "pawl/store.h"

namespace pawl {

// A snapshot is taken when the records since the last one have at least this many bytes, and four
// times as many as it has itself: so they never make growth quadratic.
inline constexpr std::uint64_t kSnapshotBytesMin = 1U << 20U;
// Entries of conversations that are encoded in one callback: about 100 microseconds.
inline constexpr std::size_t kSnapshotSliceEntries = 2'000;

// Encodes the state of a run when a snapshot of it is due.
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

// Receives the outcome of appends, on the loop thread. Appends hold it weakly: after its
// destruction nothing is reported.
class AppendListener : public std::enable_shared_from_this<AppendListener> {
 public:
  virtual ~AppendListener() = default;
  // Called once a record, in order.
  virtual void on_appended(const std::shared_ptr<const RecordView>& view, const Status& status) = 0;
  // A host-supplied store threw: the fate of the record is unknown.
  virtual void on_store_threw(const Status& thrown) = 0;
};

class RecordAppender {
 public:
  struct Options {
    Journal& journal;
    Loop& loop;
    std::uint64_t epoch;
    std::uint64_t snapshot_bytes_min;
  };
  // `loaded` and `listener` must outlive this object.
  RecordAppender(Options options, LoadedRun& loaded, AppendListener& listener);

  // Appends the record that `loaded` was advanced with last.
  void append(const RunId& run, std::shared_ptr<const RecordView> view,
              std::vector<StoredBlob> blobs);
  // Inbox rows to delete with the next append.
  void remove_with_next(std::uint64_t row) { inbox_rows_.push_back(row); }
  std::vector<std::uint64_t> take_inbox_rows() { return std::exchange(inbox_rows_, {}); }
  bool has_inbox_rows() const { return !inbox_rows_.empty(); }
  // The state in `loaded` was read from the store again: the store has its summary.
  void on_reloaded();

  std::uint64_t in_flight() const { return in_flight_; }
  std::uint64_t durable_length() const { return durable_length_; }

 private:
  void note_summary();
  std::optional<RunSummary> changed_summary();
  void on_appended(const std::shared_ptr<const RecordView>& view, const Status& status);

  Options options_;
  LoadedRun& loaded_;
  AppendListener& listener_;
  Snapshots snapshots_;
  std::uint64_t in_flight_ = 0;
  std::uint64_t durable_length_ = 0;
  std::vector<std::uint64_t> inbox_rows_;
  std::string summary_status_;
  std::string summary_reason_;
};

}  // namespace pawl
