#include "pawl/adapter/backend/session/proxy_forwarder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pawl::backend {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{32} << 10U;

// One direction of a connection.
class Stream {
 public:
  bool wants_input() const { return !ended_ && size_ == 0; }
  bool wants_output() const { return size_ > 0; }
  bool over() const { return ended_ && size_ == 0; }

  // False: the connection is broken.
  bool read_from(int from) {
    const ssize_t count = ::recv(from, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    size_ = static_cast<std::size_t>(count);
    begin_ = 0;
    ended_ = count == 0;
    return true;
  }
  bool write_to(int to) {
    const ssize_t count = ::send(to, buffer_.data() + begin_, size_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    begin_ += static_cast<std::size_t>(count);
    size_ -= static_cast<std::size_t>(count);
    return true;
  }
  // Tells the other side, once.
  void pass_end(int to) {
    if (over() && !std::exchange(passed_, true)) ::shutdown(to, SHUT_WR);
  }

 private:
  std::array<char, kBufferBytes> buffer_{};
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  bool ended_ = false;
  bool passed_ = false;
};

struct Forwarded {
  Descriptor tool;
  Descriptor proxy;
  Stream up = {};
  Stream down = {};

  bool over() const { return up.over() && down.over(); }
  pollfd tool_poll() const { return poll_for(tool, up, down); }
  pollfd proxy_poll() const { return poll_for(proxy, down, up); }

  // False: broken or over.
  bool move(short tool_ready, short proxy_ready) {
    constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
    if ((tool_ready & kReadable) != 0 && up.wants_input() && !up.read_from(tool.number())) {
      return false;
    }
    if ((proxy_ready & kReadable) != 0 && down.wants_input() && !down.read_from(proxy.number())) {
      return false;
    }
    if (up.wants_output() && !up.write_to(proxy.number())) return false;
    if (down.wants_output() && !down.write_to(tool.number())) return false;
    up.pass_end(proxy.number());
    down.pass_end(tool.number());
    return !over();
  }

 private:
  static pollfd poll_for(const Descriptor& fd, const Stream& incoming, const Stream& outgoing) {
    const int events =
        (incoming.wants_input() ? POLLIN : 0) | (outgoing.wants_output() ? POLLOUT : 0);
    return {events == 0 ? -1 : fd.number(), static_cast<short>(events), 0};
  }
};

}  // namespace

ProxyForwarder::ProxyForwarder(int listener, ProxyConnector connect)
    : listener_(listener),
      connect_(std::move(connect)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProxyForwarder::~ProxyForwarder() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_.number(), &one, sizeof one);
  thread_.join();
}

void ProxyForwarder::serve() {
  std::vector<std::unique_ptr<Forwarded>> connections;
  for (;;) {
    const bool room = connections.size() < kForwardedMax;
    std::vector<pollfd> ready = {{stop_.number(), POLLIN, 0}, {room ? listener_ : -1, POLLIN, 0}};
    for (const auto& connection : connections) {
      ready.push_back(connection->tool_poll());
      ready.push_back(connection->proxy_poll());
    }
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    if (ready[0].revents != 0) return;
    for (std::size_t i = connections.size(); i-- > 0;) {
      if (connections[i]->move(ready[2 + 2 * i].revents, ready[3 + 2 * i].revents)) continue;
      connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (ready[1].revents == 0) continue;
    Descriptor tool(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (!tool) continue;
    Descriptor proxy(connect_());
    if (!proxy) continue;  // closing is the answer
    connections.push_back(
        std::make_unique<Forwarded>(Forwarded{std::move(tool), std::move(proxy)}));
  }
}

}  // namespace pawl::backend
