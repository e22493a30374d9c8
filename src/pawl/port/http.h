// Requests to HTTP servers, streamed. The client moves bytes and bounds them; it knows no provider.
//
// Contract, checked by tests/contract/http_contract.h:
//  - start() calls nothing from inside itself. Then, on the loop thread: head() once, body() any
//    number of times, done() exactly once and last, with or without a head.
//  - After Operation::abort() done() comes within a second, as aborted. After destroying the
//    Operation nothing comes. Both are allowed from inside every callback.
//  - No more than `body_bytes_max` bytes are given to body(), whatever the server's framing or
//    compression says: the request fails at the bound.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/ip_address.h"
#include "pawl/loop.h"
#include "pawl/result.h"

namespace pawl {

struct HttpHeader {
  std::string name;  // of responses: in lower case
  std::string value;
  enum class Secrecy : std::uint8_t { open, secret } secrecy = Secrecy::open;  // never logged
};

// A part of a body: bytes that neither change nor move while somebody holds them. Who made them may
// keep them, for the next body that holds them, and write behind them.
struct BodyChunk {
  std::shared_ptr<const std::string> bytes;
  std::size_t offset = 0;
  std::size_t size = 0;

  std::string_view view() const { return std::string_view(*bytes).substr(offset, size); }
};

// What a request sends: chunks, one behind the other, each with a byte at least. A copy of a body
// holds the same bytes.
class HttpBody {
 public:
  HttpBody() = default;
  // Not explicit: most bodies are one text.
  HttpBody(std::string whole);  // NOLINT(google-explicit-constructor)
  HttpBody(const char* whole);  // NOLINT(google-explicit-constructor)
  void append(std::string bytes);
  void append(BodyChunk chunk);

  std::size_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  bool empty() const { return ends_.empty(); }
  // The bytes from `offset` on, as far as they lie together: at least one, unless the body ends
  // there. They live as long as this body or a copy of it. Asking for one offset after the other
  // costs no search.
  std::string_view at(std::size_t offset) const;
  const std::vector<BodyChunk>& chunks() const { return chunks_; }
  // Makes one chunk of it where it is several: for those who cannot send it in pieces.
  std::string_view join();
  // A copy in one piece.
  std::string whole() const;

  friend bool operator==(const HttpBody& a, const HttpBody& b) { return a.whole() == b.whole(); }

 private:
  std::vector<BodyChunk> chunks_;
  std::vector<std::size_t> ends_;  // of the chunks, in the body
  mutable std::size_t last_ = 0;   // the chunk that was asked for last
};

// Zero switches a deadline off; total_ms may not be switched off.
struct HttpDeadlines {
  std::int64_t connect_ms = 15'000;
  std::int64_t first_byte_ms = 300'000;  // from the start to the head of the response
  std::int64_t idle_ms = 300'000;        // without a byte
  std::int64_t total_ms = 1'800'000;
};

// Which protocol is spoken. HTTP/2 over TLS only, where it is agreed on in the handshake.
enum class HttpVersion : std::uint8_t {
  one,        // HTTP/1.1
  automatic,  // HTTP/2 where the server has it
  two,        // HTTP/2, or the request fails
};

struct HttpRequest {
  std::string method = "POST";
  std::string url;
  std::vector<HttpHeader> headers;
  HttpBody body;
  HttpDeadlines deadlines;
  std::uint64_t body_bytes_max = 64U << 20U;
  std::uint64_t header_bytes_max = 64U << 10U;
  HttpVersion version = HttpVersion::one;
  // Connect to this one and no other, at the URL's port: no name is resolved, no proxy used. Empty:
  // the client finds out.
  std::optional<IpAddress> address;
  // That may be followed. A client that follows none refuses a request that asks for some.
  std::uint32_t redirects_max = 0;
};

struct HttpResponseHead {
  int status = 0;
  std::vector<HttpHeader> headers;
  std::uint32_t redirects = 0;  // that were followed
  std::string url = {};         // where they led to; empty: there were none

  // Of the first header of this (lower-case) name; null when there is none.
  const std::string* find(std::string_view name) const;
};

enum class HttpFailure : std::uint8_t {
  none,
  aborted,     // the caller asked for it
  connect,     // name, refusal, unreachable, connect deadline
  tls,         // certificate or handshake: never retried without it
  timeout,     // first byte, idle, total
  broken,      // the connection ended inside the response
  protocol,    // framing that no server should send
  too_large,   // header_bytes_max or body_bytes_max
  invalid,     // the request itself: URL, header
  overloaded,  // too many requests of this process are under way
};
std::string_view name(HttpFailure value);

struct HttpEnd {
  HttpFailure failure = HttpFailure::none;
  std::string message;  // for people; holds no secret
};

struct HttpHandler {
  std::function<void(const HttpResponseHead&)> head;
  std::function<void(std::string_view)> body;  // decompressed
  std::function<void(const HttpEnd&)> done;
};

class HttpOperation : public Operation {
 public:
  // Backpressure: while paused no body() comes, the idle deadline stands still, and the server is
  // made to wait.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual std::unique_ptr<HttpOperation> start(HttpRequest request, HttpHandler handler) = 0;
};

}  // namespace pawl
