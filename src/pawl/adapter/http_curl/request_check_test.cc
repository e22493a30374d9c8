#include "pawl/adapter/http_curl/request_check.h"

#include <doctest/doctest.h>

namespace pawl::http_curl {
namespace {

HttpRequest fit_request() {
  HttpRequest request;
  request.url = "https://api.example.com/v1?a=b";
  request.headers = {{"x-api-key", "sk-1"}, {"accept", "text/event-stream"}};
  request.body = "{}";
  return request;
}

TEST_CASE("what a provider is asked is fit to be sent") {
  CHECK(check_request(fit_request()));
  HttpRequest request = fit_request();
  request.method = "DELETE";
  request.url = "HTTP://[::1]:8080/";
  request.headers.push_back({"x-words", "caf\xc3\xa9\tand more"});
  CHECK(check_request(request));
}

TEST_CASE("a method is one word, and not CONNECT") {
  for (const char* const method :
       {"", "GET /x HTTP/1.1\r\n", "G ET", "connect", "ABCDEFGHIJKLMNOPQ"}) {
    HttpRequest request = fit_request();
    request.method = method;
    CHECK(!check_request(request));
  }
}

TEST_CASE("framing is the client's to write") {
  for (const char* const name : {"Content-Length", "transfer-encoding"}) {
    HttpRequest request = fit_request();
    request.headers.push_back({name, "5"});
    CHECK(!check_request(request));
  }
}

TEST_CASE("everything has a bound") {
  HttpRequest long_url = fit_request();
  long_url.url += std::string(kUrlBytesMax, 'x');
  CHECK(!check_request(long_url));
  HttpRequest many_headers = fit_request();
  many_headers.headers.assign(kRequestHeadersMax + 1, {"a", "b"});
  CHECK(!check_request(many_headers));
  HttpRequest long_header = fit_request();
  long_header.headers.push_back({"a", std::string(kRequestHeaderBytesMax, 'x')});
  CHECK(!check_request(long_header));
  HttpRequest backwards = fit_request();
  backwards.deadlines.idle_ms = -1;
  CHECK(!check_request(backwards));
}

TEST_CASE("a refusal does not repeat what may be secret") {
  HttpRequest request = fit_request();
  request.headers.push_back({"authorization", "Bearer secret\n"});
  const Status refused = check_request(request);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("authorization") != std::string::npos);
  CHECK(refused.error().message.find("secret") == std::string::npos);
}

TEST_CASE("a shown URL has no user, query or fragment") {
  CHECK(shown_url("https://u:p@host:1/a/b?key=1#x") == "https://host:1/a/b");
  CHECK(shown_url("https://u:p@q@host/a@b") == "https://host/a@b");
  CHECK(shown_url("https://host?k") == "https://host");
  CHECK(shown_url("u:p@host/x?k") == "host/x");
  CHECK(shown_url("http://a\r\nb/") == "http://a??b/");
  CHECK(shown_url("") == "");
}

TEST_CASE("the origin of a URL is where its connection goes to") {
  CHECK(origin_of("HTTPS://u:p@host:1/a?b") == "https://host:1");
  CHECK(origin_of("http://host") == "http://host");
  CHECK(origin_of("http://host\\x/y") == "http://host");
}

}  // namespace
}  // namespace pawl::http_curl
