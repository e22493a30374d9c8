#include "pawl/testing/fake_provider/server/http_server.h"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "pawl/testing/fake_provider/server/wire_queue.h"

namespace pawl::fake {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Parser = http::request_parser<http::string_body>;

struct Counters {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> open{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> replies{0};
  std::atomic<std::uint64_t> bytes{0};
};

// What the server and every exchange share: an exchange may outlive the server, and then finds a
// context that nobody runs.
struct Core : std::enable_shared_from_this<Core> {
  explicit Core(HttpServer::Handler handle) : handler(std::move(handle)) {}

  Counters counters;
  HttpServer::Handler handler;
  asio::io_context context{1};
};

ServerRequest taken(Parser& parser) {
  auto& message = parser.get();
  ServerRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    request.headers.push_back({lower_case({field.name_string().data(), field.name_string().size()}),
                               std::string(field.value())});
  }
  request.body = std::move(message.body());
  request.connection = message.keep_alive() ? ServerRequest::Connection::keep_alive
                                            : ServerRequest::Connection::close;
  return request;
}

// One connection: reads a request, gives it to the handler, sends what comes back, and again. All
// of it on the server's thread. What a stream keeps while it waits is this object and the rest of
// its pieces; the request's buffers are gone by then.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Core& core) : socket_(std::move(socket)), core_(core) {
    ++core_.counters.open;
    error_code ignored;  // A socket that takes no option is gone, and the first read says so.
    socket_.set_option(tcp::no_delay(true), ignored);
  }
  ~Connection() {
    --core_.counters.open;
    if (replying_) --core_.counters.replies;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read();
  void add(std::vector<WirePiece> pieces, std::optional<WireEnd> end);
  void drop() { over(WireEnd::reset); }

 private:
  void read_body();
  void refuse(const error_code& fault);
  void answer();
  void pump();
  void wait_for_turn(std::uint64_t delay_ms);
  void write_next();
  void over(WireEnd end);
  void watch_client();

  struct Reading {
    boost::beast::flat_buffer buffer;
    Parser parser;
  };

  tcp::socket socket_;
  Core& core_;
  std::unique_ptr<Reading> reading_;
  std::string left_over_;  // what the client sent beyond its last request
  std::unique_ptr<asio::steady_timer> timer_;
  WireQueue queue_;
  std::string writing_;
  std::optional<WireEnd> end_;
  bool client_closes_ = false;
  bool replying_ = false;
  bool busy_ = false;      // a write or a timer is under way
  bool waited_ = false;    // the delay of the next piece is over
  bool watching_ = false;  // for the client to go
  bool closed_ = false;
};

// What a handler holds of a connection.
class ConnectionExchange final : public Exchange {
 public:
  ConnectionExchange(std::shared_ptr<Core> core, std::shared_ptr<Connection> connection)
      : core_(std::move(core)), connection_(std::move(connection)) {}
  ~ConnectionExchange() override {
    if (!finished_) asio::post(core_->context, [to = connection_] { to->drop(); });
  }
  ConnectionExchange(const ConnectionExchange&) = delete;
  ConnectionExchange& operator=(const ConnectionExchange&) = delete;

  void send(WirePlan plan) override { pass(std::move(plan.pieces), plan.end); }
  void send_piece(WirePiece piece) override { pass({std::move(piece)}, std::nullopt); }
  void finish(WireEnd end) override { pass({}, end); }

 private:
  void pass(std::vector<WirePiece> pieces, std::optional<WireEnd> end) {
    if (finished_) return;
    finished_ = end.has_value();
    asio::dispatch(core_->context, [to = connection_, pieces = std::move(pieces), end]() mutable {
      to->add(std::move(pieces), end);
    });
  }

  std::shared_ptr<Core> core_;
  std::shared_ptr<Connection> connection_;  // goes before the core
  bool finished_ = false;
};

void Connection::read() {
  reading_ = std::make_unique<Reading>();
  reading_->parser.body_limit(kRequestBodyBytesMax);
  reading_->parser.header_limit(kRequestHeadBytesMax);
  if (!left_over_.empty()) {
    const auto room = reading_->buffer.prepare(left_over_.size());
    reading_->buffer.commit(asio::buffer_copy(room, asio::buffer(left_over_)));
    left_over_.clear();
  }
  http::async_read_header(socket_, reading_->buffer, reading_->parser,
                          [self = shared_from_this()](const error_code& fault, std::size_t) {
                            if (fault) return self->refuse(fault);
                            self->read_body();
                          });
}

void Connection::read_body() {
  const auto read = [self = shared_from_this()] {
    http::async_read(self->socket_, self->reading_->buffer, self->reading_->parser,
                     [self](const error_code& fault, std::size_t) {
                       if (fault) return self->refuse(fault);
                       self->answer();
                     });
  };
  const auto expect = reading_->parser.get()[http::field::expect];
  if (!equal_ignoring_case({expect.data(), expect.size()}, "100-continue")) return read();
  writing_ = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(writing_),
                    [self = shared_from_this(), read](const error_code& fault, std::size_t) {
                      if (!fault) read();
                    });
}

void Connection::refuse(const error_code& fault) {
  reading_.reset();
  if (fault.category() != make_error_code(http::error::end_of_stream).category() ||
      fault == http::error::end_of_stream || fault == http::error::partial_message) {
    return over(WireEnd::close);
  }
  const int status = fault == http::error::body_limit     ? 413
                     : fault == http::error::header_limit ? 431
                                                          : 400;
  add({{text_reply(status, fault.message() + "\n")}}, WireEnd::close);
}

