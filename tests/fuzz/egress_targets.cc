// Readers of what decides where a connection goes: URLs, the first message of TLS, requests to and
// answers through the proxy. libcurl is the judge of URLs: what we say the host is must be what it
// dials.
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "pawl/adapter/egress/address_class.h"
#include "pawl/adapter/egress/client_hello.h"
#include "pawl/adapter/egress/proxy_request.h"
#include "pawl/adapter/egress/proxy_response.h"
#include "pawl/base/url.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {
namespace {

using CurlUrl = std::unique_ptr<CURLU, void (*)(CURLU*)>;

CurlUrl curl_url_of(const std::string& text) {
  CurlUrl url(curl_url(), curl_url_cleanup);
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) url.reset();
  return url;
}

// As libcurl reads it, in our spelling.
std::string part(const CurlUrl& url, CURLUPart which) {
  char* raw = nullptr;
  FUZZ_CHECK(curl_url_get(url.get(), which, &raw, CURLU_DEFAULT_PORT) == CURLUE_OK);
  std::string text(raw);
  curl_free(raw);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (text.starts_with('[')) text = to_text(*parse_ipv6(text.substr(1, text.size() - 2)));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void check_same_server(const Url& ours, const CurlUrl& theirs) {
  FUZZ_CHECK(part(theirs, CURLUPART_SCHEME) == ours.scheme);
  FUZZ_CHECK(part(theirs, CURLUPART_HOST) == ours.host.text);
  FUZZ_CHECK(part(theirs, CURLUPART_PORT) == std::to_string(ours.port));
}

curl_socket_t note_address(void* found, curlsocktype /*purpose*/, curl_sockaddr* to) {
  IpAddress address;
  const sockaddr* const generic = &to->addr;
  if (to->family == AF_INET) {
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(generic)->sin_addr,
                IpAddress::kV4Bytes);
  } else {
    address.family = IpAddress::Family::v6;
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(generic)->sin6_addr,
                IpAddress::kV6Bytes);
  }
  *static_cast<std::optional<IpAddress>*>(found) = address;
  return CURL_SOCKET_BAD;  // far enough
}

// Where libcurl would connect to. Only for addresses: nothing is resolved, nothing is sent.
std::optional<IpAddress> dialled(const std::string& text) {
  std::optional<IpAddress> found;
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), curl_easy_cleanup);
  curl_easy_setopt(easy.get(), CURLOPT_URL, text.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_OPENSOCKETFUNCTION, note_address);
  curl_easy_setopt(easy.get(), CURLOPT_OPENSOCKETDATA, &found);
  curl_easy_perform(easy.get());
  return found;
}

}  // namespace

void fuzz_url(std::string_view bytes) {
  const std::string text(bytes);
  if (const auto url = parse_url(text)) {
    const auto again = parse_url(url->text());
    FUZZ_CHECK(again && *again == *url);
    FUZZ_CHECK(url->shown().find('=') == std::string::npos ||
               url->path.find('=') != url->path.npos);
    const CurlUrl canonical = curl_url_of(url->text());
    FUZZ_CHECK(canonical != nullptr);
    check_same_server(*url, canonical);
    if (const CurlUrl raw = curl_url_of(text)) check_same_server(*url, raw);
    if (url->host.address) {
      FUZZ_CHECK(dialled(url->text()) == url->host.address);
      FUZZ_CHECK(dialled(text) == url->host.address);
      static_cast<void>(egress::classify(*url->host.address));
    }
  }
  const std::string base_text = "https://base.test/a/b?c";
  const auto target = resolve_reference(parse_url(base_text).value(), text);
  if (!target) return;
  const CurlUrl theirs = curl_url_of(base_text);
  FUZZ_CHECK(theirs != nullptr);
  if (curl_url_set(theirs.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK) {
    check_same_server(*target, theirs);
  }
}

void fuzz_client_hello(std::string_view bytes) {
  using Verdict = egress::ClientHello::Verdict;
  const auto whole = egress::read_client_hello(bytes);
  FUZZ_CHECK((whole.verdict == Verdict::named) == !whole.name.empty());
  // A verdict stands, whatever comes behind it.
  const auto half = egress::read_client_hello(bytes.substr(0, bytes.size() / 2));
  if (half.verdict == Verdict::incomplete) return;
  FUZZ_CHECK(half.verdict == whole.verdict && half.name == whole.name);
}

void fuzz_proxy_request(std::string_view bytes) {
  static_cast<void>(egress::read_proxy_response(bytes));
  const auto request = egress::read_proxy_request(bytes);
  if (!request || request->kind == egress::ProxyRequest::Kind::tunnel) return;
  // What is sent is one head, with one Host that is the target's.
  const std::string& head = request->head;
  FUZZ_CHECK(head.find("\r\n\r\n") + 4 == head.size());
  std::string lower = head;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::size_t host = lower.find("\nhost:");
  FUZZ_CHECK(host != std::string::npos && lower.find("\nhost:", host + 1) == std::string::npos);
  FUZZ_CHECK(lower.find("\nproxy-") == std::string::npos);
  FUZZ_CHECK(lower.find("\ntransfer-encoding:") == std::string::npos);
  FUZZ_CHECK(lower.find(request->target.host.text, host) != std::string::npos);
}

}  // namespace pawl::fuzz
