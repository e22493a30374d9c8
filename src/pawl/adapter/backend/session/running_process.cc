#include "pawl/adapter/backend/session/running_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include "pawl/adapter/backend/command/guardian.h"

namespace pawl::backend {
namespace {

constexpr int kHuntsMax = 5;  // of kKillTimeMaxMs each

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = std::size_t{64} << 10U;
constexpr int kChunksPerTurnMax = 16;  // so that a torrent of output does not hide the deadline
constexpr int kDrainChunksMax = 32;    // more than a pipe can hold

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// From 3 on, so that the child can move them into place without overwriting one it still needs.
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::unavailable, "no pipe (raise the limit on open files)"};
  }
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  for (Descriptor* end : {&pipe.read, &pipe.write}) {
    if (end->number() > 2) continue;
    end->reset(::fcntl(end->number(), F_DUPFD_CLOEXEC, 3));
    if (!*end) return Error{ErrorCode::unavailable, "no pipe (raise the limit on open files)"};
  }
  return pipe;
}

void make_nonblocking(const Descriptor& fd) {
  ::fcntl(fd.number(), F_SETFL, ::fcntl(fd.number(), F_GETFL) | O_NONBLOCK);
}

int until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

// As "12 13 "; what cannot be asked for is something.
std::string children_of(pid_t process, pid_t thread) {
  const std::string path =
      "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/children";
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t count = file ? ::read(file.number(), text.data(), text.size()) : -1;
  return count < 0 ? "?" : std::string(text.data(), static_cast<std::size_t>(count));
}

}  // namespace

Result<std::unique_ptr<RunningProcess>> RunningProcess::start(
    std::shared_ptr<sandbox::Confinement> place, sandbox::ProcessStart start) {
  PAWL_TRY(Pipe input, make_pipe());
  PAWL_TRY(Pipe output, make_pipe());
  std::unique_ptr<RunningProcess> made(
      new RunningProcess(std::move(place), tool_command::make_tree_mark()));
  start.input = input.read.number();
  start.output = start.errors = output.write.number();
  if (made->place_->plan().level != IsolationLevel::namespaces) {
    PAWL_CHECK(tool_command::ensure_guardian());
    start.mark = made->mark_.limit;
    start.environment.push_back(std::string(tool_command::kMarkVariable) + "=" + made->mark_.text);
  }
  made->reaped_ = true;  // nothing to kill yet
  PAWL_TRY(made->process_, made->place_->start(start));
  made->reaped_ = false;
  made->input_ = std::move(input.write);
  made->output_ = std::move(output.read);
  make_nonblocking(made->input_);
  make_nonblocking(made->output_);
  return made;
}

