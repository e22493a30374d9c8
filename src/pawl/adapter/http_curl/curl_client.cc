#include "pawl/adapter/http_curl/curl_client.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pawl/adapter/http_curl/connect_gate.h"
#include "pawl/adapter/http_curl/curl_multi.h"
#include "pawl/adapter/http_curl/exchange.h"
#include "pawl/adapter/http_curl/h2_pool.h"
#include "pawl/adapter/http_curl/h2_request.h"
#include "pawl/adapter/http_curl/handle_pool.h"
#include "pawl/adapter/http_curl/libcurl.h"
#include "pawl/adapter/http_curl/request_check.h"
#include "pawl/result.h"

namespace pawl::http_curl {
namespace {

// To send large bodies from, of all requests together.
constexpr std::size_t kRoomBytes = 8U << 20U;

// Requests that one turn starts, sends again, goes on with or reports: some 40 us each. The rest
// come with turns of their own, so that the loop has its own between them.
constexpr std::size_t kTurnMax = 8;

using Exchanges = std::deque<std::shared_ptr<Exchange>>;

// So many of the first.
Exchanges take_some(Exchanges& all) {
  if (all.size() <= kTurnMax) return std::exchange(all, {});
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(kTurnMax);
  Exchanges some(std::move_iterator(all.begin()), std::move_iterator(end));
  all.erase(all.begin(), end);
  return some;
}

// All that is under way. Callbacks of libcurl and calls from outside only note what is to be done;
// turn() does it, from the loop, when libcurl is not at work.
class Traffic final : public CurlMulti::Host,
                      public Exchange::Owner,
                      public H2Pool::Owner,
                      public std::enable_shared_from_this<Traffic> {
 public:
  Traffic(SocketLoop& loop, CurlOptions options)
      : loop_(loop),
        options_(std::move(options)),
        multis_(loop, *this, options_),
        handles_(options_),
        h2_(loop, *this, options_, handles_, multis_.calling_mark()),
        gate_(options_.connecting_max) {}
  ~Traffic() override;

  std::shared_ptr<Exchange> start(HttpRequest request, HttpHandler handler);

  std::shared_ptr<void> pin() override { return shared_from_this(); }
  void on_result(CURL* easy, CURLcode code) override;
  void on_progress() override { turn(); }
  void on_connected(Exchange& exchange) override;
  void on_deadlines_changed(Exchange& exchange) override;
  void on_resumed(Exchange& exchange) override;
  void on_ended(Exchange& exchange) override;
  void on_refused(Exchange& exchange) override;
  std::shared_ptr<void> pin_traffic() override { return shared_from_this(); }
  void on_h2_progress() override { turn(); }
  void go_by_h1(Exchange& exchange) override;
  std::int64_t now_ms() const override { return loop_.monotonic_ms(); }
  std::size_t lend_room(std::size_t wanted) override;
  void take_room_back(std::size_t bytes) override { room_ += bytes; }

 private:
  void turn_soon();
  void turn();
  void open_waiting();
  void open(const std::shared_ptr<Exchange>& exchange);
  void send_again();
  void unpause_resumed();
  void report_ended();
  void take_away(Exchange& exchange);
  static CURL* close(Exchange& exchange);
  void on_timer();
  void arm();

  SocketLoop& loop_;
  const CurlOptions options_;
  MultiSet multis_;
  HandlePool handles_;
  H2Pool h2_;
  std::unordered_map<Exchange*, std::shared_ptr<Exchange>> exchanges_;  // <= requests_max
  ConnectGate<Exchange> gate_;
  Exchanges resumed_;
  Exchanges ended_;
  Exchanges refused_;
  enum class Turn : std::uint8_t { none, posted } turn_ = Turn::none;
  DeadlineQueue<Exchange> deadlines_;
  std::unique_ptr<Timer> timer_;
  std::int64_t timer_at_ms_ = kNeverMs;
  std::size_t room_ = kRoomBytes;  // that is not lent
};

Traffic::~Traffic() {
  for (const auto& [raw, exchange] : exchanges_) {
    if (exchange->multi() != nullptr) exchange->multi()->remove(exchange->easy());
    h2_.take_away(*exchange);
    free_handle(exchange->close());
  }
}

std::shared_ptr<Exchange> Traffic::start(HttpRequest request, HttpHandler handler) {
  const Status loaded = load_libcurl();
  const Status fit = loaded ? check_request(request) : loaded;
  auto exchange = std::make_shared<Exchange>(*this, std::move(request), std::move(handler));
  if (!fit) {
    exchange->end(HttpFailure::invalid, fit.error().message);
  } else if (exchange->version() == HttpVersion::two && !can_go_by_h2(exchange->request())) {
    exchange->end(HttpFailure::invalid, "HTTP/2 is spoken over https only");
  } else if (exchanges_.size() >= options_.requests_max) {
    exchange->end(HttpFailure::overloaded, "too many requests are under way");
  } else {
    exchanges_.emplace(exchange.get(), exchange);
    gate_.wait(exchange->origin(), exchange);
    on_deadlines_changed(*exchange);
    turn_soon();
  }
  return exchange;
}

void Traffic::on_resumed(Exchange& exchange) {
  resumed_.push_back(exchange.shared_from_this());
  turn_soon();
}

void Traffic::on_connected(Exchange& exchange) {
  gate_.leave(exchange.origin());
}

void Traffic::on_deadlines_changed(Exchange& exchange) {
  // A later one is found out about when the earlier one has come.
  if (exchange.due_ms() >= exchange.place().at_ms) return;
  deadlines_.set(exchange, exchange.place(), exchange.due_ms());
  turn_soon();
}

std::size_t Traffic::lend_room(std::size_t wanted) {
  const std::size_t lent = std::min(wanted, room_);
  room_ -= lent;
  return lent;
}

void Traffic::on_ended(Exchange& exchange) {
  ended_.push_back(exchange.shared_from_this());
  turn_soon();
}

void Traffic::on_refused(Exchange& exchange) {
  refused_.push_back(exchange.shared_from_this());
  turn_soon();
}

void Traffic::go_by_h1(Exchange& exchange) {
  if (exchange.fall_back()) open(exchange.shared_from_this());
}

void Traffic::turn_soon() {
  if (multis_.calling()) return;  // a turn follows
  if (std::exchange(turn_, Turn::posted) == Turn::posted) return;
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->turn();
  });
}

