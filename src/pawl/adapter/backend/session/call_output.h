// The output of one call: its ends in memory, and all of it in a file where it is too long.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/adapter/backend/command/output_capture.h"
#include "pawl/backend.h"
#include "pawl/base/descriptor.h"
#include "pawl/port/byte_filter.h"

namespace pawl::backend {

inline constexpr std::uint64_t kKeptCallBytesMax = std::uint64_t{64} << 20U;
// The disk is looked at again after so many bytes: other processes write there, too.
inline constexpr std::uint64_t kKeptBlockBytes = std::uint64_t{1} << 20U;
// Left free for the journal: a tenth of the disk, within these; at most half of a small disk.
inline constexpr std::uint64_t kDiskReserveBytesMin = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t kDiskReserveBytesMax = std::uint64_t{1} << 30U;
std::uint64_t disk_reserve(std::uint64_t disk_bytes);
inline constexpr std::size_t kKeptEntriesMax = 1'000'000;  // beyond it a store counts as full

struct KeptBounds {
  std::uint64_t run_bytes = 0;
  std::uint64_t store_bytes = 0;
};

// How much of a call's output may still be kept on the data disk: bounded for the call, for its
// run, for the store, and by what the disk has left for the journal. The run's directory lies
// beside those of other runs.
class KeptSpace {
 public:
  KeptSpace(std::string directory, KeptBounds bounds)
      : directory_(std::move(directory)), bounds_(bounds) {}

  // How many of these bytes may be written now. Fewer: nothing more of the call is kept, and
  // reason() says why.
  std::uint64_t take(std::uint64_t wanted);
  // The disk could not take what was granted.
  void close(std::string reason) { reason_ = std::move(reason); }
  const std::string& reason() const { return reason_; }

 private:
  void look();
  void bound(std::uint64_t left, const std::string& reason);

  std::string directory_;
  KeptBounds bounds_;
  std::uint64_t taken_ = 0;
  std::uint64_t granted_ = 0;  // by the last look, of which `taken_` is a part
  std::string next_reason_;    // of the bound that comes first
  std::string reason_;
};

// The bytes of the files directly in a directory, and of those in its directories where `levels` is
// two; kKeptEntriesMax files count as too many for any bound.
std::uint64_t bytes_kept_in(const std::string& directory, int levels);

class CallOutput {
 public:
  // What is longer than `bytes_max` passes the filter, before it is cut or kept; what is not longer
  // is filtered by whoever takes it.
  CallOutput(std::uint64_t bytes_max, std::string artifact_directory, KeptBounds bounds,
             std::shared_ptr<const ByteFilter> filter = nullptr);
  CallOutput(const CallOutput&) = delete;
  CallOutput& operator=(const CallOutput&) = delete;

  void append(std::string_view bytes);
  // Writes output, length and artifact into the outcome. `note` comes first in the text, and then,
  // where less than the whole is kept, how much and why.
  void finish(BackendOutcome& outcome, std::string_view note);

 private:
  void overflow();
  void open_artifact();
  void name_artifact();
  void take(std::string_view bytes);
  void keep(std::string_view bytes);
  std::string describe_cut() const;

  enum class Stage : std::uint8_t { fits, too_long } stage_ = Stage::fits;
  std::uint64_t bytes_max_;
  std::string directory_;
  std::shared_ptr<const ByteFilter> filter_;
  std::unique_ptr<ByteStream> stream_;  // once the output is longer
  tool_command::OutputCapture capture_;
  KeptSpace space_;
  Descriptor file_;
  std::string path_;
  std::uint64_t written_ = 0;
};

}  // namespace pawl::backend
