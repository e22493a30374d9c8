#include "pawl/adapter/trust/trust_store.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <set>

#include "pawl/base/describe_errno.h"
#include "pawl/base/files.h"
#include "pawl/base/sealed_text.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwnersOnly = 0600;

Error cannot(const std::string& what, const std::string& path) {
  return {ErrorCode::unavailable, "cannot " + what + " " + path + ": " + describe_errno(errno) +
                                      " (Pawl notes there what sessions could write)"};
}

constexpr std::string_view kNotWhole = "its digest is another one, it is damaged";

Error damaged(const std::string& path, std::string_view why) {
  return {ErrorCode::invalid_argument,
          path + ": " + std::string(why) +
              "; look at your charters, policies and scripts, then remove the file"};
}

Status sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.number()) != 0) return cannot("sync", path);
  return ok();
}

// Whole or not at all.
Status replace_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());  // of a process that was killed
  PAWL_CHECK(write_new_file(fresh, text));
  if (::rename(fresh.c_str(), path.c_str()) != 0) return cannot("replace", path);
  return sync_directory(fs::path(path).parent_path().string());
}

std::string new_name() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) name += std::to_string(random()) + "-";
  return name + std::to_string(::getpid());
}

std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code none;
  for (fs::directory_iterator at(directory, none), end; !none && at != end; at.increment(none)) {
    names.push_back(at->path().filename().string());
  }
  return names;
}

}  // namespace

bool TrustStore::exists() const {
  std::error_code none;
  return fs::exists(directory_ + "/book.jsonl", none) || fs::exists(directory_ + "/live", none);
}

Result<Descriptor> TrustStore::lock() const {
  PAWL_CHECK(make_private_directory(directory_));
  for (const char* part : {"/live", "/texts"}) {
    PAWL_CHECK(make_private_directory(directory_ + part));
  }
  const std::string path = directory_ + "/lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnersOnly));
  if (!file) return cannot("open", path);
  constexpr int kLookEveryMs = 5;
  for (int waited = 0; ::flock(file.number(), LOCK_EX | LOCK_NB) != 0; waited += kLookEveryMs) {
    if (waited >= kTrustLockWaitMs) return cannot("lock", path);
    ::poll(nullptr, 0, kLookEveryMs);
  }
  return file;
}

Result<TrustBook> TrustStore::load() const {
  const std::string path = directory_ + "/book.jsonl";
  const auto text = read_regular_file(path, kTrustBookBytesMax);
  if (!text && text.error().code == ErrorCode::not_found) return TrustBook();
  if (!text) return text.error();
  const auto said = unsealed(*text);
  if (!said) return damaged(path, kNotWhole);
  auto book = read_trust_book(*said);
  if (book) return book;
  return damaged(path, book.error().message);
}

Status TrustStore::save(const TrustBook& book) const {
  PAWL_CHECK(replace_file(directory_ + "/book.jsonl", sealed(to_text(book))));
  forget_texts(book);
  return ok();
}

Result<LiveNote> TrustStore::add_live(const SessionNote& note) const {
  const std::string directory = directory_ + "/live";
  if (entries_of(directory).size() >= kLiveNotesMax) {
    return Error{ErrorCode::limit_exceeded, "at most " + std::to_string(kLiveNotesMax) +
                                                " sessions may live; see " + directory};
  }
  LiveNote live{directory + "/" + new_name(), {}};
  PAWL_CHECK(write_new_file(live.path, sealed(to_text(note))));
  live.held = Descriptor(::open(live.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!live.held || ::flock(live.held.number(), LOCK_EX | LOCK_NB) != 0) {
    return cannot("lock", live.path);
  }
  PAWL_CHECK(sync_directory(directory));
  return live;
}

Result<std::vector<TrustStore::Found>> TrustStore::live() const {
  std::vector<Found> all;
  const std::string directory = directory_ + "/live";
  for (const std::string& name : entries_of(directory)) {
    const std::string path = directory + "/" + name;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    const auto text = read_regular_file(path, kTrustBookBytesMax);
    if (!file || !text) return cannot("read", path);
    const bool gone = ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
    const auto said = unsealed(*text);
    if (!said) return damaged(path, kNotWhole);
    auto note = read_session_note(*said);
    if (!note) return damaged(path, note.error().message);
    all.push_back({path, *std::move(note), gone ? Found::Owner::gone : Found::Owner::lives});
  }
  return all;
}

void TrustStore::remove_live(const std::string& path) const {
  ::unlink(path.c_str());
}

void TrustStore::keep_text(const Digest& digest, const std::string& text) const {
  if (text.empty() || text.size() > kTrustedTextBytesMax) return;
  const std::string path = directory_ + "/texts/" + to_hex(digest);
  std::error_code none;
  if (!fs::exists(path, none)) static_cast<void>(replace_file(path, text));
}

std::optional<std::string> TrustStore::text_of(const Digest& digest) const {
  auto text = read_regular_file(directory_ + "/texts/" + to_hex(digest), kTrustedTextBytesMax);
  if (!text || sha256(*text) != digest) return std::nullopt;
  return *std::move(text);
}

void TrustStore::forget_texts(const TrustBook& book) const {
  std::set<std::string> needed;
  for (const TrustedFile& file : book.files) needed.insert(to_hex(file.digest));
  for (const std::string& name : entries_of(directory_ + "/texts")) {
    if (!needed.contains(name)) ::unlink((directory_ + "/texts/" + name).c_str());
  }
}

}  // namespace pawl
