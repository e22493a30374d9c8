#include "pawl/adapter/egress/proxy_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "pawl/adapter/egress/client_hello.h"
#include "pawl/adapter/egress/dialling.h"
#include "pawl/adapter/egress/proxy_response.h"

namespace pawl::egress {
namespace {

constexpr std::int64_t kLastWordsMs = 1'000;
constexpr std::size_t kDialsMax = 4;
constexpr int kAnswerHeadsMax = 16;  // interim ones, and the last
constexpr int kBadRequest = 400;
constexpr int kForbidden = 403;
constexpr int kBadGateway = 502;
constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

std::string answer_of(int status, const std::string& why) {
  const std::string body = why + "\n";
  const std::string reason = status == kForbidden    ? " Forbidden"
                             : status == kBadGateway ? " Bad Gateway"
                                                     : " Bad Request";
  return "HTTP/1.1 " + std::to_string(status) + reason +
         "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

ProxyConnection::ProxyConnection(const Context& context, Descriptor client,
                                 std::function<void()> on_end)
    : context_(context),
      on_end_(std::move(on_end)),
      started_ms_(context.loop.monotonic_ms()),
      stage_since_ms_(started_ms_),
      last_byte_ms_(started_ms_) {
  client_.socket = std::move(client);
}

void ProxyConnection::begin() {
  watch_sides();
  arm();
}

// One step of every kind that is possible, so that a fast connection leaves room for the others.
void ProxyConnection::turn() {
  const auto self = shared_from_this();
  const Stage before = stage_;
  step();
  if (stage_ == Stage::ended) return;
  if (stage_ != before) {
    stage_since_ms_ = context_.loop.monotonic_ms();
    arm();
  }
  watch_sides();
}

void ProxyConnection::step() {
  switch (stage_) {
    case Stage::reading_head:
      if (up_.read_from(client_.socket.number()) == Pipe::Step::ended) return end();
      return read_head();
    case Stage::vetting:
      return;
    case Stage::dialling:
      return on_dialled();
    case Stage::reading_hello:
      if (down_.write_to(client_.socket.number()) == Pipe::Step::ended) return end();
      if (up_.read_from(client_.socket.number()) == Pipe::Step::ended) return end();
      return read_hello();
    case Stage::relaying:
      return relay();
    case Stage::closing:
      return drain();
    case Stage::ended:
      return;
  }
}

void ProxyConnection::read_head() {
  const std::string_view so_far = up_.bytes();
  const std::size_t end = so_far.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (so_far.size() > kProxyHeadBytesMax) refuse(kBadRequest, "the head is over its bound");
    return;
  }
  auto request = read_proxy_request(so_far.substr(0, end + 4));
  if (!request) return refuse(kBadRequest, request.error().message);
  request_ = *std::move(request);
  request_.target.client = context_.client;
  up_.drop(end + 4);
  stage_ = Stage::vetting;
  vetting_ =
      context_.guard.vet(request_.target, [weak = weak_from_this()](EgressGuard::Answer answer) {
        if (const auto self = weak.lock()) self->on_vetted(answer);
      });
}

void ProxyConnection::on_vetted(EgressGuard::Answer& answer) {
  vetting_.reset();
  stage_since_ms_ = context_.loop.monotonic_ms();
  if (answer) {
    addresses_ = std::move(answer->addresses);
    if (addresses_.size() > kDialsMax) addresses_.resize(kDialsMax);
    std::reverse(addresses_.begin(), addresses_.end());
    // Each has its share, so that one that says nothing leaves time for the next.
    dial_ms_ = context_.options.connect_ms / static_cast<std::int64_t>(addresses_.size());
    stage_ = Stage::dialling;
    dial();
  } else {
    const bool refused = answer.error().code == ErrorCode::invalid_argument;
    refuse(refused ? kForbidden : kBadGateway, answer.error().message);
  }
  arm();
  watch_sides();
}

void ProxyConnection::dial() {
  server_.close();
  stage_since_ms_ = context_.loop.monotonic_ms();
  while (!addresses_.empty()) {
    dialled_ = to_text(addresses_.back());
    server_.socket = begin_connecting(addresses_.back(), request_.target.port);
    addresses_.pop_back();
    if (server_.socket) return;
  }
  refuse(kBadGateway, "none of the server's addresses could be connected to");
}

void ProxyConnection::on_dialled() {
  switch (state_of(server_.socket)) {
    case Dialled::pending:
      return;
    case Dialled::failed:
      return dial();
    case Dialled::connected:
      return on_connected();
  }
}

void ProxyConnection::on_connected() {
  tell(EgressEvent::Verdict::allowed, "connected to " + dialled_);
  if (request_.kind == ProxyRequest::Kind::tunnel) {
    down_.put(kEstablished);
    stage_ = Stage::reading_hello;
    return read_hello();
  }
  // One request and nothing behind it: what follows may be for another host.
  const std::string early(up_.bytes().substr(0, request_.body_bytes));
  up_.clear();
  up_.put(request_.head);
  up_.put(early);
  up_.limit(request_.body_bytes - early.size());
  answer_head_ = Head::awaited;
  stage_ = Stage::relaying;
}

void ProxyConnection::read_hello() {
  const ClientHello hello = read_client_hello(up_.bytes());
  const UrlHost& host = request_.target.host;
  switch (hello.verdict) {
    case ClientHello::Verdict::incomplete:
      return;
    case ClientHello::Verdict::named:
      if (!host.address && hello.name == host.text) break;
      tell(EgressEvent::Verdict::refused, "the tunnel is for another host: " + hello.name);
      return end();
    case ClientHello::Verdict::nameless:
      if (host.address) break;
      tell(EgressEvent::Verdict::refused, "the tunnel's TLS does not name its host");
      return end();
    case ClientHello::Verdict::refused:
      tell(EgressEvent::Verdict::refused, "what goes through a tunnel must begin with TLS");
      return end();
  }
  stage_ = Stage::relaying;
}

void ProxyConnection::relay() {
  const int client = client_.socket.number();
  const int server = server_.socket.number();
  const bool upload_open = !up_.is_done();
  const Pipe::Step taken[] = {up_.read_from(client), from_server().read_from(server)};
  if (answer_head_ == Head::awaited) forward_head();
  if (stage_ != Stage::relaying) return;
  const Pipe::Step given[] = {up_.write_to(server), down_.write_to(client)};
  for (const Pipe::Step step : {taken[0], taken[1], given[0], given[1]}) {
    if (step == Pipe::Step::moved) last_byte_ms_ = context_.loop.monotonic_ms();
  }
  // Whoever takes no more ends it; so does a server that has said all.
  if (given[0] == Pipe::Step::ended || given[1] == Pipe::Step::ended) return end();
  if (down_.is_done()) return end();
  const std::uint64_t most = context_.options.bytes_max;
  if (up_.read_bytes() > most || down_.read_bytes() > most) {
    tell(EgressEvent::Verdict::refused, "ended: more bytes than a connection may have");
    return end();
  }
  if (request_.kind == ProxyRequest::Kind::forward) return look_for_end_of_client();
  if (upload_open && up_.is_done()) ::shutdown(server, SHUT_WR);
}

// Nothing of an answer goes to the client before its head says that it is the last.
void ProxyConnection::forward_head() {
  while (answer_head_ == Head::awaited) {
    const ProxyResponse read = read_proxy_response(answer_.bytes());
    const bool whole = read.verdict != ProxyResponse::Verdict::incomplete;
    if (read.verdict == ProxyResponse::Verdict::refused || (!whole && answer_.source_ended())) {
      return refuse(kBadGateway, "the server's answer is not HTTP/1.1");
    }
    if (!whole) return;
    if (++answer_heads_ > kAnswerHeadsMax) {
      return refuse(kBadGateway, "the server's answer does not begin");
    }
    down_.put(read.head);
    answer_.drop(read.bytes);
    if (read.verdict == ProxyResponse::Verdict::final) answer_head_ = Head::passed;
  }
  down_.put(answer_.bytes());
  answer_.clear();
}

// What a client says behind its one request goes nowhere; that it has said all is passed on.
void ProxyConnection::look_for_end_of_client() {
  if (!up_.is_done() || client_rest_ == Rest::ended) return;
  client_rest_ = Rest::discarded;
  std::array<char, 4096> scrap;
  const ssize_t got = ::recv(client_.socket.number(), scrap.data(), scrap.size(), MSG_DONTWAIT);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
  client_rest_ = Rest::ended;
  ::shutdown(server_.socket.number(), SHUT_WR);
}

// Takes what the client still says until it closes: a socket that is closed with bytes unread would
// take the last words back.
void ProxyConnection::drain() {
  if (down_.write_to(client_.socket.number()) == Pipe::Step::ended) return end();
  if (!down_.has_bytes()) ::shutdown(client_.socket.number(), SHUT_WR);
  const Pipe::Step step = up_.read_from(client_.socket.number());
  up_.clear();
  if (step == Pipe::Step::ended) end();
}

void ProxyConnection::refuse(int status, const std::string& why) {
  // What the guard refused, it has told.
  if (status == kBadRequest) tell(EgressEvent::Verdict::refused, "request refused: " + why);
  if (status == kBadGateway) tell(EgressEvent::Verdict::unresolved, why);
  server_.close();
  up_.clear();
  down_.put(answer_of(status, why));
  stage_ = Stage::closing;
}

void ProxyConnection::tell(EgressEvent::Verdict verdict, const std::string& detail) const {
  if (!context_.sink) return;
  const UrlHost& host = request_.target.host;
  std::string target = "?";
  if (!host.text.empty()) target = host.text + ":" + std::to_string(request_.target.port);
  context_.sink({verdict, target, detail, context_.client});
}

void ProxyConnection::end() {
  if (std::exchange(stage_, Stage::ended) == Stage::ended) return;
  vetting_.reset();
  timer_.reset();
  client_.close();
  server_.close();
  std::exchange(on_end_, {})();
}

void ProxyConnection::watch_sides() {
  using Wants = Side::Wants;
  const auto wants = [](bool read, bool write) {
    if (read) return write ? Wants::both : Wants::read;
    return write ? Wants::write : Wants::nothing;
  };
  const bool listens = stage_ != Stage::vetting && stage_ != Stage::dialling;
  const bool relays = stage_ == Stage::relaying;
  const bool discards = relays && client_rest_ == Rest::discarded;
  watch(client_, wants(listens && (up_.has_room() || discards), down_.has_bytes()));
  if (server_.socket) {
    watch(server_, wants(relays && from_server().has_room(),
                         stage_ == Stage::dialling || (relays && up_.has_bytes())));
  }
}

void ProxyConnection::watch(Side& side, Side::Wants wants) {
  if (side.wants == wants) return;
  side.wants = wants;
  side.watch.reset();
  if (wants == Side::Wants::nothing) return;
  const Interest interest = wants == Side::Wants::both   ? Interest::both
                            : wants == Side::Wants::read ? Interest::read
                                                         : Interest::write;
  side.watch = context_.loop.watch(side.socket.number(), interest,
                                   [weak = weak_from_this()](Interest /*ready*/) {
                                     if (const auto self = weak.lock()) self->turn();
                                   });
}

std::int64_t ProxyConnection::due_ms() const {
  const EgressProxyOptions& options = context_.options;
  const std::int64_t total = started_ms_ + options.total_ms;
  switch (stage_) {
    case Stage::reading_head:
    case Stage::reading_hello:
      return std::min(total, stage_since_ms_ + options.head_ms);
    case Stage::vetting:
      return std::min(total, stage_since_ms_ + options.connect_ms);
    case Stage::dialling:
      return std::min(total, stage_since_ms_ + dial_ms_);
    case Stage::relaying:
      return std::min(total, last_byte_ms_ + options.idle_ms);
    case Stage::closing:
    case Stage::ended:
      break;
  }
  return stage_since_ms_ + kLastWordsMs;
}

void ProxyConnection::arm() {
  if (stage_ == Stage::ended) return;
  if (stage_ == Stage::relaying) last_byte_ms_ = context_.loop.monotonic_ms();
  timer_ = context_.loop.after(due_ms() - context_.loop.monotonic_ms(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_timer();
  });
}

void ProxyConnection::on_timer() {
  const auto self = shared_from_this();
  const std::int64_t left_ms = due_ms() - context_.loop.monotonic_ms();
  if (left_ms > 0) {  // bytes have come since it was armed
    timer_ = context_.loop.after(left_ms, [weak = weak_from_this()] {
      if (const auto again = weak.lock()) again->on_timer();
    });
    return;
  }
  if (stage_ != Stage::vetting && stage_ != Stage::dialling) {
    if (stage_ != Stage::closing) tell(EgressEvent::Verdict::refused, "ended: too slow");
    return end();
  }
  if (stage_ == Stage::dialling) {
    dial();  // the next one
  } else {
    vetting_.reset();
    refuse(kBadGateway, "the name could not be resolved in time");
  }
  stage_since_ms_ = context_.loop.monotonic_ms();
  arm();
  watch_sides();
}

}  // namespace pawl::egress
