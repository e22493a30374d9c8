// The only way out of a sandbox whose network is `limited`: an HTTP proxy (CONNECT, and requests
// with whole http:// URLs; no SOCKS) that dials what its guard has vetted.
//
// A client reaches it by a connected socket (connect(), adopt()) or through a listening socket of
// its own network namespace (serve()); the proxy itself is in the host's. A name is resolved once,
// every address of it must be fit, and one of them is dialled. In a tunnel the client must begin
// with TLS and name the host it asked for. Everything is bounded by EgressProxyOptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "pawl/loop.h"
#include "pawl/port/egress.h"
#include "pawl/result.h"

namespace pawl {

struct EgressProxyOptions {
  std::size_t connections_max = 128;
  std::int64_t head_ms = 10'000;  // until the request, and then the ClientHello, are whole
  std::int64_t connect_ms = 10'000;
  std::int64_t idle_ms = 120'000;  // without a byte in either direction
  std::int64_t total_ms = 1'800'000;
  std::uint64_t bytes_max = 4ULL << 30U;  // of a connection, in each direction
};

class EgressProxy {
 public:
  // Destroying it stops listening.
  class Listener {
   public:
    virtual ~Listener() = default;
  };

  // `sink` (may be empty) is told of every dial and of what the guard does not see: requests that
  // cannot be read, and tunnels that turn out to be for another host. On the loop's thread, as is
  // the destructor, which closes every connection; the loop outlives the proxy.
  EgressProxy(SocketLoop& loop, std::shared_ptr<EgressGuard> guard, EgressProxyOptions options = {},
              EgressSink sink = {});
  ~EgressProxy();
  EgressProxy(const EgressProxy&) = delete;
  EgressProxy& operator=(const EgressProxy&) = delete;

  // From any thread. The client's end of a new connection, a blocking stream socket that is closed
  // on exec; the caller's to close. `client` is whose connection it is, for the events.
  Result<int> connect(std::string client = {});
  // From any thread. Serves a connected stream socket, which is the proxy's from now on.
  void adopt(int fd, std::string client = {});
  // On the loop's thread. Serves whoever connects to a listening socket, which is the proxy's from
  // now on.
  std::unique_ptr<Listener> serve(int listening_fd);

  std::size_t connections() const;  // on the loop's thread

  class Hub;

 private:
  std::shared_ptr<Hub> hub_;
};

}  // namespace pawl
