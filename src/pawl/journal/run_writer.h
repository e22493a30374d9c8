// Writes a run that exists elsewhere into a store, whole: a fork's prefix, an import. Until its
// last record is durable the run is marked as quarantined, so that nobody can drive a part of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/store.h"

namespace pawl {

inline constexpr std::size_t kWritesInFlightMax = 64;
inline constexpr std::size_t kWriteBytesInFlightMax = 32U << 20U;  // or one piece

// A record as it is to be stored, with the blobs that it names.
struct WritePiece {
  std::string bytes;
  Digest chain;
  std::vector<StoredBlob> blobs;
};

class RunWriter : public std::enable_shared_from_this<RunWriter> {
 public:
  // nullopt: that was all. An error ends the writing.
  using Source = std::function<Result<std::optional<WritePiece>>()>;

  // `making` is the reason the run is quarantined for while it is written; `summary` what it is
  // when all of it is there.
  RunWriter(Journal& journal, RunId run, std::string making, std::function<RunSummary()> summary);

  // Begins with the first record, under `drive`, which it keeps until `done` was called: on the
  // loop thread, when everything is durable or something went wrong. What was written of a run that
  // did not come about stays, quarantined.
  void write(RunLease lease, Source source, std::function<void(Result<RunLease>)> done);

 private:
  void pump();
  void send(WritePiece piece);
  void sent(std::size_t bytes, const Status& status);
  void settle();

  Journal& journal_;
  RunId run_;
  std::string making_;
  std::function<RunSummary()> summary_;
  RunLease lease_;
  Source source_;
  std::function<void(Result<RunLease>)> done_;
  std::optional<WritePiece> ahead_;  // read, to know whether the one before it is the last
  std::uint64_t seq_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t bytes_in_flight_ = 0;
  enum class Stage : std::uint8_t { reading, read, failed } stage_ = Stage::reading;
  std::optional<Error> fault_;
};

}  // namespace pawl
