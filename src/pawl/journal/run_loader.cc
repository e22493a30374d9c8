#include "pawl/journal/run_loader.h"

#include <algorithm>
#include <cstdint>

#include "pawl/journal/record_view.h"
#include "pawl/kernel/kernel.h"
#include "pawl/kernel/transcript.h"

namespace pawl {

JournalWalker::JournalWalker(JournalReader& reader, RunId id, std::size_t batch_bytes)
    : reader_(reader), id_(std::move(id)), batch_bytes_(batch_bytes) {
  loaded_.chain = chain_origin(id_);
}

void JournalWalker::skip_to(const StoredSnapshot& snapshot) {
  auto run = decode_snapshot(snapshot.state);
  if (!run || (*run)->length != snapshot.seq + 1 || (*run)->id != id_) return;
  if (find_rules((*run)->semantics) == nullptr) return;  // the walk will say so
  loaded_.run = *std::move(run);
  loaded_.chain = snapshot.chain;
  loaded_.snapshot_bytes = snapshot.state.size();
  loaded_.checked_from = snapshot.seq + 1;
}

Result<Record> JournalWalker::step(const StoredRecord& stored) {
  const auto where = [&] { return "record " + std::to_string(stored.seq) + " of run " + id_.text; };
  if (stored.seq != loaded_.run->length) {
    return Error{ErrorCode::corrupt,
                 where() + " does not follow record " + std::to_string(loaded_.run->length)};
  }
  if (chain_after(loaded_.chain, stored.bytes) != stored.chain) {
    return Error{ErrorCode::corrupt, where() + " is damaged: its chain hash does not match"};
  }
  auto record = decode_record(stored.bytes);
  if (!record) return Error{record.error().code, where() + ": " + record.error().message};
  const Status folded = fold(loaded_.run, *record);
  if (!folded) return Error{folded.error().code, where() + ": " + folded.error().message};
  if (record->skipped == Skipped::fields && !loaded_.not_understood) {
    loaded_.not_understood = record->seq;
  }
  loaded_.chain = stored.chain;
  loaded_.bytes_since_snapshot += stored.bytes.size();
  return record;
}

Error not_understood(const RunId& id, std::uint64_t seq) {
  return Error{ErrorCode::invalid_argument,
               "record " + std::to_string(seq) + " of run " + id.text +
                   " was written by a newer version of Pawl, and this one does not know all of it; "
                   "use that version"};
}

Result<std::optional<Record>> JournalWalker::next() {
  if (batch_taken_ == batch_.size()) {
    batch_taken_ = 0;
    batch_.clear();
    PAWL_TRY(batch_, reader_.read(id_, loaded_.run->length, batch_bytes_));
    if (batch_.empty()) return std::optional<Record>();
  }
  PAWL_TRY(Record record, step(batch_[batch_taken_]));
  ++batch_taken_;
  return std::optional<Record>(std::move(record));
}

Status JournalWalker::walk(const RecordVisitor& each) {
  while (true) {
    PAWL_TRY(const auto record, next());
    if (!record) return ok();
    if (each && !each(*record, loaded_.run)) return ok();
  }
}

Status RunLoading::begin(std::size_t batch_bytes) {
  walker_.emplace(reader_, id_, std::min(batch_bytes, kReadBatchBytes));
  from_ = From::first_record;
  if (use_ == UseSnapshot::no) return ok();
  PAWL_TRY(const auto snapshot, reader_.snapshot(id_));
  if (snapshot) walker_->skip_to(*snapshot);
  if (walker_->loaded().run->length > 0) from_ = From::snapshot;
  return ok();
}

Result<bool> RunLoading::go_on(std::size_t records_max, std::size_t bytes_max) {
  if (!walker_) {
    PAWL_CHECK(begin(bytes_max));
    if (from_ == From::snapshot) return false;
  }
  std::size_t bytes = 0;
  for (std::size_t records = 0; records < records_max && bytes < bytes_max; ++records) {
    const auto record = walker_->next();
    if (!record && from_ == From::snapshot) {  // Perhaps only the snapshot was bad.
      use_ = UseSnapshot::no;
      walker_.reset();
      return false;
    }
    if (!record) return record.error();
    if (!*record) return true;
    bytes += walker_->bytes().size();
  }
  return false;
}

Result<LoadedRun> load_run(JournalReader& reader, const RunId& id, UseSnapshot use) {
  RunLoading loading(reader, id, use);
  while (true) {
    PAWL_TRY(const bool whole, loading.go_on(SIZE_MAX, SIZE_MAX));
    if (whole) return loading.take();
  }
}

namespace {

Result<StoredRecord> stored_record(JournalReader& reader, const RunId& id, std::uint64_t seq) {
  PAWL_TRY(auto batch, reader.read(id, seq, 1));
  if (batch.empty() || batch.front().seq != seq) {
    return Error{ErrorCode::corrupt, "run " + id.text + " has no record " + std::to_string(seq)};
  }
  return std::move(batch.front());
}

}  // namespace

Result<Record> read_trusted_record(JournalReader& reader, const RunId& id, std::uint64_t seq) {
  PAWL_TRY(const StoredRecord stored, stored_record(reader, id, seq));
  return decode_record(stored.bytes);
}

Result<Record> read_record(JournalReader& reader, const RunId& id, std::uint64_t seq) {
  Digest before = chain_origin(id);
  if (seq > 0) {
    PAWL_TRY(const StoredRecord previous, stored_record(reader, id, seq - 1));
    before = previous.chain;
  }
  PAWL_TRY(const StoredRecord stored, stored_record(reader, id, seq));
  if (chain_after(before, stored.bytes) != stored.chain) {
    return Error{ErrorCode::corrupt, "record " + std::to_string(seq) + " of run " + id.text +
                                         " is damaged: its chain hash does not match"};
  }
  return decode_record(stored.bytes);
}

Result<std::string> resolve(JournalReader& reader, const RunId& id, const Content& content) {
  if (const std::string* bytes = content.bytes()) return *bytes;
  return reader.blob(id, content.blob()->digest);
}

bool has_expired(JournalReader& reader, const RunId& id, const Digest& digest) {
  const auto at = reader.expired_at(id, digest);
  return at && *at;
}

Result<std::string> output_text(JournalReader& reader, const RunState& state) {
  return output_text(reader, state.id, output_record(state));
}

Result<std::string> output_text(JournalReader& reader, const RunId& id,
                                std::optional<std::uint64_t> record) {
  if (!record) return std::string();
  PAWL_TRY(const Record found, read_record(reader, id, *record));
  const auto content = output_of(found);
  if (!content) return std::string();
  return resolve(reader, id, *content);
}

}  // namespace pawl
