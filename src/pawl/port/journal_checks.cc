#include "pawl/port/journal_checks.h"

#include <string_view>

namespace pawl {
namespace {

Status check_size(std::size_t size, std::size_t max, std::string_view what) {
  if (size <= max) return ok();
  return Error{ErrorCode::limit_exceeded, std::string(what) + " of " + std::to_string(size) +
                                              " bytes is over the maximum of " +
                                              std::to_string(max)};
}

}  // namespace

Error conflict(const RunId& run, const std::string& what) {
  return Error{ErrorCode::conflict, "run " + run.text + " " + what};
}

Error no_such_run(const RunId& run) {
  return Error{ErrorCode::not_found, "no run " + run.text};
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
