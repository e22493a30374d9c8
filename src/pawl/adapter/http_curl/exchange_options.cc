// How libcurl is told what a request is, and what it must not do.
#include <algorithm>

#include "pawl/adapter/http_curl/exchange.h"

namespace pawl::http_curl {
namespace {

constexpr long kReceiveBufferBytes = 4096;             // held by every live stream
constexpr long kSendBufferBytes = 16 * 1024;           // libcurl's least
constexpr long kKeepAliveIdleS = 60;                   // a model may think for minutes behind a NAT
constexpr long kConnectTimeoutWithoutMs = 86'400'000;  // libcurl's own would be five minutes

}  // namespace

// Through the function itself: the macro of the same name wants constants.
template <class Value>
void Exchange::set(CURLoption option, Value value) {
  const CURLcode code = (curl_easy_setopt)(easy_, option, value);
  if (set_up_ == CURLE_OK) set_up_ = code;
}
template void Exchange::set(CURLoption option, long value);

bool Exchange::open(const CurlOptions& options) {
  stage_ = Stage::connecting;
  connecting_since_ms_ = owner_.now_ms();
  easy_ = curl_easy_init();
  if (easy_ == nullptr) {
    end(HttpFailure::overloaded, "no memory");
    return false;
  }
  set_options(options);
  set_request(options);
  if (set_up_ != CURLE_OK) end_by(set_up_);
  return stage_ != Stage::ended;
}

void Exchange::set_options(const CurlOptions& options) {
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_ERRORBUFFER, detail_.data());
  set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_PREREQFUNCTION, &Exchange::on_connected);
  set(CURLOPT_PREREQDATA, this);

  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options.ca_bundle.empty()) set(CURLOPT_CAINFO, options.ca_bundle.c_str());
  // Without TLS nobody could say that the server speaks HTTP/2, and a request that waits to find
  // out would wait for the whole response before it.
  const bool secure = origin_.starts_with("https");
  const bool share = secure && options.multiplexing == CurlOptions::Multiplexing::on;
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(secure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PIPEWAIT, share ? 1L : 0L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // the proxy's head is not the response's
  set(CURLOPT_QUICK_EXIT, 1L);  // an abort does not wait for the thread that resolves a name

  set(CURLOPT_BUFFERSIZE, kReceiveBufferBytes);
  set(CURLOPT_UPLOAD_BUFFERSIZE, kSendBufferBytes);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleS);
  set(CURLOPT_TCP_KEEPINTVL, kKeepAliveIdleS);
  // libcurl knows it, too, so that it leaves time for a second address.
  const std::int64_t connect_ms = request_.deadlines.connect_ms;
  set(CURLOPT_CONNECTTIMEOUT_MS, connect_ms == 0 ? kConnectTimeoutWithoutMs
                                                 : static_cast<long>(std::min<std::int64_t>(
                                                       connect_ms, kConnectTimeoutWithoutMs)));
}

void Exchange::set_request(const CurlOptions& options) {
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_USERAGENT, options.user_agent.c_str());
  set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  // Not libcurl's: it would ask for leave before it sends a large body, and call it a form.
  add_header("Expect:");
  bool typed = false;
  for (const HttpHeader& header : request_.headers) {
    typed = typed || curl_strequal(header.name.c_str(), "content-type") != 0;
    // The semicolon is libcurl's way to say a header without a value.
    add_header(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  if (!typed) add_header("Content-Type:");
  set(CURLOPT_HTTPHEADER, headers_);
  request_.headers.clear();  // libcurl has its own copy

  const bool asks_for_head = request_.method == "HEAD";
  if (asks_for_head) set(CURLOPT_NOBODY, 1L);
  const bool posts =
      request_.method == "POST" || request_.method == "PUT" || request_.method == "PATCH";
  if (!asks_for_head && (posts || !request_.body.empty())) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, request_.body.c_str());  // no copy
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  }
  set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

void Exchange::add_header(const std::string& line) {
  curl_slist* const longer = curl_slist_append(headers_, line.c_str());
  if (longer == nullptr) {
    set_up_ = CURLE_OUT_OF_MEMORY;
    return;
  }
  headers_ = longer;
}

}  // namespace pawl::http_curl
