#include "pawl/adapter/http_curl/handle_pool.h"
#include "pawl/adapter/http_curl/libcurl.h"

namespace pawl::http_curl {
namespace {

constexpr long kReceiveBufferBytes = 1536;    // held by every live stream
constexpr long kSendBufferBytes = 16 * 1024;  // libcurl's least
constexpr long kKeepAliveIdleS = 60;          // a model may think for minutes behind a NAT

}  // namespace

HandlePool::~HandlePool() {
  for (CURL* const easy : spare_) free_handle(easy);
}

CURL* HandlePool::take() {
  if (spare_.empty()) return make();
  CURL* const easy = spare_.back();
  spare_.pop_back();
  return easy;
}

void HandlePool::give_back(CURL* easy) {
  if (spare_.size() >= kSpareHandlesMax) {
    free_handle(easy);
    return;
  }
  lib.easy_setopt(easy, CURLOPT_PRIVATE, nullptr);
  lib.easy_setopt(easy, CURLOPT_ERRORBUFFER, nullptr);
  lib.easy_setopt(easy, CURLOPT_HTTPHEADER, nullptr);
  lib.easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
  lib.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t{-1});
  lib.easy_setopt(easy, CURLOPT_READFUNCTION, nullptr);
  lib.easy_setopt(easy, CURLOPT_READDATA, nullptr);
  lib.easy_setopt(easy, CURLOPT_SEEKFUNCTION, nullptr);
  lib.easy_setopt(easy, CURLOPT_SEEKDATA, nullptr);
  lib.easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  lib.easy_setopt(easy, CURLOPT_FORBID_REUSE, 0L);
  spare_.push_back(easy);
}

CURL* HandlePool::make() const {
  CURL* const easy = lib.easy_init();
  if (easy == nullptr) return nullptr;
  bool fine = true;
  // Through the function itself: the macro of the same name wants constants.
  const auto set = [&](CURLoption option, auto value) {
    fine = lib.easy_setopt(easy, option, value) == CURLE_OK && fine;
  };
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options_.ca_bundle.empty()) set(CURLOPT_CAINFO, options_.ca_bundle.c_str());
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // the proxy's head is not the response's
  set(CURLOPT_QUICK_EXIT, 1L);  // an abort does not wait for the thread that resolves a name
  set(CURLOPT_BUFFERSIZE, kReceiveBufferBytes);
  set(CURLOPT_UPLOAD_BUFFERSIZE, kSendBufferBytes);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleS);
  set(CURLOPT_TCP_KEEPINTVL, kKeepAliveIdleS);
  set(CURLOPT_USERAGENT, options_.user_agent.c_str());
  set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  if (fine) return easy;
  free_handle(easy);
  return nullptr;
}

}  // namespace pawl::http_curl
