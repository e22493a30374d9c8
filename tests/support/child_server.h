// A server program as a child of the test: found by the port that it listens on, and killed with
// the test.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace pawl {

// Whether there is such a program on the path.
inline bool has_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    if (::access((folders.substr(at, end - at) + "/" + name).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

class ChildServer {
 public:
  static constexpr int kPatienceMs = 20'000;

  explicit ChildServer(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::array<int, 2> input{};  // never written to: some servers end with their input
    if (::pipe2(input.data(), O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(input[0], 0);
      ::dup2(nowhere, 1);
      ::dup2(nowhere, 2);
      ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(input[0]);
    input_ = input[1];
    port_ = await_port();
  }
  ~ChildServer() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (input_ >= 0) ::close(input_);
  }
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  // SIGSTOP and SIGCONT: it says nothing in between, and its kernel takes connections.
  void signal(int number) const { ::kill(pid_, number); }
  std::uint16_t port() const { return port_; }  // 0: it did not come up
  // That are open now.
  std::size_t connections() const { return ports_in(kEstablished).size(); }

 private:
  static constexpr unsigned kEstablished = 0x01;  // as /proc/net/tcp has them
  static constexpr unsigned kListening = 0x0a;

  std::uint16_t await_port() const {
    std::mutex mutex;
    std::condition_variable never;
    for (int waited_ms = 0; waited_ms < kPatienceMs; waited_ms += 5) {
      if (const auto ports = ports_in(kListening); !ports.empty()) return ports.front();
      siginfo_t ended{};
      ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
      if (ended.si_pid == pid_) return 0;
      std::unique_lock lock(mutex);
      never.wait_for(lock, std::chrono::milliseconds(5));
    }
    return 0;
  }

  std::set<std::string> sockets() const {
    std::set<std::string> inodes;
    std::error_code fault;
    const std::filesystem::path folder = "/proc/" + std::to_string(pid_) + "/fd";
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
      const std::string link = std::filesystem::read_symlink(entry.path(), fault).string();
      if (link.starts_with("socket:[")) inodes.insert(link.substr(8, link.size() - 9));
    }
    return inodes;
  }

  // Its own ports of its sockets in that state.
  std::vector<std::uint16_t> ports_in(unsigned wanted) const {
    std::vector<std::uint16_t> ports;
    const std::set<std::string> inodes = sockets();
    std::ifstream table("/proc/net/tcp");
    std::string line;
    while (std::getline(table, line)) {
      unsigned port = 0;
      unsigned state = 0;
      char inode[32] = "";
      if (std::sscanf(line.c_str(), " %*d: %*x:%x %*x:%*x %x %*s %*s %*s %*d %*d %31s", &port,
                      &state, inode) != 3) {
        continue;
      }
      if (state == wanted && inodes.contains(inode)) {
        ports.push_back(static_cast<std::uint16_t>(port));
      }
    }
    return ports;
  }

  pid_t pid_ = -1;
  int input_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace pawl
