#include "pawl/adapter/backend/files/change_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pawl::backend {
namespace {

constexpr unsigned kFileChanges = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_DONT_FOLLOW;
constexpr unsigned kChanges = kFileChanges | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                              IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR;
constexpr int kDrainsMax = 1024;  // of 4 KiB; the kernel's queue is shorter

// What has gone, or cannot be read by its owner, is no failure: its parent tells.
bool is_of_entry(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP;
}

}  // namespace

void ChangeWatch::begin() {
  if (state_ == State::given_up) return;
  if (!events_) events_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events_) return give_up();
  if (!drain()) {  // what was removed is not known any more: anew
    watches_.clear();
    events_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!events_) return give_up();
  }
  state_ = State::armed;
  touched_ = false;
}

void ChangeWatch::add(int parent, const std::string& name) {
  add(parent, name, kChanges);
}

void ChangeWatch::add_file(int parent, const std::string& name) {
  add(parent, name, kFileChanges);
}

void ChangeWatch::add(int parent, const std::string& name, unsigned changes) {
  if (state_ != State::armed) return;
  std::string path = "/proc/self/fd/" + std::to_string(parent);
  path += name.empty() ? "/." : "/" + name;
  const int watch = ::inotify_add_watch(events_.number(), path.c_str(), changes);
  if (watch < 0 && is_of_entry(errno)) return;
  if (watch >= 0) watches_.insert(watch);
  if (watch < 0 || watches_.size() > kChangeWatchesMax) give_up();
}

void ChangeWatch::give_up() {
  state_ = State::given_up;
  events_.reset();
  watches_.clear();
}

bool ChangeWatch::is_quiet() {
  if (state_ != State::armed) return false;
  if (!touched_) drain();
  return !touched_;
}

// False: the kernel's queue was too short.
bool ChangeWatch::drain() {
  alignas(inotify_event) std::array<char, 4096> chunk{};
  bool whole = true;
  for (int drains = 0; drains < kDrainsMax; ++drains) {
    const ssize_t count = ::read(events_.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    touched_ = true;
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      inotify_event event{};
      std::memcpy(&event, chunk.data() + at, sizeof event);
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) whole = false;
      if ((event.mask & IN_IGNORED) != 0) watches_.erase(event.wd);
    }
  }
  return whole;
}

}  // namespace pawl::backend
