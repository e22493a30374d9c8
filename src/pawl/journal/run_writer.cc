#include "pawl/journal/run_writer.h"

#include "pawl/words.h"

namespace pawl {

RunWriter::RunWriter(Journal& journal, RunId run, std::string making,
                     std::function<RunSummary()> summary)
    : journal_(journal),
      run_(std::move(run)),
      making_(std::move(making)),
      summary_(std::move(summary)) {}

void RunWriter::write(RunLease lease, Source source, std::function<void(Result<RunLease>)> done) {
  lease_ = std::move(lease);
  source_ = std::move(source);
  done_ = std::move(done);
  pump();
}

void RunWriter::pump() {
  while (stage_ == Stage::reading && in_flight_ < kWritesInFlightMax &&
         (in_flight_ == 0 || bytes_in_flight_ < kWriteBytesInFlightMax)) {
    auto next = source_();
    if (!next) {
      stage_ = Stage::failed;
      fault_ = next.error();
      break;
    }
    std::optional<WritePiece> piece = std::exchange(ahead_, *std::move(next));
    if (!ahead_) stage_ = Stage::read;
    if (piece) send(*std::move(piece));
  }
  settle();
}

void RunWriter::send(WritePiece piece) {
  Append append;
  append.run = run_;
  append.epoch = lease_.epoch;
  append.seq = seq_++;
  append.bytes = std::move(piece.bytes);
  append.chain = piece.chain;
  append.blobs = std::move(piece.blobs);
  const bool last = stage_ == Stage::read;
  if (last || append.seq == 0) append.summary = summary_();
  if (!last && append.summary) {
    append.summary->status = name(RunStatus::quarantined);
    append.summary->reason = making_;
  }
  std::size_t bytes = append.bytes.size();
  for (const StoredBlob& blob : append.blobs) bytes += blob.bytes.size();
  ++in_flight_;
  bytes_in_flight_ += bytes;
  journal_.append(std::move(append), [self = shared_from_this(), bytes](const Status& status) {
    self->sent(bytes, status);
  });
}

void RunWriter::sent(std::size_t bytes, const Status& status) {
  --in_flight_;
  bytes_in_flight_ -= bytes;
  if (!status && stage_ != Stage::failed) {
    stage_ = Stage::failed;
    fault_ = status.error();
  }
  pump();
}

void RunWriter::settle() {
  if (stage_ == Stage::reading || in_flight_ > 0 || !done_) return;
  const auto done = std::exchange(done_, {});
  source_ = {};
  if (fault_) {
    lease_.hold.reset();
    return done(*fault_);
  }
  done(std::move(lease_));
}

}  // namespace pawl
