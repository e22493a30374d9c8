// An HTTP/1.1 server on loopback with a thread of its own. It parses requests (Boost.Beast, which
// only http_server.cc sees) and writes whatever bytes the handler plans: it has no opinion on
// replies, so that they can be as broken as a test needs them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pawl/result.h"
#include "pawl/testing/fake_provider/server/wire.h"

namespace pawl::fake {

inline constexpr std::uint64_t kRequestBodyBytesMax = 64U << 20U;
inline constexpr std::uint32_t kRequestHeadBytesMax = 64U << 10U;
inline constexpr std::uint64_t kConnectionsMax = 100'000;
inline constexpr std::size_t kWriteBytesMax = 64U << 10U;  // pieces put together for one write

struct ServerRequest {
  std::string method;
  std::string target;
  Headers headers;
  std::string body;
  // What the client asked for its connection; a plan that ends with keep_alive closes otherwise.
  enum class Connection : std::uint8_t { keep_alive, close } connection = Connection::keep_alive;
};

// The reply to one request, from any thread. Dropping it without finish() closes the connection.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void send(WirePlan plan) = 0;  // all of it; the last call
  virtual void send_piece(WirePiece piece) = 0;
  virtual void finish(WireEnd end) = 0;
};

struct ServerFigures {
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  // over kConnectionsMax
  std::uint64_t connections_open = 0;
  std::uint64_t requests = 0;
  std::uint64_t replies_open = 0;  // being sent, or held
  std::uint64_t bytes_sent = 0;
};

class HttpServer {
 public:
  // Called on the server's thread.
  using Handler = std::function<void(ServerRequest request, std::shared_ptr<Exchange> exchange)>;

  // Listens on 127.0.0.1. Port 0 takes a free one. unavailable: the port is taken.
  static Result<std::unique_ptr<HttpServer>> listen(std::uint16_t port, Handler handler);
  virtual ~HttpServer() = default;  // ends every connection and the thread

  // Starts the thread, once. Apart from listen(), so that a handler may use what holds the server.
  virtual void run() = 0;
  virtual std::uint16_t port() const = 0;
  virtual ServerFigures figures() const = 0;
};

}  // namespace pawl::fake
