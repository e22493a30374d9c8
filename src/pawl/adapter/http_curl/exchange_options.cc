// How libcurl is told what a request is.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pawl/adapter/http_curl/exchange.h"
#include "pawl/adapter/http_curl/libcurl.h"

namespace pawl::http_curl {
namespace {

bool leads_to(const curl_sockaddr& to, const IpAddress& address) {
  const sockaddr* const generic = &to.addr;
  if (address.family == IpAddress::Family::v4) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(generic);
    return to.family == AF_INET &&
           std::memcmp(&v4->sin_addr, address.bytes.data(), IpAddress::kV4Bytes) == 0;
  }
  const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(generic);
  return to.family == AF_INET6 &&
         std::memcmp(&v6->sin6_addr, address.bytes.data(), IpAddress::kV6Bytes) == 0;
}

}  // namespace

// Through the function itself: the macro of the same name wants constants.
template <class Value>
void Exchange::set(CURLoption option, Value value) {
  const CURLcode code = lib.easy_setopt(easy_, option, value);
  if (set_up_ == CURLE_OK) set_up_ = code;
}
template void Exchange::set(CURLoption option, long value);
template void Exchange::set(CURLoption option, void* value);

bool Exchange::open(CURL* easy) {
  stage_ = Stage::connecting;
  connecting_since_ms_ = owner_.now_ms();
  ++sends_;
  easy_ = easy;
  if (easy_ == nullptr) {
    end(HttpFailure::overloaded, "no memory");
    return false;
  }
  set_callbacks();
  set_connection();
  set_request();
  if (set_up_ != CURLE_OK) end_by(set_up_);
  return stage_ != Stage::ended;
}

void Exchange::set_callbacks() {
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_ERRORBUFFER, detail_.data());
  set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_PREREQFUNCTION, &Exchange::on_connected);
  set(CURLOPT_PREREQDATA, this);
}

void Exchange::set_connection() {
  // libcurl knows it, too, so that it leaves time for a second address.
  const std::int64_t wanted_ms = request_.deadlines.connect_ms;
  const std::int64_t connect_ms =
      wanted_ms == 0 ? kConnectMaxMs : std::min(wanted_ms, kConnectMaxMs);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_ms));
  if (request_.address) pin_connection();
}

// "::ADDRESS:" is any host and port, here, and the same port. Not CURLOPT_RESOLVE, whose entries
// are seen by every request of the process; and a kept connection is used again only by requests
// that are pinned to the same address.
void Exchange::pin_connection() {
  const std::string text = to_text(*request_.address);
  const bool v6 = request_.address->family == IpAddress::Family::v6;
  connect_to_ = lib.slist_append(nullptr, ("::" + (v6 ? "[" + text + "]" : text) + ":").c_str());
  if (connect_to_ == nullptr) {
    set_up_ = CURLE_OUT_OF_MEMORY;
    return;
  }
  set(CURLOPT_CONNECT_TO, connect_to_);
  set(CURLOPT_OPENSOCKETFUNCTION, &Exchange::on_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOPROXY, "*");
}

// Looks again at what libcurl is about to connect to: the last moment at which it can be refused.
curl_socket_t Exchange::on_socket(void* self, curlsocktype /*purpose*/,
                                  curl_sockaddr* to) noexcept {
  const Exchange& exchange = *static_cast<Exchange*>(self);
  if (!leads_to(*to, *exchange.request_.address)) return CURL_SOCKET_BAD;
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

void Exchange::set_request() {
  set(CURLOPT_URL, request_.url.c_str());
  set_headers();
  const std::string& method = request_.method;
  const bool posts = method == "POST" || method == "PUT" || method == "PATCH";
  if (method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (posts || !request_.body.empty()) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set_body();
  }
  set(CURLOPT_CUSTOMREQUEST, method.c_str());
}

void Exchange::set_body() {
  if (request_.body.size() <= kWholeBodyBytesMax) {
    set(CURLOPT_POSTFIELDS, request_.body.join().data());  // libcurl copies nothing
    return;
  }
  read_ = 0;
  set(CURLOPT_READFUNCTION, &Exchange::on_send);
  set(CURLOPT_READDATA, this);
  set(CURLOPT_SEEKFUNCTION, &Exchange::on_seek);
  set(CURLOPT_SEEKDATA, this);
  room_ = owner_.lend_room(std::min(request_.body.size(), kSendBytesMax));
  if (room_ > kSendBytesMin) set(CURLOPT_UPLOAD_BUFFERSIZE, static_cast<long>(room_));
}

// libcurl lets go of the room when it is told of another.
void Exchange::give_room_back() {
  if (room_ == 0) return;
  set(CURLOPT_UPLOAD_BUFFERSIZE, static_cast<long>(kSendBytesMin));
  owner_.take_room_back(std::exchange(room_, 0));
}

void Exchange::set_headers() {
  // Not libcurl's: it would ask for leave before it sends a large body, and call it a form.
  add_header("Expect:");
  bool typed = false;
  for (const HttpHeader& header : request_.headers) {
    typed = typed || lib.strequal(header.name.c_str(), "content-type") != 0;
    // The semicolon is libcurl's way to say a header without a value.
    add_header(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  if (!typed) add_header("Content-Type:");
  set(CURLOPT_HTTPHEADER, headers_);
  std::vector<HttpHeader>().swap(request_.headers);  // they have been copied
}

void Exchange::add_header(const std::string& line) {
  curl_slist* const longer = lib.slist_append(headers_, line.c_str());
  if (longer == nullptr) {
    set_up_ = CURLE_OUT_OF_MEMORY;
    return;
  }
  headers_ = longer;
}

}  // namespace pawl::http_curl
