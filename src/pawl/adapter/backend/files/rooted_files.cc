#include "pawl/adapter/backend/files/rooted_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "pawl/adapter/backend/files/file_changes.h"
#include "pawl/adapter/backend/files/file_view.h"
#include "pawl/adapter/backend/files/line_index.h"
#include "pawl/adapter/backend/files/outcome.h"
#include "pawl/adapter/backend/files/shown_name.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kMatchesShownMax = 20;
constexpr std::size_t kMatchesCountedMax = 100;
constexpr std::size_t kSnippetLines = 4;  // around an edit
constexpr std::size_t kSnippetBytesMax = 8U << 10U;

struct Matches {
  std::size_t count = 0;           // up to kMatchesCountedMax
  std::vector<std::size_t> first;  // where they begin, as many as are shown
};

// Also where occurrences overlap: none of them may be chosen for the caller. memmem() is linear
// whatever the texts are, and std::string::find() is not.
Matches matches_of(const std::string& text, const std::string& part) {
  Matches found;
  for (std::size_t at = 0; found.count < kMatchesCountedMax; ++at) {
    const void* const match =
        ::memmem(text.data() + at, text.size() - at, part.data(), part.size());
    if (match == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const char*>(match) - text.data());
    if (++found.count <= kMatchesShownMax) found.first.push_back(at);
  }
  return found;
}

std::string not_unique(const std::string& text, const Matches& found) {
  const LineIndex lines(text);
  std::string message = std::string("string_not_unique: old_str occurs ") +
                        (found.count == kMatchesCountedMax ? "at least " : "") +
                        std::to_string(found.count) + " times, in lines";
  for (std::size_t i = 0; i < found.first.size(); ++i) {
    message += (i == 0 ? " " : ", ") + std::to_string(lines.line_at(found.first[i]) + 1);
  }
  if (found.count > found.first.size()) message += ", …";
  return message + "; add lines around it until it is unique";
}

std::string snippet(const std::string& text, std::size_t offset, std::size_t length) {
  const LineIndex lines(text);
  if (lines.size() == 0) return {};
  const std::size_t first_changed = lines.line_at(offset);
  const std::size_t first = first_changed - std::min(first_changed, kSnippetLines);
  const std::size_t last =
      std::min(lines.line_at(offset + length) + kSnippetLines, lines.size() - 1);
  std::string out;
  for (std::size_t at = first; at <= last && out.size() < kSnippetBytesMax; ++at) {
    append_numbered(out, at + 1, to_valid_utf8(lines[at].substr(0, kSnippetBytesMax)));
  }
  return std::string(cut_utf8(out, kSnippetBytesMax));
}

Result<struct stat> status_of(const Place& place) {
  PAWL_TRY(const Descriptor file, open_place(place, O_PATH | O_NOFOLLOW, Links::refused));
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return system_error(errno, shown_name(place.path));
  return status;
}

