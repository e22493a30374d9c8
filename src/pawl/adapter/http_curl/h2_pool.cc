#include "pawl/adapter/http_curl/h2_pool.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "pawl/adapter/http_curl/h2_request.h"
#include "pawl/adapter/http_curl/libcurl.h"

namespace pawl::http_curl {
namespace {

// Its handshake would be offered HTTP/2, too, which libcurl does not speak to proxies.
bool is_proxied_by_tls() {
  for (const char* const name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && std::string_view(value).starts_with("https:")) return true;
  }
  return false;
}

}  // namespace

H2Pool::H2Pool(SocketLoop& loop, Owner& owner, const CurlOptions& options, HandlePool& handles,
               CurlMulti::Calling& calling)
    : loop_(loop),
      owner_(owner),
      options_(options),
      handles_(handles),
      calling_(calling),
      proxied_by_tls_(is_proxied_by_tls()) {}

H2Pool::~H2Pool() {
  links_.clear();
}

bool H2Pool::speaks(const std::string& origin) {
  if (proxied_by_tls_) return false;
  const auto at = other_protocol_.find(origin);
  if (at == other_protocol_.end()) return true;
  if (at->second > loop_.monotonic_ms()) return false;
  other_protocol_.erase(at);
  return true;
}

void H2Pool::note_other_protocol(const std::string& origin) {
  if (other_protocol_.size() >= kOriginsKnownMax) other_protocol_.clear();
  other_protocol_[origin] = loop_.monotonic_ms() + kOtherProtocolMs;
}

// One with room for another stream, or that may have it soon; or else a new one.
H2Link* H2Pool::link_for(Exchange& exchange) {
  for (const auto& link : links_) {
    if (link->origin() != exchange.origin()) continue;
    const bool stale = link->state() == H2Link::State::open && link->idle() &&
                       loop_.monotonic_ms() - link->idle_since_ms() > kIdleLinkMs;
    if (stale) {
      link->retire();
      touch(*link);
      continue;
    }
    if (link->room() > 0) return link.get();
    const bool coming =
        link->state() == H2Link::State::connecting || link->state() == H2Link::State::settling;
    if (coming && link->waiting().size() < kStreamsPerLink) return link.get();
  }
  CURL* const easy = handles_.take();
  if (easy == nullptr) return nullptr;
  if (!H2Link::prepare(easy, exchange.origin(), exchange.connect_ms())) {
    free_handle(easy);
    note_other_protocol(exchange.origin());
    return nullptr;
  }
  links_.push_back(std::make_unique<H2Link>(loop_, *this, multi(), easy, exchange.origin()));
  links_.back()->place = links_.size() - 1;
  return links_.back().get();
}

CurlMulti& H2Pool::multi() {
  if (!multi_) multi_.emplace(loop_, *this, options_, calling_, CurlMulti::Rest::unwatched);
  return *multi_;
}

void H2Pool::open(const std::shared_ptr<Exchange>& exchange) {
  H2Link* const link = link_for(*exchange);
  if (link == nullptr) return owner_.go_by_h1(*exchange);
  exchange->set_link(link);
  touch(*link);
  if (link->room() > 0) return submit(*link, *exchange);
  link->waiting().push_back(exchange);
  if (link->state() == H2Link::State::connecting) multi_->run();  // it may fail at once
}

void H2Pool::submit(H2Link& link, Exchange& exchange) {
  const auto head = h2_head(exchange.request(), options_.user_agent);
  if (!head) return exchange.end(HttpFailure::invalid, head.error().message);
  const auto id = link.session().submit(exchange, *head, exchange.request().body);
  if (!id) return exchange.end(HttpFailure::broken, id.error().message);
  exchange.on_stream(*id);
}

void H2Pool::serve_waiting(H2Link& link) {
  for (const auto& exchange : std::exchange(link.waiting(), {})) {
    exchange->set_link(nullptr);
    if (exchange->stage() == Exchange::Stage::connecting) open(exchange);
  }
}

void H2Pool::on_result(CURL* easy, CURLcode code) {
  H2Link* link = nullptr;
  lib.easy_getinfo(easy, CURLINFO_PRIVATE, &link);
  touch(*link);
  const H2Link::Begun begun = code == CURLE_OK ? link->begin() : H2Link::Begun::failed;
  if (begun == H2Link::Begun::well) return;
  const auto waiting = std::exchange(link->waiting(), {});
  link->retire();
  if (begun == H2Link::Begun::other_protocol) note_other_protocol(link->origin());
  for (const auto& exchange : waiting) {
    exchange->set_link(nullptr);
    if (exchange->stage() != Exchange::Stage::connecting) continue;
    if (begun == H2Link::Begun::other_protocol) {
      owner_.go_by_h1(*exchange);
    } else {
      exchange->end_by(code == CURLE_OK ? CURLE_RECV_ERROR : code, link->detail());
    }
  }
}

void H2Pool::on_moved(H2Link& link) {
  touch(link);
  if (link.room() > 0 && !link.waiting().empty()) serve_waiting(link);
  owner_.on_h2_progress();
}

void H2Pool::take_away(Exchange& exchange) {
  H2Link* const link = exchange.link();
  if (link == nullptr) return;
  exchange.set_link(nullptr);
  touch(*link);
  std::erase_if(link->waiting(), [&](const auto& one) { return one.get() == &exchange; });
  if (exchange.stream() != 0) link->session().cancel(exchange.stream());
  // One that still waited for the connection says nothing of it, and others may wait with it.
  if (exchange.timed_out() && exchange.stream() != 0) link->retire();
  if (link->idle()) link->note_idle(loop_.monotonic_ms());
}

void H2Pool::resume(Exchange& exchange) {
  if (exchange.link() == nullptr) return;
  touch(*exchange.link());
  exchange.link()->session().resume(exchange.stream());
}

void H2Pool::touch(H2Link& link) {
  if (std::exchange(link.touched, true)) return;
  touched_.push_back(&link);
}

// Looking at one may touch others: streams that end, and takers that ask for more.
void H2Pool::settle() {
  while (!touched_.empty()) {
    H2Link& link = *touched_.back();
    touched_.pop_back();
    link.touched = false;
    settle(link);
  }
}

void H2Pool::settle(H2Link& link) {
  link.flush();
  // One that broke off before the server said anything of HTTP/2.
  if (link.state() == H2Link::State::failed) {
    for (const auto& exchange : std::exchange(link.waiting(), {})) {
      exchange->set_link(nullptr);
      exchange->end_by(CURLE_RECV_ERROR, "the connection ended");
    }
  }
  if (link.useless()) return let_go(link);
  if (link.state() != H2Link::State::open || !link.idle()) {
    idle_.erase(&link);
  } else if (idle_.insert(&link).second && idle_.size() > options_.connections_kept_max) {
    let_go(link);
  }
}

void H2Pool::let_go(H2Link& link) {
  idle_.erase(&link);
  if (link.touched) std::erase(touched_, &link);
  std::swap(links_[link.place], links_.back());
  links_[link.place]->place = link.place;
  links_.pop_back();
}

}  // namespace pawl::http_curl
