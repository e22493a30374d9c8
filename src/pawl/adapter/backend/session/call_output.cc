#include "pawl/adapter/backend/session/call_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "pawl/base/describe_errno.h"
#include "pawl/base/digest_name.h"
#include "pawl/base/disk_space.h"

namespace pawl::backend {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();
constexpr std::chrono::seconds kStoreLookAge{10};
constexpr std::size_t kStoresMax = 64;

std::uint64_t left_of(std::uint64_t bound, std::uint64_t used) {
  return bound - std::min(bound, used);
}

std::string mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
  return bytes % kMebibyte == 0 ? std::to_string(bytes / kMebibyte) + " MiB"
                                : std::to_string(bytes) + " bytes";
}

// Beyond the reserve.
std::uint64_t disk_left(const std::string& directory) {
  const auto disk = disk_space_of(directory);
  return disk ? left_of(disk->free_bytes, disk_reserve(disk->whole_bytes)) : 0;
}

// A store of many runs is not counted again for each block of each call: what this process has
// written since is added to the last count, and other processes are noticed with the next one.
class StoreCounts {
 public:
  std::uint64_t used(const std::string& store) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (counts_.size() >= kStoresMax) counts_.clear();
    const auto [found, fresh] = counts_.try_emplace(store);
    Count& count = found->second;
    if (fresh || now - count.at > kStoreLookAge) count = {bytes_kept_in(store, 2), now};
    return count.bytes;
  }
  void add(const std::string& store, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(store);
    if (found == counts_.end()) return;
    found->second.bytes += std::min(bytes, kUnbounded - found->second.bytes);
  }

 private:
  struct Count {
    std::uint64_t bytes = 0;
    std::chrono::steady_clock::time_point at = {};
  };
  std::mutex mutex_;
  std::map<std::string, Count> counts_;
};

StoreCounts& store_counts() {
  static StoreCounts counts;
  return counts;
}

std::string store_of(const std::string& directory) {
  return std::filesystem::path(directory).parent_path().string();
}

std::uint64_t count_files(const std::string& directory, int levels, std::size_t& entries) {
  std::uint64_t bytes = 0;
  std::error_code fault;
  std::filesystem::directory_iterator at(directory, fault);
  for (; !fault && at != std::filesystem::directory_iterator(); at.increment(fault)) {
    if (++entries > kKeptEntriesMax) return kUnbounded;
    std::error_code none;  // It may be gone by now.
    const auto status = at->symlink_status(none);
    if (std::filesystem::is_directory(status) && levels > 1) {
      const std::uint64_t inside = count_files(at->path().string(), levels - 1, entries);
      if (inside == kUnbounded) return kUnbounded;
      bytes += inside;
    } else if (std::filesystem::is_regular_file(status)) {
      const std::uint64_t size = at->file_size(none);
      if (!none) bytes += size;
    }
  }
  return bytes;
}

}  // namespace

CallOutput::CallOutput(std::uint64_t bytes_max, std::string artifact_directory, KeptBounds bounds,
                       std::shared_ptr<const ByteFilter> filter)
    : bytes_max_(bytes_max),
      directory_(std::move(artifact_directory)),
      filter_(std::move(filter)),
      capture_(bytes_max, filter_),
      space_(directory_, bounds) {}

void CallOutput::append(std::string_view bytes) {
  if (stage_ == Stage::fits && capture_.bytes_total() + bytes.size() > bytes_max_) overflow();
  if (stream_) {
    take(stream_->feed(bytes));
  } else {
    take(bytes);
  }
}

// What came before is still in memory as a whole: it begins once more, filtered, so that no value
// is cut in two where the output is, and none gets into the file.
void CallOutput::overflow() {
  stage_ = Stage::too_long;
  const std::string before = capture_.head();
  if (!directory_.empty()) open_artifact();
  capture_ = tool_command::OutputCapture(bytes_max_);
  if (filter_) stream_ = filter_->stream();
  append(before);
}

void CallOutput::take(std::string_view bytes) {
  capture_.append(bytes);
  if (file_) keep(bytes);
}