bool RunningProcess::has_ended() const {
  pollfd ended{process_.handle.number(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

// A command need not read its input: a closed pipe is the end of it, not an error.
bool RunningProcess::send(std::string_view& input) {
  const ssize_t count = ::write(input_.number(), input.data(), std::min(input.size(), kChunkBytes));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count < 0) return false;
  input.remove_prefix(static_cast<std::size_t>(count));
  return true;
}

RunningProcess::Flow RunningProcess::receive(const Consumer& consume, int chunks_max) {
  static thread_local std::unique_ptr<std::array<char, kChunkBytes>> chunk =
      std::make_unique<std::array<char, kChunkBytes>>();
  for (int i = 0; output_ && i < chunks_max; ++i) {
    const ssize_t count = ::read(output_.number(), chunk->data(), chunk->size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return Flow::open;
    if (count <= 0) {
      output_.reset();
      break;
    }
    if (consume({chunk->data(), static_cast<std::size_t>(count)})) return Flow::satisfied;
  }
  return output_ ? Flow::open : Flow::closed;
}

Pumped RunningProcess::pump(std::string_view input, After after, const Descriptor& stop,
                            const PumpLimits& limits, const Consumer& consume,
                            std::optional<BackendOutcome::Kind>& why) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(limits.time_ms);
  auto next_look = Clock::now() + std::chrono::milliseconds(kWatchIntervalMs);
  bool first = limits.past == TreeWatch::Past::forgotten;
  for (;;) {  // bounded by the deadline
    if (input.empty() && after == After::close) input_.reset();
    std::array<pollfd, 5> ready{pollfd{process_.handle.number(), POLLIN, 0},
                                pollfd{stop.number(), POLLIN, 0},
                                pollfd{output_.number(), POLLIN, 0},
                                pollfd{input.empty() ? -1 : input_.number(), POLLOUT, 0},
                                pollfd{limits.watched, POLLIN, 0}};
    ::poll(ready.data(), ready.size(), until(std::min(deadline, next_look)));
    if (ready[2].revents != 0 && receive(consume, kChunksPerTurnMax) == Flow::satisfied) {
      return Pumped::satisfied;
    }
    if (ready[0].revents != 0) {
      const Flow rest = receive(consume, kDrainChunksMax);
      return rest == Flow::satisfied ? Pumped::satisfied : Pumped::ended;
    }
    if (ready[4].revents != 0) why = limits.look_watched();
    if (ready[1].revents != 0) why = BackendOutcome::Kind::aborted;
    if (Clock::now() >= deadline) why = BackendOutcome::Kind::timed_out;
    if (!why && Clock::now() >= next_look) {
      // Most calls are over before this: nothing is read for them.
      if (watch_ && first) watch_->forget_time();
      why = look(limits);
      first = false;
      if (limits.beside) limits.beside();
      if (!why && limits.watched < 0 && limits.look_watched) why = limits.look_watched();
      next_look = Clock::now() + std::chrono::milliseconds(kWatchIntervalMs);
    }
    if (why) return Pumped::stopped;
    if (ready[3].revents != 0 && !send(input)) input = {};
  }
}

std::optional<BackendOutcome::Kind> RunningProcess::look(const PumpLimits& limits) {
  if (!watch_) {
    const bool adopts = place_->plan().level != IsolationLevel::namespaces;
    watch_.emplace(TreeRoot{process_.pid, adopts ? mark_.limit : 0}, limits.session, limits.memory);
    if (limits.past == TreeWatch::Past::forgotten) watch_->forget_time();
  }
  if (const auto exceeded = watch_->look()) return exceeded;
  const bool full = limits.disk != nullptr && limits.disk->is_exceeded(watch_->family());
  return full ? std::optional(BackendOutcome::Kind::disk) : std::nullopt;
}

// Where there is no pid namespace, orphans are children of the host's first thread.
bool RunningProcess::is_alone() const {
  if (!children_of(process_.pid, process_.pid).empty()) return false;
  if (place_->plan().level == IsolationLevel::namespaces) return true;
  const std::string guardian = std::to_string(tool_command::guardian_process()) + " ";
  const std::string adopted = children_of(::getpid(), ::getpid());
  return adopted.empty() || adopted == guardian;
}

std::optional<int> RunningProcess::kill() {
  if (std::exchange(reaped_, true)) return std::nullopt;
  const bool ended = has_ended();
  if (place_->plan().level != IsolationLevel::namespaces) {
    // On a machine that is slow or busy one hunt may run out of its time before the last is found.
    int hunts = 0;
    while (!tool_command::kill_tree({process_.pid, mark_}).empty() && ++hunts < kHuntsMax) {
    }
  }
  // The first process of a pid namespace takes all others with it before it can be reaped.
  ::syscall(SYS_pidfd_send_signal, process_.handle.number(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  struct rusage used{};  // which waitid() of libc does not give
  int waited = 0;
  do {
    waited = static_cast<int>(
        ::syscall(SYS_waitid, P_PIDFD, process_.handle.number(), &info, WEXITED, &used));
  } while (waited < 0 && errno == EINTR);
  // It had the host's memory for a moment, before it became the command, and the kernel counts
  // that: less than the host's own peak says nothing.
  struct rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (used.ru_maxrss > own.ru_maxrss) peak_ = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (!ended || waited < 0) return std::nullopt;
  signalled_ = info.si_code != CLD_EXITED;
  return signalled_ ? 128 + info.si_status : info.si_status;
}

}  // namespace pawl::backend
