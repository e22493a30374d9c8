#include "pawl/adapter/egress/proxy_request.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace pawl::egress {
namespace {

TEST_CASE("CONNECT names a host and a port") {
  const auto request = read_proxy_request(
      "CONNECT A.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: x\r\n\r\n");
  REQUIRE(request);
  CHECK(request->kind == ProxyRequest::Kind::tunnel);
  CHECK(request->target.host.text == "a.test");
  CHECK(request->target.port == 443);
  CHECK(read_proxy_request("CONNECT [::1]:443 HTTP/1.0\r\n\r\n")->target.host.text == "::1");
}

TEST_CASE("a request with a whole URL is written anew for its server") {
  const auto request = read_proxy_request(
      "POST HTTP://A.test:8080/x/../y?q=1 HTTP/1.1\r\nHOST: a.test:8080\r\nAccept:  text/html \r\n"
      "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\n"
      "Upgrade: h2c\r\nTE: trailers\r\nContent-Length: 12\r\nX-Empty:\r\n\r\n");
  REQUIRE(request);
  CHECK(request->kind == ProxyRequest::Kind::forward);
  CHECK(request->body_bytes == 12);
  CHECK(request->target.port == 8080);
  CHECK(request->head ==
        "POST /y?q=1 HTTP/1.1\r\nHost: a.test:8080\r\nConnection: close\r\nAccept: text/html\r\n"
        "Content-Length: 12\r\nX-Empty: \r\n\r\n");
}

TEST_CASE("the length of a body cannot be made to vanish") {
  const auto request = read_proxy_request(
      "POST http://a.test/ HTTP/1.1\r\nConnection: Content-Length\r\nContent-Length: 5\r\n\r\n");
  REQUIRE(request);
  CHECK(request->head.find("Content-Length: 5\r\n") != std::string::npos);
}

TEST_CASE("what could go elsewhere, or be two requests, is refused") {
  const std::vector<std::string> heads = {
      "",
      "\r\n",
      "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
      "GET a.test HTTP/1.1\r\n\r\n",
      "GET https://a.test/ HTTP/1.1\r\n\r\n",
      "GET ftp://a.test/ HTTP/1.1\r\n\r\n",
      "GET http://u@a.test/ HTTP/1.1\r\n\r\n",
      "GET http://127.1/ HTTP/1.1\r\n\r\n",
      "GET http://a.test/ HTTP/2\r\n\r\n",
      "GET http://a.test/\r\n\r\n",
      "GET http://a.test/ x HTTP/1.1\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test:81\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: \r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\n folded: x\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nA: b\nHost: b\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nA: b\rHost: b\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nA : b\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\nA\r\n\r\n",
      std::string("GET http://a.test/ HTTP/1.1\r\nA: b") + '\0' + "c\r\n\r\n",
      "GET http://a.test/ HTTP/1.1\r\n\r\nmore",
      "GET http://a.test/ HTTP/1.1\r\nA: b\r\n",
      "POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "POST http://a.test/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
      "POST http://a.test/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
      "POST http://a.test/ HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
      "CONNECT a.test HTTP/1.1\r\n\r\n",
      "CONNECT a.test:0 HTTP/1.1\r\n\r\n",
      "CONNECT a.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n",
      "CONNECT http://a.test:443 HTTP/1.1\r\n\r\n",
      "CONNECT a.test:443/x HTTP/1.1\r\n\r\n",
      "CONNECT u@a.test:443 HTTP/1.1\r\n\r\n",
      "CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n",
      "CONNECT [fe80::1%25lo]:443 HTTP/1.1\r\n\r\n",
      std::string("CONNECT 127.0.0.1\0.allowed.test:443 HTTP/1.1\r\n\r\n", 48),
      "GET http://a.test/ HTTP/1.1\r\nA: " + std::string(kProxyHeadBytesMax, 'a') + "\r\n\r\n",
  };
  for (const std::string& head : heads) {
    CAPTURE(head);
    CHECK(!read_proxy_request(head));
  }
  std::string many = "GET http://a.test/ HTTP/1.1\r\n";
  for (std::size_t i = 0; i <= kProxyHeadersMax; ++i) many += "a: b\r\n";
  CHECK(!read_proxy_request(many + "\r\n"));
}

}  // namespace
}  // namespace pawl::egress