void CallOutput::keep(std::string_view bytes) {
  if (!space_.reason().empty()) return;
  std::string_view rest = bytes.substr(0, space_.take(bytes.size()));
  while (!rest.empty()) {
    const ssize_t count = ::write(file_.number(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return space_.close("the data disk: " + describe_errno(errno));
    written_ += static_cast<std::uint64_t>(count);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

void CallOutput::open_artifact() {
  std::string path = directory_ + "/output-XXXXXX";
  file_.reset(::mkostemp(path.data(), O_CLOEXEC));
  if (!file_) return space_.close("the data disk: " + describe_errno(errno));
  path_ = std::move(path);
}

// Whoever reads it later compares its bytes with its name.
void CallOutput::name_artifact() {
  if (path_.empty()) return;
  const Descriptor file = std::move(file_);
  const std::string before = std::exchange(path_, {});
  const auto digest = digest_of_file(file.number());
  if (digest && written_ > 0) {
    std::string named = directory_ + "/" + digest_name("output-", *digest);
    if (::rename(before.c_str(), named.c_str()) == 0) {
      path_ = std::move(named);
      return;
    }
  }
  ::unlink(before.c_str());
  if (written_ > 0) space_.close("the data disk: it cannot be read back");
  written_ = 0;
}

std::string CallOutput::describe_cut() const {
  if (space_.reason().empty()) return "";
  return "[Of " + std::to_string(capture_.bytes_total()) + " bytes of output the first " +
         std::to_string(written_) + " are kept: " + space_.reason() + ".]\n";
}

void CallOutput::finish(BackendOutcome& outcome, std::string_view note) {
  if (stream_) take(std::exchange(stream_, nullptr)->finish());
  name_artifact();
  outcome.output_length = capture_.bytes_total();
  std::string before = std::string(note) + describe_cut();
  if (before.size() > bytes_max_) before.clear();
  outcome.output = before + capture_.render(bytes_max_ - before.size()).text;
  outcome.artifact = path_;
}

// --- What may be kept ---------------------------------------------------------------------------

// A tenth of a small disk would not hold the log of a store between two checkpoints.
std::uint64_t disk_reserve(std::uint64_t disk_bytes) {
  const std::uint64_t least = std::min(disk_bytes / 2, kDiskReserveBytesMin);
  return std::clamp(disk_bytes / 10, least, kDiskReserveBytesMax);
}

std::uint64_t bytes_kept_in(const std::string& directory, int levels) {
  std::size_t entries = 0;
  return count_files(directory, levels, entries);
}

void KeptSpace::bound(std::uint64_t left, const std::string& reason) {
  if (taken_ + left >= granted_) return;
  granted_ = taken_ + left;
  next_reason_ = reason;
}

void KeptSpace::look() {
  granted_ = taken_ + kKeptBlockBytes;
  next_reason_.clear();
  bound(left_of(kKeptCallBytesMax, taken_),
        "one call keeps at most " + mebibytes(kKeptCallBytesMax));
  bound(
      left_of(bounds_.run_bytes, bytes_kept_in(directory_, 1)),
      "a run keeps at most " + mebibytes(bounds_.run_bytes) + " (`kept` in the charter's sandbox)");
  bound(left_of(bounds_.store_bytes, store_counts().used(store_of(directory_))),
        "all runs together keep at most " + mebibytes(bounds_.store_bytes) +
            " (`kept_output` in the configuration; pawl gc --artifacts makes room)");
  bound(disk_left(directory_), "the disk has too little space left");
}

std::uint64_t KeptSpace::take(std::uint64_t wanted) {
  std::uint64_t given = 0;
  while (given < wanted) {
    if (taken_ == granted_ && next_reason_.empty()) look();
    const std::uint64_t step = std::min(wanted - given, granted_ - taken_);
    if (step == 0) break;  // the bound that was in sight is reached
    taken_ += step;
    given += step;
    store_counts().add(store_of(directory_), step);
  }
  if (given < wanted) reason_ = next_reason_;
  return given;
}

}  // namespace pawl::backend
