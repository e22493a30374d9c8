// Reads an exported run line by line and believes nothing of it: sizes, order, digests, chain, that
// the records decode and fit each other, and that they say what is shown.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "pawl/history/export.h"
#include "pawl/journal/run_loader.h"
#include "pawl/journal/run_writer.h"
#include "pawl/json.h"
#include "pawl/port/kept_files.h"

namespace pawl {

inline constexpr std::size_t kBlobsPerRecordMax = 100'000;
inline constexpr std::size_t kBlobBytesPerRecordMax = 512U << 20U;
inline constexpr std::uint64_t kExpiredAtMsMax = 253'402'300'799'999;  // the end of the year 9999

class ExportReader {
 public:
  // `rename` is the id that the run gets instead of its own.
  ExportReader(LineSource& lines, std::optional<RunId> rename);

  // Reads the first line. Errors (here and below) are invalid_argument and name the line.
  Status open();
  // Records with their blobs, one after the other; nullopt when the last line was read and
  // everything fits.
  Result<std::optional<WritePiece>> next();

  // After open(): what the first line says. After the last: what there was.
  const ExportReport& report() const { return report_; }
  const RunId& run() const { return run_; }  // what it is called here
  const Run& state() const { return loaded_.run; }
  Digest chain() const { return loaded_.chain; }
  // Of all lines but the last, after the last.
  const Digest& digest() const { return file_digest_; }
  // Why the run may only be looked at; empty: it may be taken up.
  std::string look_only() const;

 private:
  Result<Json> take_line();
  Status take_blob(const Json& line);
  Status take_expired(const Digest& digest, std::uint64_t at_ms);
  Status await_record(StoredBlob blob);
  Result<WritePiece> take_record(const Json& line);
  Result<Record> decoded(const Json& line, std::string& bytes);
  Status check_blobs(const Record& record);
  Status check_shown(const Json& line, const Record& record) const;
  Status apply(const Record& record);
  Status take_trailer(const Json& line);
  Error wrong(const std::string& what) const;

  LineSource& lines_;
  std::optional<RunId> rename_;
  RunId run_;
  ExportReport report_;
  std::uint64_t line_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t blobs_ = 0;
  Digest chain_;      // as the file has it
  LoadedRun loaded_;  // as it is stored here
  Run made_again_;    // by this version, as far as it makes the same records
  std::set<Digest> given_;
  std::vector<StoredBlob> waiting_;  // blobs for the next record
  std::size_t waiting_bytes_ = 0;
  std::optional<std::uint64_t> odd_;  // the first record that this version would not have written
  Sha256 digest_;                     // of the lines before the one at hand
  std::string text_;                  // the line at hand
  Digest file_digest_;
};

}  // namespace pawl
