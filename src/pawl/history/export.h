// A run as one self-contained file. The format is in docs/export-format.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/kernel/codec.h"
#include "pawl/store.h"

namespace pawl {

inline constexpr std::uint64_t kExportFormat = 2;
// One line: a blob of the largest size in base64, and what stands around it.
inline constexpr std::size_t kExportLineBytesMax = kBlobBytesMax / 3 * 4 + (1U << 20U);

// How the reason of a run begins that was imported to be looked at.
inline constexpr std::string_view kLookOnly = "for looking only: ";
inline constexpr std::string_view kRedacted = "redacted";

struct ExportOptions {
  enum class Redaction : std::uint8_t { on, off } redaction = Redaction::on;
  std::vector<std::string> secrets;  // values that are known to be secret
  std::string program;               // which version of Pawl exports
};

struct ExportReport {
  RunId run;
  std::uint64_t records = 0;
  std::uint64_t blobs = 0;
  std::uint64_t redactions = 0;
  Digest chain;                          // of what is exported
  std::string look_only;                 // why it cannot be taken up elsewhere; empty: it can
  std::uint64_t expired = 0;             // blobs whose bytes were let go before
  std::uint32_t semantics = kSemantics;  // the run's
};

// Takes the file piece by piece. An error ends the export.
using ExportSink = std::function<Status(std::string_view)>;

// Reads the journal twice: to find out what the first line says, and to write. A run that goes on
// meanwhile is exported as it was at the beginning. corrupt: it is damaged, and nothing was
// written.
Result<ExportReport> export_run(JournalReader& reader, const RunSummary& summary,
                                const ExportOptions& options, const ExportSink& sink);

}  // namespace pawl
