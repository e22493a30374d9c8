#include "pawl/port/journal_checks.h"

#include <array>
#include <ctime>
#include <string_view>

#include "pawl/words.h"

namespace pawl {
namespace {

Status check_size(std::size_t size, std::size_t max, std::string_view what) {
  if (size <= max) return ok();
  return Error{ErrorCode::limit_exceeded, std::string(what) + " of " + std::to_string(size) +
                                              " bytes is over the maximum of " +
                                              std::to_string(max)};
}

}  // namespace

bool is_under_way(const RunSummary& summary) {
  return summary.status == name(RunStatus::queued) || summary.status == name(RunStatus::running);
}

Status Journal::forgive(const RunId& /*run*/, std::uint64_t /*epoch*/) {
  return Error{ErrorCode::unavailable, "this store counts every load"};
}

Status Journal::lift_quarantine(const RunSummary& /*summary*/) {
  return Error{ErrorCode::unavailable, "this store cannot lift a quarantine"};
}

Error conflict(const RunId& run, const std::string& what) {
  return Error{ErrorCode::conflict, "run " + run.text + " " + what};
}

Error no_such_run(const RunId& run) {
  return Error{ErrorCode::not_found, "no run " + run.text};
}

Status check_length(const RunId& run, std::uint64_t length, std::uint64_t given) {
  if (length == given) return ok();
  return conflict(run, "has " + std::to_string(length) + " records, not " + std::to_string(given));
}

Error inbox_waits(const RunId& run) {
  return conflict(run, kInboxWaits);
}

bool waits_in_inbox(const Error& error) {
  return error.code == ErrorCode::conflict && error.message.ends_with(kInboxWaits);
}

bool ends_run(const Append& append) {
  if (!append.summary) return false;
  const std::string& status = append.summary->status;
  return is_terminal(status) && status != name(RunStatus::quarantined);
}

std::string loaded_in_vain(std::int64_t loads) {
  return "loaded " + std::to_string(loads) + " times without a record being added";
}

Error no_such_blob(const RunId& run, const Digest& digest) {
  return Error{ErrorCode::not_found, "run " + run.text + " has no blob " + to_hex(digest)};
}

Error damaged_blob(const RunId& run, const Digest& digest) {
  return Error{ErrorCode::corrupt,
               "blob " + to_hex(digest) + " of run " + run.text + " is not what was written"};
}

Error expired_blob(const RunId& run, const Digest& digest, std::int64_t at_ms) {
  return Error{ErrorCode::not_found,
               "blob " + to_hex(digest) + " of run " + run.text + " expired on " + day_of(at_ms)};
}

std::string day_of(std::int64_t at_ms) {
  constexpr std::int64_t kMsPerSecond = 1000;
  const auto when = static_cast<std::time_t>(at_ms / kMsPerSecond);
  std::tm utc{};
  std::array<char, 32> text{};
  if (gmtime_r(&when, &utc) == nullptr) return "a day that no calendar has";
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return std::string(text.data(), length);
}

Status check_limits(const Append& append) {
  PAWL_CHECK(check_size(append.bytes.size(), kRecordBytesMax, "a record"));
  for (const StoredBlob& blob : append.blobs) {
    PAWL_CHECK(check_size(blob.bytes.size(), kBlobBytesMax, "a blob"));
  }
  if (append.snapshot) {
    PAWL_CHECK(check_size(append.snapshot->state.size(), kSnapshotBytesMax, "a snapshot"));
  }
  if (append.inbox_taken.size() > kInboxRowsMax) {
    return Error{ErrorCode::limit_exceeded, "an append takes more inbox rows than can wait"};
  }
  return ok();
}

Status check_inbox_limits(const std::string& body) {
  return check_size(body.size(), kInboxBodyBytesMax, "an inbox row");
}

}  // namespace pawl
