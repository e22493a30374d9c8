// The part of RootedFiles behind file_request().
#include <fcntl.h>
#include <sys/fsuid.h>

#include <algorithm>

#include "pawl/adapter/backend/files/file_search.h"
#include "pawl/adapter/backend/files/outcome.h"
#include "pawl/adapter/backend/files/patch_files.h"
#include "pawl/adapter/backend/files/rooted_files.h"
#include "pawl/adapter/backend/files/shown_name.h"
#include "pawl/base/digest_name.h"

namespace pawl::backend {
namespace {

// Kept output is the host's own, also while this thread has taken on somebody else's rights.
class AsHost {
 public:
  AsHost() : user_(::setfsuid(::geteuid())), group_(::setfsgid(::getegid())) {}
  ~AsHost() {
    ::setfsgid(static_cast<gid_t>(group_));
    ::setfsuid(static_cast<uid_t>(user_));
  }
  AsHost(const AsHost&) = delete;
  AsHost& operator=(const AsHost&) = delete;

 private:
  int user_;  // as setfsuid() gives them back
  int group_;
};

struct Page {
  std::string bytes;
  std::uint64_t total = 0;
};

Result<Page> read_page(const Place& place, const std::string& name, std::uint64_t offset,
                       std::uint64_t length) {
  const AsHost as_host;
  PAWL_TRY(const Descriptor file, open_place(place, O_RDONLY | O_NOFOLLOW, Links::refused));
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return system_error(errno, shown_name(place.path));
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::not_found, "no such artifact"};
  PAWL_CHECK(check_digest_name(file.number(), name));
  Page page{std::string(static_cast<std::size_t>(length), '\0'),
            static_cast<std::uint64_t>(status.st_size)};
  std::size_t taken = 0;
  while (taken < page.bytes.size()) {
    const ssize_t count = ::pread(file.number(), page.bytes.data() + taken,
                                  page.bytes.size() - taken, static_cast<off_t>(offset + taken));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(errno, shown_name(place.path));
    if (count == 0) break;
    taken += static_cast<std::size_t>(count);
  }
  page.bytes.resize(taken);
  return page;
}

// A character that the end of the page cuts in two belongs to the next one.
void drop_cut_character(Page& page, std::uint64_t offset) {
  constexpr std::size_t kCharacterBytesMax = 4;
  if (offset + page.bytes.size() >= page.total) return;
  for (std::size_t back = 1; back <= std::min(kCharacterBytesMax, page.bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(page.bytes[page.bytes.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const std::size_t needed = byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : byte >= 0xC0U ? 2 : 1;
    if (needed > back && page.bytes.size() > back) page.bytes.resize(page.bytes.size() - back);
    return;
  }
}

}  // namespace

BackendOutcome RootedFiles::file_request(const FileRequest& request,
                                         std::uint64_t output_bytes_max) {
  struct Dispatch {
    RootedFiles& files;
    std::uint64_t bytes_max;

    BackendOutcome operator()(const GrepQuery& query) const { return files.grep(query, bytes_max); }
    BackendOutcome operator()(const GlobQuery& query) const { return files.glob(query, bytes_max); }
    BackendOutcome operator()(const PatchText& patch) const { return files.patch(patch); }
    BackendOutcome operator()(const OutputPage& page) const { return files.page(page, bytes_max); }
  };
  return std::visit(Dispatch{*this, output_bytes_max}, request);
}

BackendOutcome RootedFiles::grep(const GrepQuery& query, std::uint64_t bytes_max) const {
  const auto start = roots_.place(query.path, Access::read);
  return start ? grep_files(*start, query, bytes_max) : file_failure(start.error().message);
}

BackendOutcome RootedFiles::glob(const GlobQuery& query, std::uint64_t bytes_max) const {
  const auto start = roots_.place(query.path, Access::read);
  return start ? glob_files(*start, query, bytes_max) : file_failure(start.error().message);
}

BackendOutcome RootedFiles::patch(const PatchText& patch) {
  const std::lock_guard lock(changing_);
  auto patched = patch_files(roots_, patch.text, scratch_.number());
  if (!patched) return file_failure(patched.error().message + "; nothing was changed");
  for (const PatchedFile& file : *patched) {
    if (file.ref) remember(file.place, file.ref->sha256);
  }
  std::string text;
  BackendOutcome outcome;
  for (PatchedFile& file : *patched) {
    text += file.what + "\n";
    if (file.ref) outcome.files.push_back(*std::move(file.ref));
  }
  std::vector<FileRef> files = std::move(outcome.files);
  outcome = file_success(std::move(text));
  outcome.files = std::move(files);
  return outcome;
}

BackendOutcome RootedFiles::page(const OutputPage& page, std::uint64_t bytes_max) const {
  constexpr std::uint64_t kNoteBytes = 160;  // kept free for what stands behind the page
  if (!artifacts_) return file_failure("no output is kept here: there is no artifact directory");
  if (page.artifact.find('/') != std::string::npos || page.artifact.starts_with('.')) {
    return file_failure("artifact: the name that a result gave is needed, not a path");
  }
  const std::uint64_t room = bytes_max > 2 * kNoteBytes ? bytes_max - kNoteBytes : bytes_max / 2;
  const std::uint64_t length = page.length_max == 0 ? room : std::min(page.length_max, room);
  const auto place = artifacts_->place(page.artifact, Access::read);
  if (!place) return file_failure(place.error().message);
  if (page.offset > (1ULL << 62U)) return file_failure("offset: too large");
  auto read = read_page(*place, page.artifact, page.offset, length);
  if (!read) return file_failure("artifact " + page.artifact + ": " + read.error().message);
  drop_cut_character(*read, page.offset);
  const std::uint64_t end = page.offset + read->bytes.size();
  // Bytes that are not UTF-8 grow when they are replaced.
  std::string text(cut_utf8(to_valid_utf8(read->bytes), static_cast<std::size_t>(room)));
  text += "\n[bytes " + std::to_string(page.offset) + " to " + std::to_string(end) + " of " +
          std::to_string(read->total);
  text += end < read->total ? "; go on with offset " + std::to_string(end) + "]" : "; the end]";
  return file_success(std::move(text));
}

}  // namespace pawl::backend
