// A TCP server for tests that says exactly what it is told to, on a loopback port of its own. Each
// connection is served by a script on a thread; destroying the server ends all of them.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pawl/result.h"

namespace pawl {

// Tells scripts that the test is over, also those that wait.
class RawServerStop {
 public:
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  // Waits that long, or less if the server is destroyed. False: it is.
  bool wait_ms(std::int64_t delay_ms) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(delay_ms), [&] { return stopped_; });
  }
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

class RawConnection {
 public:
  static constexpr std::size_t kRequestBytesMax = 64U << 20U;
  static constexpr std::int64_t kStallMs = 120'000;

  RawConnection(int fd, int number, RawServerStop& stop) : fd_(fd), number_(number), stop_(stop) {}
  ~RawConnection() { close(); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  int number() const { return number_; }  // 1 for the first

  // The next request, head and body by its Content-Length; empty: the peer is gone.
  std::string read_request() {
    std::string text = std::exchange(ahead_, {});
    while (text.size() < kRequestBytesMax) {
      if (const std::size_t size = size_of_request(text); size > 0 && text.size() >= size) {
        ahead_ = text.substr(size);
        return text.substr(0, size);
      }
      if (!read_some(text)) return {};
    }
    return {};
  }

  // At least so many bytes of whatever comes, and no thought for what they are.
  void read_bytes(std::size_t bytes) {
    while (ahead_.size() < bytes && read_some(ahead_)) {
    }
  }
  // Ends the connection in the middle of what comes.
  void read_and_close(std::size_t bytes) {
    read_bytes(bytes);
    reset();
  }

  // False: the peer does not take it any more.
  bool say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN && !stop_.stopped()) continue;  // the peer takes its time
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // A piece, a pause, a piece, …
  bool trickle(std::string_view bytes, std::size_t piece, std::int64_t gap_ms) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      if (!say(bytes.substr(0, piece)) || !stop_.wait_ms(gap_ms)) return false;
    }
    return true;
  }
  // Says nothing until the peer closes, which it returns true for, or the test ends.
  bool stall() {
    std::string ignored;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStallMs);
    while (!stop_.stopped() && std::chrono::steady_clock::now() < until) {
      pollfd waiting{fd_, POLLIN, 0};
      if (::poll(&waiting, 1, 20) > 0 && !read_some(ignored)) return true;
    }
    return false;
  }
  bool wait_ms(std::int64_t delay_ms) { return stop_.wait_ms(delay_ms); }

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void end_saying() { ::shutdown(fd_, SHUT_WR); }
  // A reset in place of an orderly end.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

 private:
  static std::size_t size_of_request(const std::string& text) {
    const std::size_t head = text.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    const std::size_t at = text.find(kLength);
    if (at == std::string::npos || at > head) return head + 4;
    return head + 4 + std::strtoull(text.c_str() + at + kLength.size(), nullptr, 10);
  }

  // The descriptor is the script's alone: it looks for the end of the test now and then.
  bool read_some(std::string& text) {
    pollfd waiting{fd_, POLLIN, 0};
    while (::poll(&waiting, 1, 20) == 0) {
      if (stop_.stopped()) return false;
    }
    char buffer[65536];
    const ssize_t size = ::recv(fd_, buffer, sizeof buffer, 0);
    if (size <= 0) return false;
    text.append(buffer, static_cast<std::size_t>(size));
    return true;
  }

  int fd_;
  const int number_;
  RawServerStop& stop_;
  std::string ahead_;
};

class RawServer {
 public:
  using Script = std::function<void(RawConnection&)>;

  explicit RawServer(Script script) : script_(std::move(script)), listener_(listen_on_loopback()) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    PAWL_ASSERT(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~RawServer() {
    stop_.stop();
    acceptor_.join();
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  int connections() const { return connections_; }

  // Of every request that remember() was called with.
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  void remember(std::string request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }

 private:
  static int listen_on_loopback() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    PAWL_ASSERT(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    PAWL_ASSERT(::listen(fd, 4096) == 0);
    return fd;
  }

  void accept_all() {
    while (!stop_.stopped()) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      const int number = ++connections_;
      threads_.emplace_back([this, fd, number] {
        // A script that says more than the peer takes must end with the test, too.
        const timeval patience{0, 50'000};
        ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        RawConnection connection(fd, number, stop_);
        script_(connection);
      });
    }
  }

  const Script script_;
  const int listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  RawServerStop stop_;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::list<std::thread> threads_;  // the acceptor's, until it has ended
  std::thread acceptor_;
};

}  // namespace pawl
