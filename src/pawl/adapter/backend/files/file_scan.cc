#include "pawl/adapter/backend/files/file_scan.h"

#include <fcntl.h>

#include <algorithm>
#include <tuple>

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
  // Before it is read: a file of holes alone costs nothing to make, and as long as any to read.
  if (static_cast<std::uint64_t>(status.st_size) > budget) {
    return Error{ErrorCode::limit_exceeded, "too large"};
  }
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

bool is_root(const std::vector<Place>& roots, const Place& place) {
  return std::any_of(roots.begin(), roots.end(),
                     [&place](const Place& root) { return root.absolute == place.absolute; });
}

// False: there was more than a scan takes.
bool scan_root(const Roots& roots, FileScan& scan, std::size_t root, ChangeWatch& watch) {
  const Place& start = scan.roots[root];
  if (const auto directory = open_place(start, O_RDONLY | O_DIRECTORY, Links::beneath)) {
    watch.add(directory->number(), "");
  }
  const auto note = [&scan, &start, &roots, &watch, root](const WalkEntry& entry) {
    if (roots.may_end_name(entry.name) && scan.named.size() < kNamedMax) {
      std::string absolute = Roots::beneath(start, entry.relative).absolute;
      if (roots.is_name(absolute)) scan.named.push_back(std::move(absolute));
    }
    if (S_ISDIR(entry.status.st_mode)) {
      if (is_bulk_directory(entry.name)) return Visit::pass_by;
      // A root inside a root is scanned on its own.
      const bool own =
          scan.roots.size() > 1 && is_root(scan.roots, Roots::beneath(start, entry.relative));
      if (own) return Visit::pass_by;
      watch.add(entry.directory, entry.name);
      return Visit::go_on;
    }
    if (!S_ISREG(entry.status.st_mode)) return Visit::go_on;
    if (scan.files.size() >= kScannedMax) return Visit::stop;
    if (entry.status.st_nlink > 1) watch.add_file(entry.directory, entry.name);
    scan.files.push_back({root, entry.relative, stamp_of(entry.status)});
    return Visit::go_on;
  };
  const auto end = walk_tree(start, {}, note);
  return end && *end == WalkEnd::complete;
}

bool comes_before(const FileScan::Entry& left, const FileScan::Entry& right) {
  return std::tie(left.root, left.relative) < std::tie(right.root, right.relative);
}

// What a comparison has found so far, within its bounds.
class Comparison {
 public:
  void add(const Place& place) {
    if (seen_.files.size() >= kChangedFilesMax) {
      ++left_out_;
      return;
    }
    auto ref = hashed(place, budget_);
    if (ref) {
      seen_.files.push_back(*std::move(ref));
    } else if (ref.error().code == ErrorCode::limit_exceeded) {
      ++left_out_;
    }
  }

  FileChangesSeen finish(const FileScan& before, const FileScan& after) {
    if (left_out_ > 0) seen_.note = std::to_string(left_out_) + " more files were made or changed";
    if (before.complete && after.complete) return std::move(seen_);
    seen_.note += seen_.note.empty() ? "" : "; ";
    seen_.note += "more than " + std::to_string(kScannedMax) +
                  " files beneath the roots: not all of them were compared";
    return std::move(seen_);
  }

 private:
  FileChangesSeen seen_;
  std::uint64_t budget_ = kHashedBytesMax;
  std::size_t left_out_ = 0;
};

}  // namespace

FileScan scan_files(const Roots& roots, ChangeWatch& watch) {
  FileScan scan;
  watch.begin();
  scan.roots = roots.write_places();
  for (std::size_t root = 0; root < scan.roots.size(); ++root) {
    // The same directory twice would be scanned twice.
    const auto first = scan.roots.begin() + static_cast<std::ptrdiff_t>(root);
    if (!is_root({scan.roots.begin(), first}, *first) && !scan_root(roots, scan, root, watch)) {
      scan.complete = false;
    }
  }
  if (!scan.complete) watch.give_up();
  std::sort(scan.files.begin(), scan.files.end(), comes_before);
  return scan;
}

FileChangesSeen changes_between(const FileScan& before, const FileScan& after) {
  Comparison comparison;
  auto old = before.files.begin();
  for (const FileScan::Entry& entry : after.files) {
    while (old != before.files.end() && comes_before(*old, entry)) ++old;
    const bool known = old != before.files.end() && !comes_before(entry, *old);
    if (known && old->stamp == entry.stamp) continue;
    // In an incomplete scan a file that is missing may have been there all the time.
    if (!known && !before.complete) continue;
    comparison.add(Roots::beneath(after.roots[entry.root], entry.relative));
  }
  return comparison.finish(before, after);
}

}  // namespace pawl::backend
