#include "pawl/adapter/backend/session/place_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pawl::backend {
namespace {

constexpr unsigned kAppears = IN_CREATE | IN_MOVED_TO;
constexpr unsigned kInteresting = kAppears | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE |
                                  IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;
constexpr int kReadsMax = 1024;  // of 4 KiB; the kernel's queue is shorter

}  // namespace

PlaceWatch::PlaceWatch() : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), blind_(!events_) {}

void PlaceWatch::add_directory(const std::string& path) {
  if (blind_) return;
  const int watch = directories_.size() < kWatchedDirectoriesMax
                        ? ::inotify_add_watch(events_.number(), path.c_str(), kInteresting)
                        : -1;
  if (watch < 0) {
    blind_ = true;
    events_.reset();
    return;
  }
  directories_[watch] = path;
}

void PlaceWatch::take(const std::string& directory, const std::string& name, unsigned mask) {
  if ((mask & (IN_MOVE_SELF | IN_DELETE_SELF)) != 0) news_ = true;
  if (names_.count(name) == 0) return;
  const std::string path = directory + "/" + name;
  if ((mask & IN_CLOSE_WRITE) != 0) {
    const auto known = fates_.find(path);
    if (known != fates_.end()) known->second = Fate::written;
    return;
  }
  news_ = true;
  if ((mask & kAppears) == 0) {
    const auto [fate, first] = fates_.try_emplace(path, Fate::gone);
    if (!first && fate->second != Fate::gone) fate->second = Fate::removed;
    return;
  }
  // The first replacement is the host's. What appears after it, or where the name was gone, can be
  // a command's: a link, say, or a file that is renamed, neither of which is written there.
  const auto [fate, first] = fates_.try_emplace(path, Fate::replaced);
  if (!first) fate->second = Fate::written;
}

bool PlaceWatch::has_news() {
  if (blind_) return true;
  alignas(inotify_event) std::array<char, 4096> chunk{};
  for (int reads = 0; reads < kReadsMax; ++reads) {
    const ssize_t count = ::read(events_.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      inotify_event event{};
      std::memcpy(&event, chunk.data() + at, sizeof event);
      const char* name = chunk.data() + at + sizeof event;
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) news_ = overflown_ = true;
      const auto directory = directories_.find(event.wd);
      if (directory == directories_.end()) continue;
      take(directory->second, event.len > 0 ? std::string(name) : std::string(), event.mask);
    }
  }
  return news_;
}

bool PlaceWatch::was_written(const std::string& path) const {
  const auto known = fates_.find(path);
  return blind_ || overflown_ || (known != fates_.end() && known->second == Fate::written);
}

bool PlaceWatch::was_removed(const std::string& path) const {
  const auto known = fates_.find(path);
  return blind_ || overflown_ || (known != fates_.end() && known->second == Fate::removed);
}

}  // namespace pawl::backend
