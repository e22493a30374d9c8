// Reads a run back from its journal: checks every chain link, decodes, folds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/executor.h"
#include "pawl/kernel/codec.h"
#include "pawl/kernel/run.h"
#include "pawl/store.h"

namespace pawl {

inline constexpr std::size_t kReadBatchBytes = 4U << 20U;
// Of those who must not hold up others: some 50 records of ordinary steps.
inline constexpr std::size_t kSliceBatchBytes = 16U << 10U;

struct LoadedRun {
  Run run;
  Digest chain;
  std::uint64_t bytes_since_snapshot = 0;
  std::uint64_t snapshot_bytes = 0;
  std::uint64_t checked_from = 0;  // the first record whose link was checked; 0 without a snapshot
  // The first record of a newer version with fields that this one does not know. The run can be
  // looked at; whoever drove it would go on from a state that is not its own.
  std::optional<std::uint64_t> not_understood;
};

enum class UseSnapshot : std::uint8_t { yes, no };

// corrupt: the journal is damaged; the message names the record.
Result<LoadedRun> load_run(JournalReader& reader, const RunId& id, UseSnapshot use);

// Sees a record with the state after it. Returning false ends the walk.
using RecordVisitor = std::function<bool(const Record&, const Run&)>;

// Goes through a journal from its first record, as far as it has been written; it can be asked to
// go on later.
class JournalWalker {
 public:
  JournalWalker(JournalReader& reader, RunId id, std::size_t batch_bytes = kReadBatchBytes);

  Status walk(const RecordVisitor& each);
  // The record that comes next, applied already; nullopt when no more has been written.
  Result<std::optional<Record>> next();
  const LoadedRun& loaded() const { return loaded_; }
  // Of the record that next() returned last, as they are stored.
  std::string_view bytes() const { return batch_[batch_taken_ - 1].bytes; }
  LoadedRun take() { return std::move(loaded_); }
  // Starts behind a snapshot; one that cannot be used is as good as none.
  void skip_to(const StoredSnapshot& snapshot);

 private:
  Result<Record> step(const StoredRecord& stored);

  JournalReader& reader_;
  RunId id_;
  const std::size_t batch_bytes_;  // that are read at once
  LoadedRun loaded_;
  std::vector<StoredRecord> batch_;
  std::size_t batch_taken_ = 0;
};

// Reads a run back a slice at a time, for whoever must not hold up others meanwhile.
class RunLoading {
 public:
  RunLoading(JournalReader& reader, RunId id, UseSnapshot use)
      : reader_(reader), id_(std::move(id)), use_(use) {}

  // Reads on: so many records at most, or bytes of them, and one at least; a snapshot is a slice of
  // its own. True: the run is whole. corrupt: as load_run().
  Result<bool> go_on(std::size_t records_max, std::size_t bytes_max);
  LoadedRun take() { return walker_->take(); }

 private:
  Status begin(std::size_t batch_bytes);

  JournalReader& reader_;
  RunId id_;
  UseSnapshot use_;
  std::optional<JournalWalker> walker_;
  enum class From : std::uint8_t { first_record, snapshot } from_ = From::first_record;
};

// Why a record of which something was skipped cannot be written anew, or its run be driven.
Error not_understood(const RunId& id, std::uint64_t seq);

// One record, its link to the one before checked.
Result<Record> read_record(JournalReader& reader, const RunId& id, std::uint64_t seq);
// One that this process has checked before, or written itself.
Result<Record> read_trusted_record(JournalReader& reader, const RunId& id, std::uint64_t seq);

// The bytes behind a content.
Result<std::string> resolve(JournalReader& reader, const RunId& id, const Content& content);

// Whether a blob that cannot be read was let go, as it should be, and not lost.
bool has_expired(JournalReader& reader, const RunId& id, const Digest& digest);

// What a finished (or stopped, or waiting) run says: its last text. Empty when there is none.
Result<std::string> output_text(JournalReader& reader, const RunState& state);
// The same, by output_record() of some state of the run.
Result<std::string> output_text(JournalReader& reader, const RunId& id,
                                std::optional<std::uint64_t> record);

}  // namespace pawl
