#include "pawl/adapter/egress/proxy_response.h"

#include <doctest/doctest.h>

#include <string>

#include "pawl/adapter/egress/proxy_request.h"

namespace pawl::egress {
namespace {

using Verdict = ProxyResponse::Verdict;

TEST_CASE("an answer says that it is the last on its connection") {
  const std::string head =
      "HTTP/1.1 200 OK\r\nCONNECTION: keep-alive\r\nA: b\r\nKeep-Alive: timeout=5\r\n\r\n";
  const ProxyResponse read = read_proxy_response(head + "body");
  CHECK(read.verdict == Verdict::final);
  CHECK(read.bytes == head.size());
  CHECK(read.head == "HTTP/1.1 200 OK\r\nConnection: close\r\nA: b\r\n\r\n");
  CHECK(read_proxy_response("HTTP/1.0 204\r\n\r\n").head ==
        "HTTP/1.0 204\r\nConnection: close\r\n\r\n");
  for (std::size_t size = 0; size < head.size(); ++size) {
    CHECK(read_proxy_response(head.substr(0, size)).verdict == Verdict::incomplete);
  }
}

TEST_CASE("an interim answer is passed as it is") {
  const std::string head = "HTTP/1.1 100 Continue\r\n\r\n";
  const ProxyResponse read = read_proxy_response(head + "HTTP/1.1 200 OK\r\n");
  CHECK(read.verdict == Verdict::interim);
  CHECK(read.head == head);
  CHECK(read.bytes == head.size());
}

TEST_CASE("what is not an answer is refused") {
  for (const std::string& bytes :
       {std::string("SSH-2.0"), std::string("HTTQ"), std::string("HTTP/2 200\r\n\r\n"),
        std::string("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"),
        "HTTP/1.1 200 OK\r\nA: " + std::string(kProxyHeadBytesMax, 'a')}) {
    CHECK(read_proxy_response(bytes).verdict == Verdict::refused);
  }
  CHECK(read_proxy_response("HTTP/1.\r\n\r\n").verdict == Verdict::final);  // short, and harmless
}

}  // namespace
}  // namespace pawl::egress
