#include "pawl/adapter/backend/files/file_scan.h"

#include <fcntl.h>

#include "pawl/adapter/backend/files/shown_name.h"
#include "pawl/adapter/backend/files/tree_walk.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kReadBytes = 256U << 10U;

// Takes what it reads from `budget`. An Error: vanished, or too large.
Result<FileRef> hashed(const Place& place, std::uint64_t& budget) {
  PAWL_TRY(const Descriptor file, open_place(place, O_RDONLY | O_NOFOLLOW, Links::refused));
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return system_error(errno, place.path);
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::not_found, "no longer a regular file"};
  FileRef ref{shown_name(place.path), 0, {}};
  Sha256 hash;
  std::string piece(kReadBytes, '\0');
  while (true) {
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(errno, place.path);
    if (count == 0) break;
    const auto bytes = static_cast<std::uint64_t>(count);
    if (bytes > budget) return Error{ErrorCode::limit_exceeded, "too large"};
    budget -= bytes;
    ref.size += bytes;
    hash.add(std::string_view(piece.data(), bytes));
  }
  ref.sha256 = hash.finish();
  return ref;
}

}  // namespace

FileScan scan_files(const Roots& roots) {
  FileScan scan;
  for (const Place& root : roots.write_places()) {
    const auto note = [&scan, &root](const WalkEntry& entry) {
      if (S_ISDIR(entry.status.st_mode)) {
        return is_bulk_directory(entry.name) ? Visit::pass_by : Visit::go_on;
      }
      if (!S_ISREG(entry.status.st_mode)) return Visit::go_on;
      if (scan.files.size() >= kScannedMax) return Visit::stop;
      Place place = Roots::beneath(root, entry.relative);
      std::string key = place.absolute;
      scan.files.insert_or_assign(std::move(key),
                                  FileScan::Entry{std::move(place), stamp_of(entry.status)});
      return Visit::go_on;
    };
    const auto end = walk_tree(root, {}, note);
    if (!end || *end != WalkEnd::complete) scan.complete = false;
  }
  return scan;
}

FileChangesSeen changes_between(const FileScan& before, const FileScan& after) {
  FileChangesSeen seen;
  std::uint64_t budget = kHashedBytesMax;
  std::size_t left_out = 0;
  for (const auto& [path, entry] : after.files) {
    const auto old = before.files.find(path);
    if (old != before.files.end() && old->second.stamp == entry.stamp) continue;
    // In an incomplete scan a file that is missing may have been there all the time.
    if (old == before.files.end() && !before.complete) continue;
    if (seen.files.size() >= kChangedFilesMax) {
      ++left_out;
      continue;
    }
    auto ref = hashed(entry.place, budget);
    if (ref) {
      seen.files.push_back(*std::move(ref));
    } else if (ref.error().code == ErrorCode::limit_exceeded) {
      ++left_out;
    }
  }
  if (left_out > 0) seen.note = std::to_string(left_out) + " more files were made or changed";
  if (!before.complete || !after.complete) {
    seen.note += seen.note.empty() ? "" : "; ";
    seen.note += "more than " + std::to_string(kScannedMax) +
                 " files beneath the roots: not all of them were compared";
  }
  return seen;
}

}  // namespace pawl::backend