// Without one, temporary files lie beside their targets.
Descriptor open_scratch(const FileRoots& roots) {
  if (roots.scratch_directory.empty()) return {};
  std::error_code none;
  std::filesystem::create_directories(roots.scratch_directory, none);
  ::chmod(roots.scratch_directory.c_str(), S_IRWXU);
  return Descriptor(
      ::open(roots.scratch_directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

Result<std::shared_ptr<RootedFiles>> RootedFiles::open(const FileRoots& roots) {
  PAWL_TRY(Roots opened, Roots::open(roots));
  std::optional<Roots> artifacts;
  if (const std::string& kept = roots.artifact_directory; !kept.empty()) {
    PAWL_TRY(artifacts, Roots::open({kept, {}, {kept}, {}, {}}));
  }
  return std::shared_ptr<RootedFiles>(
      new RootedFiles(std::move(opened), std::move(artifacts), open_scratch(roots)));
}

void RootedFiles::remember(const Place& place, const Digest& digest) {
  const std::lock_guard lock(memory_);
  if (seen_.insert_or_assign(place.absolute, digest).second) seen_order_.push_back(place.absolute);
  if (seen_order_.size() <= kRememberedFilesMax) return;
  seen_.erase(seen_order_.front());
  seen_order_.pop_front();
}

bool RootedFiles::is_stale(const Place& place, const Digest& digest) const {
  const std::lock_guard lock(memory_);
  const auto found = seen_.find(place.absolute);
  return found != seen_.end() && found->second != digest;
}

BackendOutcome RootedFiles::view(const std::string& path, std::optional<ViewRange> range,
                                 std::uint64_t output_bytes_max) {
  const auto place = roots_.place(path, Access::read);
  if (!place) return file_failure(place.error().message);
  const auto file = open_place(*place, O_RDONLY, Links::beneath);
  if (!file) return file_failure(file.error().message);
  struct stat status{};
  if (::fstat(file->number(), &status) == 0 && S_ISDIR(status.st_mode)) {
    if (range) return file_failure(shown_name(path) + " is a directory: view_range is for files");
    return view_directory(*place, output_bytes_max);
  }
  const auto content = read_open_file(file->number(), place->path, kViewedBytesMax);
  if (!content) return file_failure(content.error().message);
  remember(*place, sha256(content->bytes));
  return view_bytes(*place, content->bytes, range, output_bytes_max);
}

Result<FileRef> RootedFiles::write(const FileWrite& write) {
  if (write.text.size() > kFileBytesMax) {
    return Error{ErrorCode::limit_exceeded,
                 "file_text is larger than " + std::to_string(kFileBytesMax) + " bytes"};
  }
  PAWL_TRY(const Place place, roots_.place(write.path, Access::write));
  const std::lock_guard lock(changing_);
  FileChanges changes(scratch_.number());
  const auto old = status_of(place);
  if (old && write.overwrite == FileWrite::Overwrite::no) {
    return Error{ErrorCode::conflict,
                 shown_name(place.path) + " exists already; use str_replace, or overwrite: true"};
  }
  if (!old && old.error().code != ErrorCode::not_found) return old.error();
  PAWL_CHECK(old ? changes.replace(place, write.text, *old) : changes.add(place, write.text));
  PAWL_CHECK(changes.commit());
  FileRef made{shown_name(place.path), write.text.size(), sha256(write.text)};
  remember(place, made.sha256);
  return made;
}

BackendOutcome RootedFiles::create_file(const FileWrite& file) {
  auto made = write(file);
  if (!made) return file_failure(made.error().message);
  BackendOutcome outcome =
      file_success("wrote " + made->path + ", " + std::to_string(made->size) + " bytes");
  outcome.files.push_back(*std::move(made));
  return outcome;
}

Result<std::string> RootedFiles::replace(const StrReplace& edit, FileRef& changed) {
  PAWL_TRY(const Place place, roots_.place(edit.path, Access::write));
  if (edit.old_str.empty()) {
    return Error{ErrorCode::invalid_argument, "old_str is empty: nothing can be found by it"};
  }
  const std::lock_guard lock(changing_);
  PAWL_TRY(FileContent content, read_regular(place, Links::refused));
  PAWL_CHECK(check_replaceable(content.status, place.path));
  if (is_stale(place, sha256(content.bytes))) {
    return Error{ErrorCode::conflict,
                 shown_name(place.path) + " has changed since you last saw it; view it again"};
  }
  const Matches found = matches_of(content.bytes, edit.old_str);
  if (found.count == 0) {
    return Error{ErrorCode::not_found, "string_not_found: old_str occurs 0 times in " +
                                           shown_name(place.path) +
                                           "; it must match exactly, with spaces and line ends"};
  }
  if (found.count > 1) {
    return Error{ErrorCode::invalid_argument, not_unique(content.bytes, found)};
  }
  content.bytes.replace(found.first.front(), edit.old_str.size(), edit.new_str);
  FileChanges changes(scratch_.number());
  PAWL_CHECK(changes.replace(place, content.bytes, content.status));
  PAWL_CHECK(changes.commit());
  changed = {shown_name(place.path), content.bytes.size(), sha256(content.bytes)};
  remember(place, changed.sha256);
  return "edited " + changed.path + ":\n" +
         snippet(content.bytes, found.first.front(), edit.new_str.size());
}

BackendOutcome RootedFiles::str_replace(const StrReplace& edit) {
  FileRef changed;
  auto text = replace(edit, changed);
  if (!text) return file_failure(std::move(text).error().message);
  BackendOutcome outcome = file_success(*std::move(text));
  outcome.files.push_back(std::move(changed));
  return outcome;
}

Result<int> RootedFiles::open_directory(const std::string& path) {
  PAWL_TRY(const Place place, roots_.place(path, Access::read));
  PAWL_TRY(Descriptor directory, open_place(place, O_PATH | O_DIRECTORY, Links::beneath));
  return directory.release();
}

RootedFiles::Scan RootedFiles::scan() const {
  ChangeWatch unused;
  unused.give_up();
  return scan_files(roots_, unused);
}

std::shared_ptr<const RootedFiles::Scan> RootedFiles::look() {
  const std::lock_guard lock(looking_);
  const bool trusted = trusted_.exchange(true);
  if (!trusted || !last_ || !watch_.is_quiet()) {
    last_ = std::make_shared<const Scan>(scan_files(roots_, watch_));
    ++scans_;
  }
  return last_;
}

std::optional<std::uint64_t> RootedFiles::quiet_scan() {
  const std::lock_guard lock(looking_);
  return last_ && watch_.is_quiet() ? std::optional(scans_) : std::nullopt;
}

FileChangesSeen RootedFiles::changes_since(const Scan& before) const {
  return changes_between(before, scan());
}

std::vector<FileRef> RootedFiles::changed_since(const Scan& before) const {
  return changes_since(before).files;
}

}  // namespace pawl::backend
