#include "pawl/adapter/host/secret_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A child that is over, or made so, when this goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Its status when it ended before the deadline.
  std::optional<int> wait_until(std::int64_t deadline_ms) {
    constexpr int kLookEveryMs = 2;
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) != pid_) {
      if (now_ms() >= deadline_ms) return std::nullopt;
      ::poll(nullptr, 0, kLookEveryMs);
    }
    pid_ = -1;
    return status;
  }

 private:
  void wait() {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  pid_t pid_;
};

Error failed(const std::string& program, const std::string& why) {
  return {ErrorCode::unavailable, "the command " + program + " " + why};
}

Result<pid_t> spawn(const std::vector<std::string>& arguments, int output) {
  std::vector<char*> argv;
  for (const std::string& one : arguments) argv.push_back(const_cast<char*>(one.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failed(arguments.front(), "cannot be started: " + describe_errno(error));
  return pid;
}

// To the end of the output, the bound or the deadline.
Result<std::string> read_all(int fd, const std::string& program, std::int64_t deadline_ms,
                             std::size_t bytes_max) {
  std::string output;
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd ready{fd, POLLIN, 0};
    const std::int64_t left_ms = deadline_ms - now_ms();
    if (left_ms <= 0) return failed(program, "took too long");
    const int polled = ::poll(&ready, 1, static_cast<int>(left_ms));
    if (polled <= 0) continue;  // the deadline, or a signal: looked at above
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(program, "cannot be read");
    if (count == 0) return output;
    output.append(buffer.data(), static_cast<std::size_t>(count));
    if (output.size() > bytes_max) {
      return Error{ErrorCode::limit_exceeded, "the command " + program + " printed too much"};
    }
  }
}

}  // namespace

Result<std::string> output_of(const std::vector<std::string>& arguments,
                              const CommandBounds& bounds) {
  const std::string& program = arguments.front();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed(program, "cannot be started: no pipe");
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  PAWL_TRY(const pid_t pid, spawn(arguments, writing.number()));
  Child child(pid);
  writing.reset();
  const std::int64_t deadline_ms = now_ms() + bounds.time_ms;
  PAWL_TRY(std::string output, read_all(reading.number(), program, deadline_ms, bounds.bytes));
  const auto status = child.wait_until(deadline_ms);
  if (!status) return failed(program, "took too long");
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return output;
  return failed(program, WIFEXITED(*status)
                             ? "ended with the status " + std::to_string(WEXITSTATUS(*status))
                             : std::string("was ended by a signal"));
}

}  // namespace pawl
