#include "pawl/adapter/egress/redirect.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace pawl::egress {
namespace {

HttpRequest request_to(const std::string& url, const std::string& method = "GET") {
  HttpRequest request;
  request.method = method;
  request.url = url;
  return request;
}

Hop posting() {
  HttpRequest request = request_to("https://a.test/x", "POST");
  request.body = "secret";
  request.headers = {{"content-type", "text/plain"}, {"authorization", "Bearer k"}};
  return first_hop(std::move(request)).value();
}

bool has(const Hop& hop, const std::string& name) {
  for (const HttpHeader& header : hop.request.headers) {
    if (header.name == name) return true;
  }
  return false;
}

TEST_CASE("the first hop dials what was read, and not what was written") {
  const auto hop = first_hop(request_to("HTTP://A.test.:80/x/../y#f"));
  REQUIRE(hop);
  CHECK(hop->request.url == "http://a.test/y");
}

TEST_CASE("N21: what could be two requests, or one to somebody else, is refused") {
  const auto with = [](HttpHeader header) {
    HttpRequest request = request_to("http://a.test/");
    request.headers = {std::move(header)};
    return first_hop(std::move(request)).has_value();
  };
  CHECK(with({"accept", "text/html"}));
  CHECK(with({"x-tab", "a\tb"}));
  CHECK(!with({"x", "a\r\nHost: b"}));
  CHECK(!with({"x", "a\nb"}));
  CHECK(!with({"x", std::string("a\0b", 3)}));
  CHECK(!with({"x\r\ny", "a"}));
  for (const char* const name :
       {"Host", "host", "Connection", "Keep-Alive", "Upgrade", "TE", "Trailer", "Expect", "Via",
        "Content-Length", "Transfer-Encoding", "Proxy-Authorization", "Proxy-Connection"}) {
    CAPTURE(name);
    CHECK(!with({name, "x"}));
  }
  CHECK(!first_hop(request_to("http://a.test/\r\nHost: b")));
  CHECK(!first_hop(request_to("http://a.test/", "GET / HTTP/1.1\r\nHost: b\r\n\r\nGET")));
  HttpRequest pinned = request_to("http://a.test/");
  pinned.address = IpAddress::v4(127, 0, 0, 1);
  CHECK(!first_hop(std::move(pinned)));
  HttpRequest endless = request_to("http://a.test/");
  endless.deadlines.total_ms = 0;
  CHECK(!first_hop(std::move(endless)));
}

TEST_CASE("N10: a redirect changes the method as it says, and keeps a body where it may") {
  for (const int status : {301, 302, 303}) {
    const auto hop = next_hop(posting(), status, "/y");
    REQUIRE(hop);
    CHECK(hop->request.method == "GET");
    CHECK(hop->request.body.empty());
    CHECK(!has(*hop, "content-type"));
    CHECK(has(*hop, "authorization"));  // the same origin
  }
  for (const int status : {307, 308}) {
    const auto hop = next_hop(posting(), status, "/y");
    REQUIRE(hop);
    CHECK(hop->request.method == "POST");
    CHECK(hop->request.body.whole() == "secret");
    CHECK(!next_hop(posting(), status, "https://b.test/y"));
    CHECK(!next_hop(posting(), status, "https://a.test:8443/y"));
  }
  const Hop head = first_hop(request_to("http://a.test/", "HEAD")).value();
  CHECK(next_hop(head, 303, "/y")->request.method == "HEAD");
}

TEST_CASE("credentials do not go to another origin") {
  HttpRequest request = request_to("https://a.test/");
  request.headers = {{"Authorization", "Bearer k"},
                     {"Cookie", "c=1"},
                     {"X-Api-Key", "k"},
                     {"X-Anything", "k"},
                     {"Accept", "text/html"},
                     {"accept-language", "k", HttpHeader::Secrecy::secret}};
  const Hop from = first_hop(std::move(request)).value();
  for (const char* const to : {"https://b.test/", "https://a.test:444/", "https://x.a.test/"}) {
    CAPTURE(to);
    const auto hop = next_hop(from, 302, to);
    REQUIRE(hop);
    REQUIRE(hop->request.headers.size() == 1);
    CHECK(hop->request.headers[0].name == "Accept");
    // And they do not come back on the way home.
    CHECK(next_hop(*hop, 302, "https://a.test/")->request.headers.size() == 1);
  }
  CHECK(next_hop(from, 302, "https://A.test:443/z")->request.headers.size() == 6);
}

TEST_CASE("no step down to http, and nothing that parse_url would refuse") {
  const Hop from = first_hop(request_to("https://a.test/?key=k")).value();
  for (const char* const to :
       {"http://a.test/", "file:///etc/passwd", "ftp://a.test/", "https://a.test@127.0.0.1/",
        "https://127.1/", "//[fe80::1%25lo]/", "gopher://x", "/\\x", "/a b"}) {
    CAPTURE(to);
    const auto hop = next_hop(from, 302, to);
    REQUIRE(!hop);
    CHECK(hop.error().message.find("key=k") == std::string::npos);
  }
  CHECK(is_redirect(308));
  CHECK(!is_redirect(300));
  CHECK(!is_redirect(304));
}

}  // namespace
}  // namespace pawl::egress
