#include "pawl/adapter/host/output_writer.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "pawl/result.h"

namespace pawl {
namespace {

// A pipe takes as much at once, or none of it: progress is seen page by page.
constexpr std::size_t kChunkBytes = 4096;
constexpr std::int64_t kFlushPollMs = 50;

// True when it is worth trying again.
bool wait_until_writable(int fd) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd waiting{fd, POLLOUT, 0};
  return ::poll(&waiting, 1, -1) >= 0 || errno == EINTR;
}

// Bytes that lie in a pipe and were not read; 0 for everything that is not a pipe.
std::uint64_t unread_of(int fd) {
  struct stat about{};
  int count = 0;
  const bool is_pipe = ::fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode);
  if (!is_pipe || ::ioctl(fd, FIONREAD, &count) != 0 || count < 0) return 0;
  return static_cast<std::uint64_t>(count);
}

}  // namespace

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (!wait_until_writable(fd)) {
      return errno;
    }
  }
  return 0;
}

struct OutputWriter::State {
  struct Piece {
    int fd = -1;
    std::string text;
  };

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Piece> pieces;
  std::uint64_t queued = 0;
  std::uint64_t written = 0;
  int current = -1;           // the descriptor that is being written to
  std::map<int, int> faults;  // by descriptor: the error number that ended it
  std::function<void()> progress;
  enum class Asked : std::uint8_t { no, yes } asked = Asked::no;
  enum class Stopped : std::uint8_t { no, yes } stopped = Stopped::no;
  enum class Abandoned : std::uint8_t { no, yes } abandoned = Abandoned::no;

  int fault_of(int fd) const {
    const auto found = faults.find(fd);
    return found == faults.end() ? 0 : found->second;
  }

  void note_written(int fd, std::size_t bytes, int error) {
    const std::lock_guard lock(mutex);
    written += bytes;
    if (error != 0) faults[fd] = error;
    changed.notify_all();
    if (asked == Asked::yes && progress) progress();
    asked = Asked::no;
  }

  void write(const Piece& piece) {
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      const std::string_view chunk = rest.substr(0, kChunkBytes);
      const int error = write_all(piece.fd, chunk);
      // What cannot be written any more counts as written: nothing waits for it.
      const std::size_t done = error == 0 ? chunk.size() : rest.size();
      rest.remove_prefix(done);
      note_written(piece.fd, done, error);
    }
  }

  void work() {
    while (true) {
      Piece piece;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return stopped == Stopped::yes || !pieces.empty(); });
        if (stopped == Stopped::yes) return;
        piece = std::move(pieces.front());
        pieces.pop_front();
        current = piece.fd;
        if (fault_of(piece.fd) != 0) {
          written += piece.text.size();
          changed.notify_all();
          continue;
        }
      }
      write(piece);
    }
  }
};

OutputWriter::OutputWriter() : state_(std::make_shared<State>()) {
  // It takes none of the process's signals; SIGPIPE above all is an error code to it. It may hang
  // in write() for as long as the reader likes, so that nothing joins it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([state = state_] { state->work(); }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

OutputWriter::~OutputWriter() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = State::Stopped::yes;
  state_->progress = {};
  state_->changed.notify_all();
}

OutputWriter::Put OutputWriter::put(int fd, std::string text, std::size_t pending_max) {
  const std::lock_guard lock(state_->mutex);
  if (text.empty() || state_->fault_of(fd) != 0) return Put::queued;
  const std::uint64_t pending = state_->queued - state_->written;
  if (state_->abandoned == State::Abandoned::yes) return Put::dropped;
  if (pending + text.size() > pending_max) return Put::dropped;
  state_->queued += text.size();
  state_->pieces.push_back({fd, std::move(text)});
  state_->changed.notify_all();
  return Put::queued;
}

Backlog OutputWriter::backlog() {
  const std::lock_guard lock(state_->mutex);
  PAWL_ASSERT(state_->written <= state_->queued);
  state_->asked = State::Asked::yes;
  return {state_->queued, state_->written, state_->current < 0 ? 0 : unread_of(state_->current)};
}

bool OutputWriter::flush(std::int64_t patience_ms) {
  Backlog seen = backlog();
  auto since = std::chrono::steady_clock::now();
  while (seen.pending() > 0) {
    std::unique_lock lock(state_->mutex);
    if (state_->abandoned == State::Abandoned::yes) return false;
    state_->changed.wait_for(lock, std::chrono::milliseconds(kFlushPollMs));
    lock.unlock();
    const Backlog now = backlog();
    const auto at = std::chrono::steady_clock::now();
    if (now != seen) since = at;
    if (at - since >= std::chrono::milliseconds(patience_ms)) return false;
    seen = now;
  }
  return true;
}

void OutputWriter::abandon() {
  const std::lock_guard lock(state_->mutex);
  state_->abandoned = State::Abandoned::yes;
}

void OutputWriter::on_progress(std::function<void()> call) {
  const std::lock_guard lock(state_->mutex);
  state_->progress = std::move(call);
}

int OutputWriter::fault(int fd) const {
  const std::lock_guard lock(state_->mutex);
  return state_->fault_of(fd);
}

}  // namespace pawl
