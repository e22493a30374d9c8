#include "pawl/adapter/egress/egress_proxy.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <set>
#include <utility>

#include "pawl/adapter/egress/proxy_connection.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl {
namespace {

using egress::ProxyConnection;

constexpr int kAcceptsOfTurn = 16;
constexpr std::int64_t kAcceptAgainMs = 100;  // where there is no room, or no descriptor left

}  // namespace

// Outlives the proxy in what was posted, and then does nothing.
class EgressProxy::Hub : public std::enable_shared_from_this<EgressProxy::Hub> {
 public:
  Hub(SocketLoop& loop, std::shared_ptr<EgressGuard> guard, EgressProxyOptions options,
      EgressSink sink)
      : loop_(loop), guard_(std::move(guard)), options_(options), sink_(std::move(sink)) {}

  SocketLoop& loop() { return loop_; }
  std::size_t connections() const { return connections_.size(); }
  bool has_room() const { return connections_.size() < options_.connections_max; }

  void take(Descriptor client, const std::string& name) {
    if (closed_ || !client) return;
    if (!has_room()) {
      if (sink_) sink_({EgressEvent::Verdict::refused, "?", "too many connections", name});
      return;
    }
    const ProxyConnection::Context context{loop_, *guard_, options_, sink_, name};
    const auto slot = std::make_shared<std::weak_ptr<ProxyConnection>>();
    auto connection = std::make_shared<ProxyConnection>(context, std::move(client),
                                                        [weak = weak_from_this(), slot] {
                                                          if (const auto self = weak.lock())
                                                            self->connections_.erase(slot->lock());
                                                        });
    *slot = connection;
    connections_.insert(connection);
    connection->begin();
  }

  void close() {
    closed_ = true;
    connections_.clear();
  }

 private:
  SocketLoop& loop_;
  const std::shared_ptr<EgressGuard> guard_;
  const EgressProxyOptions options_;
  const EgressSink sink_;
  std::set<std::shared_ptr<ProxyConnection>> connections_;  // <= connections_max
  bool closed_ = false;
};

namespace {

class ProxyListener final : public EgressProxy::Listener {
 public:
  ProxyListener(std::shared_ptr<EgressProxy::Hub> hub, Descriptor socket)
      : hub_(std::move(hub)), socket_(std::move(socket)) {
    listen();
  }

 private:
  void listen() {
    timer_.reset();
    watch_ = hub_->loop().watch(socket_.number(), Interest::read, [this](Interest) { accept(); });
  }

  // Those beyond the bound wait in the socket's own queue.
  void accept() {
    for (int i = 0; i < kAcceptsOfTurn; ++i) {
      if (!hub_->has_room()) return rest();
      Descriptor client(
          ::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (client) {
        hub_->take(std::move(client), {});
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        return rest();
      }
    }
  }

  void rest() {
    watch_.reset();
    timer_ = hub_->loop().after(kAcceptAgainMs, [this] { listen(); });
  }

  const std::shared_ptr<EgressProxy::Hub> hub_;
  const Descriptor socket_;
  std::unique_ptr<SocketLoop::Watch> watch_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace

EgressProxy::EgressProxy(SocketLoop& loop, std::shared_ptr<EgressGuard> guard,
                         EgressProxyOptions options, EgressSink sink)
    : hub_(std::make_shared<Hub>(loop, std::move(guard), options, std::move(sink))) {}

EgressProxy::~EgressProxy() {
  hub_->close();
}

Result<int> EgressProxy::connect(std::string client) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{ErrorCode::unavailable, "no socket for the proxy: " + describe_errno(errno)};
  }
  adopt(ends[0], std::move(client));
  return ends[1];
}

void EgressProxy::adopt(int fd, std::string client) {
  // Shared only because what is posted must be copyable.
  const auto socket = std::make_shared<Descriptor>(fd);
  hub_->loop().post([weak = std::weak_ptr(hub_), socket, client = std::move(client)] {
    if (const auto hub = weak.lock()) hub->take(std::move(*socket), client);
  });
}

std::unique_ptr<EgressProxy::Listener> EgressProxy::serve(int listening_fd) {
  return std::make_unique<ProxyListener>(hub_, Descriptor(listening_fd));
}

std::size_t EgressProxy::connections() const {
  return hub_->connections();
}

}  // namespace pawl
