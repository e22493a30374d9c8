#include "pawl/adapter/backend/git/session_record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/sealed_text.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

constexpr char kRoot = 'r';
constexpr char kWorkTree = 'w';

std::string record_text(const SessionRecord& record) {
  std::string text;
  for (const std::string& path : record.roots) text += kRoot + path + '\0';
  for (const std::string& path : record.work_trees) text += kWorkTree + path + '\0';
  return text;
}

SessionRecord parse_record(std::string_view text) {
  SessionRecord record;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(kRoot)) record.roots.emplace_back(line.substr(1));
    if (line.starts_with(kWorkTree)) record.work_trees.emplace_back(line.substr(1));
  }
  return record;
}

}  // namespace

Result<KeptRecord> KeptRecord::make(const std::string& git_directory) {
  const std::string place = git_directory + "/sessions";
  for (const std::string& made : {git_directory, place}) {
    if (::mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    return Error{ErrorCode::unavailable, made + ": " + describe_errno(errno)};
  }
  KeptRecord record;
  record.path_ = place + "/XXXXXX";
  record.file_.reset(::mkostemp(record.path_.data(), O_CLOEXEC));
  if (!record.file_ || ::flock(record.file_.number(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::unavailable, record.path_ + ": " + describe_errno(errno)};
  }
  return record;
}

Status KeptRecord::write(const SessionRecord& record) const {
  const std::string text = sealed(record_text(record));
  const bool written =
      ::pwrite(file_.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::ftruncate(file_.number(), static_cast<off_t>(text.size())) == 0;
  if (written) return ok();
  return Error{ErrorCode::unavailable, path_ + ": " + describe_errno(errno)};
}

void KeptRecord::remove() {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

LeftRecords take_left_records(const std::string& git_directory) {
  LeftRecords left;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(git_directory + "/sessions", none)) {
    const std::string path = entry.path().string();
    const Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!file || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    const auto text = read_plain_file(path, kRecordBytesMax);
    const auto whole = text ? unsealed(*text) : std::nullopt;
    const bool never_written = text && text->empty();
    if (whole && left.records.size() < kRecordsMax) {
      left.records.push_back(parse_record(*whole));
    } else if (!never_written) {
      left.damaged.push_back(path);
    }
    ::unlink(path.c_str());
  }
  return left;
}

}  // namespace pawl::git
