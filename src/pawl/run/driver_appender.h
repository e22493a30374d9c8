// Appends the records of one run to its journal, and counts what is durable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/journal/run_event.h"
#include "pawl/journal/run_loader.h"
#include "pawl/port/journal.h"
#include "pawl/run/driver_snapshots.h"

namespace pawl {

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
