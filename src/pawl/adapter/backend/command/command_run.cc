#include "pawl/adapter/backend/command/command_run.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "pawl/adapter/backend/command/child_process.h"
#include "pawl/adapter/backend/command/process_tree.h"

namespace pawl::tool_command {
namespace {

using Clock = std::chrono::steady_clock;
using How = decltype(CommandEnd::how);

constexpr std::size_t kChunkBytes = std::size_t{64} << 10U;
constexpr int kChunksPerTurnMax = 16;  // so that a torrent of output does not hide the deadline
// More than a pipe can hold. Only a survivor could write more than that after the kill.
constexpr int kDrainChunksMax = 32;

enum class Flow : std::uint8_t { open, closed };

// A child whose tree is killed and which is reaped, whatever happens.
class RunningCommand {
 public:
  RunningCommand(const CommandPlan& plan, Child child, TreeMark mark, CommandEnd& end)
      : child_(std::move(child)),
        tree_{child_.pid, std::move(mark)},
        unsent_(std::string_view(plan.input).substr(child_.input_sent)),
        deadline_(Clock::now() + std::chrono::milliseconds(plan.timeout_ms)),
        end_(end) {
    if (unsent_.empty()) child_.input.reset();
  }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand() { finish(); }

  // Waits until the command has ended or has to. Returns why, unless it has ended by itself.
  std::optional<How> await(const Descriptor& stop);
  // How the command has ended; it is not reaped yet, so that its pid stays its own.
  How read_end() const;
  void finish();

 private:
  int wait_ms() const;
  void send();
  Flow receive(Descriptor& from, OutputCapture& into, int chunks_max);

  Child child_;
  ProcessTree tree_;
  std::string_view unsent_;
  Clock::time_point deadline_;
  CommandEnd& end_;
  bool finished_ = false;
  const std::unique_ptr<std::array<char, kChunkBytes>> chunk_ =
      std::make_unique<std::array<char, kChunkBytes>>();
};

int RunningCommand::wait_ms() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

std::optional<How> RunningCommand::await(const Descriptor& stop) {
  for (;;) {  // bounded by the deadline
    std::array<pollfd, 5> ready{
        pollfd{child_.handle.number(), POLLIN, 0}, pollfd{stop.number(), POLLIN, 0},
        pollfd{child_.input.number(), POLLOUT, 0}, pollfd{child_.output.number(), POLLIN, 0},
        pollfd{child_.errors.number(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), wait_ms()) < 0 && errno != EINTR) {
      return Lost{"waiting for the command failed"};
    }
    // A command that has ended has ended, even if it should have been stopped: that is more to
    // know.
    if (ready[0].revents != 0) return std::nullopt;
    if (ready[1].revents != 0) return Stopped{};
    if (Clock::now() >= deadline_) return TimedOut{};
    if (ready[2].revents != 0) send();
    if (ready[3].revents != 0) receive(child_.output, end_.output, kChunksPerTurnMax);
    if (ready[4].revents != 0) receive(child_.errors, end_.errors, kChunksPerTurnMax);
  }
}

// A command need not read its input: a closed pipe is the end of it, not an error.
void RunningCommand::send() {
  const ssize_t count =
      ::write(child_.input.number(), unsent_.data(), std::min(unsent_.size(), kChunkBytes));
  if (count >= 0) unsent_.remove_prefix(static_cast<std::size_t>(count));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0 || unsent_.empty()) child_.input.reset();
}

Flow RunningCommand::receive(Descriptor& from, OutputCapture& into, int chunks_max) {
  for (int chunk = 0; from && chunk < chunks_max; ++chunk) {
    const ssize_t count = ::read(from.number(), chunk_->data(), chunk_->size());
    if (count > 0) {
      into.append({chunk_->data(), static_cast<std::size_t>(count)});
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      return Flow::open;
    } else {
      from.reset();
    }
  }
  return from ? Flow::open : Flow::closed;
}

How RunningCommand::read_end() const {
  siginfo_t info{};
  constexpr int kPeek = WEXITED | WNOWAIT;
  while (::waitid(P_PIDFD, static_cast<id_t>(child_.handle.number()), &info, kPeek) < 0) {
    if (errno != EINTR) return Lost{"another part of this process has reaped the command"};
  }
  if (info.si_code == CLD_EXITED) return Exited{info.si_status};
  return Signalled{info.si_status};
}

void RunningCommand::finish() {
  if (std::exchange(finished_, true)) return;
  // Somebody who reaps all children of the host has freed the pid, which may be another's by now.
  if (std::holds_alternative<Lost>(end_.how)) tree_.root = 0;
  end_.survivors = kill_tree(tree_);
  ::syscall(SYS_pidfd_send_signal, child_.handle.number(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  const auto handle = static_cast<id_t>(child_.handle.number());
  // Not waiting: the kernel may take its time over a process in uninterruptible sleep.
  const int flags = WEXITED | (end_.survivors.empty() ? 0 : WNOHANG);
  while (::waitid(P_PIDFD, handle, &info, flags) < 0 && errno == EINTR) {
  }
  receive(child_.output, end_.output, kDrainChunksMax);
  receive(child_.errors, end_.errors, kDrainChunksMax);
  end_.output.finish();
  end_.errors.finish();
}

bool is_stopped(const Descriptor& stop) {
  pollfd ready{stop.number(), POLLIN, 0};
  return ::poll(&ready, 1, 0) > 0;
}

}  // namespace

CommandEnd run_command(const CommandPlan& plan, const Descriptor& stop) {
  CommandEnd end{NeverAllowed{},
                 OutputCapture(plan.output_bytes_max, plan.filter),
                 OutputCapture(plan.error_bytes_max, plan.filter),
                 {}};
  if (is_stopped(stop)) return end;
  if (plan.leftovers == CommandPlan::Leftovers::possible) kill_leftovers(plan.run, plan.key);
  if (const Status admitted = plan.admit ? plan.admit() : ok(); !admitted) {
    end.how = NotStarted{admitted.error().message};
    return end;
  }
  TreeMark mark = make_tree_mark();
  auto child = start_child({plan.argv, plan.environment, plan.working_directory, mark, plan.input,
                            plan.sealed ? plan.sealed->number() : -1});
  if (!child) {
    end.how = NotStarted{child.error().message};
    return end;
  }
  RunningCommand command(plan, *std::move(child), std::move(mark), end);
  const auto stopped = command.await(stop);
  end.how = stopped ? *stopped : command.read_end();
  command.finish();
  return end;
}

}  // namespace pawl::tool_command
