#include "pawl/app/detach.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "pawl/base/describe_errno.h"

namespace pawl {
namespace {

constexpr std::size_t kReportBytesMax = std::size_t{1} << 20U;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // The parent has gone; the run has not.
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() < kReportBytesMax) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

[[noreturn]] void be_the_child(int report_fd, const std::string& log_path,
                               const CliEnvironment::Background& work) {
  constexpr mode_t kMode = 0600;
  ::setsid();
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDOUT_FILENO);
  ::dup2(log >= 0 ? log : nothing, STDERR_FILENO);
  const int code = work([report_fd](const Handover& handover) {
    write_all(report_fd, std::to_string(handover.exit_code) + "\n" + handover.text);
    ::close(report_fd);
  });
  ::_exit(code);
}

Handover read_report(int fd, const std::string& log_path) {
  const std::string report = read_all(fd);
  const std::size_t end = report.find('\n');
  if (end == std::string::npos) {
    return {1, "pawl: the background process ended before the run began; see " + log_path + "\n"};
  }
  return {std::atoi(report.c_str()), report.substr(end + 1)};
}

}  // namespace

Handover detach_process(const std::string& log_path, const CliEnvironment::Background& work) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return {1, "pawl: no pipe: " + describe_errno(errno) + "\n"};
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    be_the_child(pipe[1], log_path, work);
  }
  ::close(pipe[1]);
  if (child < 0) {
    ::close(pipe[0]);
    return {1, "pawl: no process: " + describe_errno(errno) + "\n"};
  }
  Handover handover = read_report(pipe[0], log_path);
  ::close(pipe[0]);
  return handover;
}

}  // namespace pawl
