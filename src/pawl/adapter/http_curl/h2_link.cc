#include "pawl/adapter/http_curl/h2_link.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/adapter/http_curl/exchange.h"
#include "pawl/adapter/http_curl/libcurl.h"
#include "pawl/result.h"

namespace pawl::http_curl {
namespace {

constexpr std::size_t kReadBytes = 16U << 10U;
// Before the loop has its turn.
constexpr int kReadsMax = 16;
constexpr std::array<unsigned char, 12> kProtocols = {2,   'h', '2', 8,   'h', 't',
                                                      't', 'p', '/', '1', '.', '1'};

// Not by libcurl's own option: it must not know that HTTP/2 is spoken.
CURLcode offer_protocols(CURL*, void* context, void*) {
  const int refused =
      lib.ctx_set_alpn_protos(static_cast<SSL_CTX*>(context), kProtocols.data(), kProtocols.size());
  return refused == 0 ? CURLE_OK : CURLE_SSL_CONNECT_ERROR;
}

}  // namespace

bool H2Link::prepare(CURL* easy, const std::string& origin, std::int64_t connect_ms) {
  bool fine = lib.ctx_set_alpn_protos != nullptr && lib.get0_alpn_selected != nullptr;
  const auto set = [&](CURLoption option, auto value) {
    fine = lib.easy_setopt(easy, option, value) == CURLE_OK && fine;
  };
  set(CURLOPT_URL, (origin + "/").c_str());
  set(CURLOPT_CONNECT_ONLY, 1L);
  set(CURLOPT_SSL_ENABLE_ALPN, 0L);
  set(CURLOPT_SSL_CTX_FUNCTION, &offer_protocols);
  set(CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(connect_ms == 0 ? kConnectMaxMs : std::min(connect_ms, kConnectMaxMs)));
  return fine;
}

H2Link::H2Link(SocketLoop& loop, Host& host, CurlMulti& multi, CURL* easy, std::string origin)
    : loop_(loop), host_(host), multi_(multi), easy_(easy), origin_(std::move(origin)) {
  lib.easy_setopt(easy_, CURLOPT_PRIVATE, static_cast<void*>(this));
  lib.easy_setopt(easy_, CURLOPT_ERRORBUFFER, detail_.data());
  if (multi_.add(easy_) != CURLE_OK) {
    free_handle(std::exchange(easy_, nullptr));
    state_ = State::failed;
  }
}

H2Link::~H2Link() {
  if (state_ == State::open) {  // as far as the socket takes it at once
    session_.say_goodbye();
    flush();
  }
  watch_.reset();
  if (easy_ == nullptr) return;
  multi_.remove(easy_);
  free_handle(easy_);
}

H2Link::Begun H2Link::begin() {
  // The first read makes libcurl look for the connection of this handle.
  std::array<char, kReadBytes> bytes;
  std::size_t got = 0;
  const CURLcode code = lib.easy_recv(easy_, bytes.data(), bytes.size(), &got);
  if (code != CURLE_OK && code != CURLE_AGAIN) {
    fail();
    return Begun::failed;
  }
  lib.easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &fd_);
  if (fd_ == CURL_SOCKET_BAD || !speaks_h2()) {
    state_ = State::failed;
    return Begun::other_protocol;
  }
  state_ = State::settling;
  watch_for(Interest::read);
  if (code == CURLE_OK) take({bytes.data(), got});
  flush();
  go_on_soon();
  return Begun::well;
}

bool H2Link::speaks_h2() const {
  const curl_tlssessioninfo* tls = nullptr;
  lib.easy_getinfo(easy_, CURLINFO_TLS_SSL_PTR, &tls);
  if (tls == nullptr || tls->backend != CURLSSLBACKEND_OPENSSL || tls->internals == nullptr) {
    return false;
  }
  const unsigned char* chosen = nullptr;
  unsigned bytes = 0;
  lib.get0_alpn_selected(static_cast<const SSL*>(tls->internals), &chosen, &bytes);
  return bytes == 2 && chosen[0] == 'h' && chosen[1] == '2';
}

void H2Link::watch_for(Interest interest) {
  if (watch_ && watched_ == interest) return;
  watch_.reset();  // there may be only one
  watched_ = interest;
  watch_ = loop_.watch(fd_, interest, [this](Interest) { on_ready(); });
}

void H2Link::on_ready() {
  const auto pin = host_.pin();
  receive();
  flush();
  host_.on_moved(*this);
}

// TLS may have taken more from the socket than it has given on, which wakes nobody up: so all of it
// is read, or the loop is asked for another turn.
void H2Link::receive() {
  std::array<char, kReadBytes> bytes;
  for (int reads = 0; reads < kReadsMax; ++reads) {
    if (state_ == State::failed) return;
    std::size_t got = 0;
    const CURLcode code = lib.easy_recv(easy_, bytes.data(), bytes.size(), &got);
    if (code == CURLE_AGAIN) return;
    if (code != CURLE_OK || got == 0) return fail();
    if (!take({bytes.data(), got})) return;
  }
  go_on_soon();
}

void H2Link::go_on_soon() {
  loop_.post([weak = std::weak_ptr<H2Link*>(self_)] {
    const auto self = weak.lock();
    if (self) (*self)->on_ready();
  });
}

bool H2Link::take(std::string_view bytes) {
  if (!session_.receive(bytes)) {
    fail();
    return false;
  }
  if (state_ == State::settling && session_.ready()) {
    state_ = State::open;
    idle_since_ms_ = loop_.monotonic_ms();
  }
  return true;
}

void H2Link::flush() {
  if (state_ == State::connecting || state_ == State::failed) return;
  while (true) {
    const std::string_view output = session_.output();
    if (output.empty()) {
      if (session_.over()) return fail();
      return watch_for(Interest::read);
    }
    std::size_t sent = 0;
    const CURLcode code = lib.easy_send(easy_, output.data(), output.size(), &sent);
    if (code == CURLE_AGAIN) return watch_for(Interest::both);
    if (code != CURLE_OK) return fail();
    session_.on_sent(sent);
  }
}

void H2Link::fail() {
  if (state_ == State::failed) return;
  state_ = State::failed;
  watch_.reset();
  session_.end_all();
}

std::size_t H2Link::room() const {
  return state_ == State::open && !retired_ ? session_.room() : 0;
}

bool H2Link::useless() const {
  if (!idle()) return false;
  return state_ == State::failed || retired_ || session_.leaving();
}

}  // namespace pawl::http_curl
