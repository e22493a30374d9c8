#include "bench/raw_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::bench {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::size_t kReceiveBytes = 64U << 10U;

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  PAWL_ASSERT(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

// It blocks where the server has not read all of it yet.
void send_all(int fd, const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t size = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    PAWL_ASSERT(size > 0);
    sent += static_cast<std::size_t>(size);
  }
}

}  // namespace

void run_raw_sockets(std::uint16_t port, const std::string& path, const std::string& body,
                     std::uint64_t requests, std::size_t at_once, const std::string& end) {
  const std::string request = "POST " + path +
                              " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                              "Content-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> sockets;
  std::uint64_t left = requests;
  for (; sockets.size() < at_once && left > 0; --left) {
    sockets.push_back(connect_to(port));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = sockets.back();
    PAWL_ASSERT(::epoll_ctl(epoll, EPOLL_CTL_ADD, sockets.back(), &event) == 0);
    send_all(sockets.back(), request);
  }
  std::vector<char> buffer(kReceiveBytes);
  for (std::uint64_t ended = 0; ended < requests;) {
    std::array<epoll_event, kEventsAtOnce> events{};
    const int count = ::epoll_wait(epoll, events.data(), kEventsAtOnce, -1);
    PAWL_ASSERT(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
      PAWL_ASSERT(size > 0);
      // The server writes each response at once, and ends it with this.
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
      if (!bytes.ends_with(end)) continue;
      ++ended;
      if (left == 0) continue;
      --left;
      send_all(fd, request);
    }
  }
  for (const int fd : sockets) ::close(fd);
  ::close(epoll);
}

}  // namespace pawl::bench