void Connection::answer() {
  ServerRequest request = taken(reading_->parser);
  client_closes_ = request.connection == ServerRequest::Connection::close;
  const auto rest = reading_->buffer.data();
  left_over_.assign(static_cast<const char*>(rest.data()), rest.size());
  reading_.reset();
  ++core_.counters.requests;
  ++core_.counters.replies;
  replying_ = true;
  core_.handler(std::move(request),
                std::make_shared<ConnectionExchange>(core_.shared_from_this(), shared_from_this()));
}

void Connection::add(std::vector<WirePiece> pieces, std::optional<WireEnd> end) {
  if (closed_) return;
  queue_.add(std::move(pieces));
  if (end) end_ = end;
  pump();
}

// Sends what is due.
void Connection::pump() {
  if (busy_ || closed_) return;
  if (queue_.empty()) {
    queue_.clear();
    if (end_) return over(*end_);
    return watch_client();
  }
  if (queue_.delay_ms() > 0 && !waited_) return wait_for_turn(queue_.delay_ms());
  waited_ = false;
  write_next();
}

void Connection::wait_for_turn(std::uint64_t delay_ms) {
  watch_client();
  if (!timer_) timer_ = std::make_unique<asio::steady_timer>(socket_.get_executor());
  busy_ = true;
  timer_->expires_after(std::chrono::milliseconds(delay_ms));
  timer_->async_wait([self = shared_from_this()](const error_code& fault) {
    self->busy_ = false;
    if (fault) return;
    self->waited_ = true;
    self->pump();
  });
}

void Connection::write_next() {
  queue_.take(writing_, kWriteBytesMax);
  busy_ = true;
  asio::async_write(socket_, asio::buffer(writing_),
                    [self = shared_from_this()](const error_code& fault, std::size_t bytes) {
                      self->busy_ = false;
                      self->core_.counters.bytes += bytes;
                      if (fault) return self->over(WireEnd::reset);
                      self->pump();
                    });
}

void Connection::over(WireEnd end) {
  if (closed_) return;
  if (end == WireEnd::hold) return watch_client();
  end_.reset();
  writing_ = {};
  if (replying_) --core_.counters.replies;
  replying_ = false;
  if (end == WireEnd::keep_alive && !client_closes_) return read();
  closed_ = true;
  queue_.clear();
  error_code ignored;  // It is closed whatever they say.
  if (end == WireEnd::reset) {
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  } else {
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  if (timer_) timer_->cancel();
  socket_.close(ignored);
}

// A reply that waits must notice when nobody reads it any more.
void Connection::watch_client() {
  if (watching_ || closed_) return;
  watching_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code& fault) {
    self->watching_ = false;
    if (fault || self->closed_ || !self->replying_) return;
    char byte = 0;
    const ssize_t seen = ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (seen <= 0) self->over(WireEnd::reset);  // A request that came early is read in its turn.
  });
}

class BeastServer final : public HttpServer {
 public:
  explicit BeastServer(Handler handler) : core_(std::make_shared<Core>(std::move(handler))) {}
  ~BeastServer() override {
    core_->context.stop();
    if (thread_.joinable()) thread_.join();
  }
  BeastServer(const BeastServer&) = delete;
  BeastServer& operator=(const BeastServer&) = delete;

  Status bind(std::uint16_t port) {
    const tcp::endpoint loopback(asio::ip::address_v4::loopback(), port);
    error_code fault;
    acceptor_.open(loopback.protocol(), fault);
    if (!fault) acceptor_.set_option(tcp::acceptor::reuse_address(true), fault);
    if (!fault) acceptor_.bind(loopback, fault);
    if (!fault) acceptor_.listen(SOMAXCONN, fault);
    if (fault) {
      return Error{ErrorCode::unavailable,
                   "cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + fault.message()};
    }
    port_ = acceptor_.local_endpoint(fault).port();
    accept();
    return ok();
  }

  void run() override {
    thread_ = std::thread([this] { core_->context.run(); });
  }

  std::uint16_t port() const override { return port_; }
  ServerFigures figures() const override {
    const Counters& now = core_->counters;
    return {now.accepted, now.refused, now.open, now.requests, now.replies, now.bytes};
  }

 private:
  static constexpr std::chrono::milliseconds kAcceptPause{50};

  void accept() {
    acceptor_.async_accept([this](const error_code& fault, tcp::socket socket) {
      if (fault) return accept_later();
      if (core_->counters.open >= kConnectionsMax) {
        ++core_->counters.refused;
      } else {
        ++core_->counters.accepted;
        std::make_shared<Connection>(std::move(socket), *core_)->read();
      }
      accept();
    });
  }

  // Mostly there are no more file descriptors: trying again at once would only burn the processor.
  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](const error_code& fault) {
      if (!fault) accept();
    });
  }

  std::shared_ptr<Core> core_;
  tcp::acceptor acceptor_{core_->context};
  asio::steady_timer pause_{core_->context};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(std::uint16_t port, Handler handler) {
  auto server = std::make_unique<BeastServer>(std::move(handler));
  PAWL_CHECK(server->bind(port));
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace pawl::fake