void Traffic::turn() {
  turn_ = Turn::none;
  send_again();
  open_waiting();
  unpause_resumed();
  report_ended();
  h2_.settle();
  arm();
  if (gate_.can_enter() || !resumed_.empty() || !ended_.empty() || !refused_.empty()) turn_soon();
}

void Traffic::open_waiting() {
  for (std::size_t opened = 0; opened < kTurnMax; ++opened) {
    const std::shared_ptr<Exchange> exchange = gate_.enter();
    if (!exchange) return;
    if (exchange->stage() == Exchange::Stage::ended) {  // taken away in this turn
      gate_.leave(exchange->origin());
      continue;
    }
    const bool by_h2 = exchange->version() != HttpVersion::one &&
                       can_go_by_h2(exchange->request()) && h2_.speaks(exchange->origin());
    if (by_h2) {
      exchange->await_stream();
      on_deadlines_changed(*exchange);
      h2_.open(exchange);
    } else if (exchange->fall_back()) {
      open(exchange);
    }
  }
}

void Traffic::open(const std::shared_ptr<Exchange>& exchange) {
  if (!exchange->open(handles_.take())) return;
  on_deadlines_changed(*exchange);
  CurlMulti& multi = multis_.with_room();
  if (const CURLcode code = multi.add(exchange->easy()); code != CURLE_OK) {
    return exchange->end_by(code);
  }
  exchange->set_multi(&multi);
  multi.run();
}

// Those that the server did nothing about.
void Traffic::send_again() {
  for (const auto& exchange : take_some(refused_)) {
    if (exchange->stage() == Exchange::Stage::ended) continue;
    free_handle(close(*exchange));
    h2_.take_away(*exchange);
    exchange->await_another();
    gate_.wait(exchange->origin(), exchange);
  }
}

