#include "pawl/run/driver_appender.h"

#include <algorithm>
#include <utility>

#include "pawl/base/thrown.h"
#include "pawl/journal/run_summary.h"

namespace pawl {
namespace {

constexpr std::uint64_t kSnapshotGrowth = 4;
// A larger state is loaded from its records instead: stores cannot be asked to hold any size.
constexpr std::size_t kSnapshotStateMax = 256U << 20U;

}  // namespace

RecordAppender::RecordAppender(Options options, LoadedRun& loaded, AppendListener& listener)
    : options_(options),
      loaded_(loaded),
      listener_(listener),
      snapshots_(loaded, options.snapshot_bytes_min, options.loop),
      durable_length_(loaded.run->length) {
  if (durable_length_ > 0) note_summary();
}

void RecordAppender::on_reloaded() {
  snapshots_.forget();
  note_summary();
}

void RecordAppender::note_summary() {
  summary_status_ = name(status_of(loaded_.run.state()));
  summary_reason_ = summary_reason(loaded_.run.state());
}

std::optional<RunSummary> RecordAppender::changed_summary() {
  const RunState& state = loaded_.run.state();
  if (name(status_of(state)) == summary_status_ && summary_reason(state) == summary_reason_) {
    return std::nullopt;
  }
  RunSummary summary = summary_of(state);
  summary_status_ = summary.status;
  summary_reason_ = summary.reason;
  return summary;
}

void RecordAppender::append(const RunId& run, std::shared_ptr<const RecordView> view,
                            std::vector<StoredBlob> blobs) {
  Append append;
  append.run = run;
  append.epoch = options_.epoch;
  append.seq = view->record.seq;
  append.bytes = encode_record(view->record);
  append.chain = chain_after(loaded_.chain, append.bytes);
  append.blobs = std::move(blobs);
  append.inbox_taken = take_inbox_rows();
  append.summary = changed_summary();
  loaded_.chain = append.chain;
  loaded_.bytes_since_snapshot += append.bytes.size();
  const bool finished = std::holds_alternative<Finished>(loaded_.run->life);
  if (finished) append.snapshots = Append::Snapshots::drop;
  if (!finished) append.snapshot = snapshots_.due();
  ++in_flight_;
  const auto weak = listener_.weak_from_this();
  const Status given = guarded("the store", [&] {
    options_.journal.append(std::move(append),
                            [this, weak, view = std::move(view)](const Status& status) {
                              if (const auto alive = weak.lock()) on_appended(view, status);
                            });
    return ok();
  });
  if (given) return;
  // If the store still answers, the driver is over by then.
  options_.loop.post([weak, given] {
    if (const auto alive = weak.lock()) alive->on_store_threw(given);
  });
}

void RecordAppender::on_appended(const std::shared_ptr<const RecordView>& view,
                                 const Status& status) {
  if (view->record.seq < durable_length_) return;  // a host-supplied store that answers twice
  --in_flight_;
  if (status) durable_length_ = view->record.seq + 1;
  listener_.on_appended(view, status);
}

// --- Snapshots ----------------------------------------------------------------------------------

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
