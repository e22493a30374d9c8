// The file tools of a session, in the host: view, create_file, str_replace, grep, glob,
// apply_patch, and which files a command changed. See roots.h for how paths are held beneath roots.
//
// Every function blocks; call them from a worker thread. Thread-safe: changes happen one at a time.
// Bytes are exact: what is written is what was given, whatever line ends it has.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/backend/files/file_scan.h"
#include "pawl/adapter/backend/files/roots.h"
#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::size_t kRememberedFilesMax = 10'000;

class RootedFiles {
 public:
  using Scan = FileScan;

  // Holds the roots' descriptors. An Error names the root and what is wrong with it.
  static Result<std::shared_ptr<RootedFiles>> open(const FileRoots& roots);

  // Lines with numbers, two levels of a directory, or the description of an image.
  BackendOutcome view(const std::string& path, std::optional<ViewRange> range,
                      std::uint64_t output_bytes_max);
  // Makes directories on the way. Over an existing file it fails unless told to overwrite.
  BackendOutcome create_file(const FileWrite& write);
  // `old_str` must occur exactly once. A file that is not as view() last showed it is a conflict.
  BackendOutcome str_replace(const StrReplace& edit);

  // grep, glob, apply_patch, and pages of output that was kept in the artifact directory.
  BackendOutcome file_request(const FileRequest& request, std::uint64_t output_bytes_max);

  // An O_PATH descriptor of a directory beneath the roots; the caller closes it.
  Result<int> open_directory(const std::string& path);

  Scan scan() const;
  // The last scan, as long as nothing has changed since; otherwise a new one.
  std::shared_ptr<const Scan> look();
  // Which scan the last one was, if no name was made or changed since.
  std::optional<std::uint64_t> quiet_scan();
  // The next look() scans in any case: somebody lives whose changes may not be seen otherwise.
  void must_look() { trusted_ = false; }
  std::vector<FileRef> changed_since(const Scan& before) const;
  // Likewise between two scans; the later one also says which protected names there are.
  static std::vector<FileRef> changed_between(const Scan& before, const Scan& after) {
    return changes_between(before, after).files;
  }
  // Likewise, with a note when there was more than is listed.
  FileChangesSeen changes_since(const Scan& before) const;

 private:
  RootedFiles(Roots roots, std::optional<Roots> artifacts, Descriptor scratch)
      : roots_(std::move(roots)), artifacts_(std::move(artifacts)), scratch_(std::move(scratch)) {}

  void remember(const Place& place, const Digest& digest);
  bool is_stale(const Place& place, const Digest& digest) const;
  Result<FileRef> write(const FileWrite& write);
  Result<std::string> replace(const StrReplace& edit, FileRef& changed);

  BackendOutcome grep(const GrepQuery& query, std::uint64_t bytes_max) const;
  BackendOutcome glob(const GlobQuery& query, std::uint64_t bytes_max) const;
  BackendOutcome patch(const PatchText& patch);
  BackendOutcome page(const OutputPage& page, std::uint64_t bytes_max) const;

  const Roots roots_;
  const std::optional<Roots> artifacts_;  // one read root
  const Descriptor scratch_;              // for temporary files; may be none
  std::mutex changing_;                   // one change at a time
  std::mutex looking_;                    // of the next four
  std::uint64_t scans_ = 0;
  ChangeWatch watch_;
  std::shared_ptr<const Scan> last_;
  std::atomic<bool> trusted_ = false;
  mutable std::mutex memory_;  // of what was seen
  std::map<std::string, Digest> seen_;
  std::deque<std::string> seen_order_;
};

}  // namespace pawl::backend