void Traffic::unpause_resumed() {
  for (const auto& exchange : take_some(resumed_)) {
    if (exchange->next_after_resume() == Exchange::Next::nothing) continue;
    if (exchange->link() != nullptr) {
      h2_.resume(*exchange);
      continue;
    }
    CurlMulti& multi = *exchange->multi();
    if (const CURLcode code = multi.unpause(exchange->easy()); code != CURLE_OK) {
      exchange->end_by(code);
    }
    multi.run();
  }
}

void Traffic::on_result(CURL* easy, CURLcode code) {
  Exchange* exchange = nullptr;
  lib.easy_getinfo(easy, CURLINFO_PRIVATE, &exchange);
  if (exchange->lost_kept_connection(code)) return on_refused(*exchange);
  exchange->end_by(code);
}

CURL* Traffic::close(Exchange& exchange) {
  if (exchange.multi() != nullptr) exchange.multi()->remove(exchange.easy());
  exchange.set_multi(nullptr);
  return exchange.close();
}

void Traffic::report_ended() {
  if (ended_.empty()) return;
  for (const auto& exchange : take_some(ended_)) {
    take_away(*exchange);
    exchange->report();
  }
  multis_.drop_unused();
}

void Traffic::take_away(Exchange& exchange) {
  if (exchange.last_stage() == Exchange::Stage::connecting) gate_.leave(exchange.origin());
  if (exchange.last_stage() == Exchange::Stage::waiting) gate_.forget(exchange.origin(), exchange);
  h2_.take_away(exchange);
  CURL* const easy = close(exchange);
  if (easy != nullptr && exchange.ended_well()) {
    handles_.give_back(easy);
  } else {
    free_handle(easy);
  }
  deadlines_.set(exchange, exchange.place(), kNeverMs);
  exchanges_.erase(&exchange);
}

void Traffic::on_timer() {
  const auto self = shared_from_this();
  timer_at_ms_ = kNeverMs;
  const std::int64_t now = now_ms();
  while (Exchange* const exchange = deadlines_.first_due(now)) {
    exchange->check_deadlines();
    deadlines_.set(*exchange, exchange->place(), exchange->due_ms());
  }
  turn();
}

void Traffic::arm() {
  const std::int64_t at_ms = deadlines_.earliest_ms();
  if (at_ms >= timer_at_ms_) return;
  timer_at_ms_ = at_ms;
  timer_ = loop_.after(at_ms - now_ms(), [this] { on_timer(); });
}

class CurlOperation final : public HttpOperation {
 public:
  CurlOperation(std::shared_ptr<Traffic> traffic, std::shared_ptr<Exchange> exchange)
      : traffic_(std::move(traffic)), exchange_(std::move(exchange)) {}
  ~CurlOperation() override { exchange_->silence(); }
  CurlOperation(const CurlOperation&) = delete;
  CurlOperation& operator=(const CurlOperation&) = delete;

  void abort() override { exchange_->end(HttpFailure::aborted, "aborted"); }
  void pause() override { exchange_->pause(); }
  void resume() override { exchange_->resume(); }

 private:
  std::shared_ptr<Traffic> traffic_;
  std::shared_ptr<Exchange> exchange_;
};

class CurlClient final : public HttpClient {
 public:
  CurlClient(SocketLoop& loop, CurlOptions options)
      : traffic_(std::make_shared<Traffic>(loop, std::move(options))) {}

  std::unique_ptr<HttpOperation> start(HttpRequest request, HttpHandler handler) override {
    return std::make_unique<CurlOperation>(traffic_,
                                           traffic_->start(std::move(request), std::move(handler)));
  }

 private:
  std::shared_ptr<Traffic> traffic_;
};

// As the tools of curl and OpenSSL do; libcurl itself looks at neither.
std::string ca_bundle_of_environment() {
  for (const char* const name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace
}  // namespace pawl::http_curl

namespace pawl {

std::shared_ptr<HttpClient> make_curl_client(SocketLoop& loop, CurlOptions options) {
  if (options.ca_bundle.empty()) options.ca_bundle = http_curl::ca_bundle_of_environment();
  return std::make_shared<http_curl::CurlClient>(loop, std::move(options));
}

}  // namespace pawl
