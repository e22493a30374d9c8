#include "pawl/adapter/http_curl/h2_request.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/adapter/http_curl/libcurl_test.h"

namespace pawl::http_curl {
namespace {

HttpRequest request_to(const std::string& url) {
  HttpRequest request;
  request.url = url;
  return request;
}

std::string value_of(const H2Head& head, const std::string& name) {
  const auto at = std::find_if(head.begin(), head.end(),
                               [&](const auto& field) { return field.first == name; });
  return at == head.end() ? "(none)" : at->second;
}

TEST_CASE("HTTP/2 carries what goes over TLS to a name") {
  CHECK(can_go_by_h2(request_to("https://host/path")));
  CHECK(can_go_by_h2(request_to("HTTPS://host:8443/a@b")));
  CHECK(!can_go_by_h2(request_to("http://host/path")));
  CHECK(!can_go_by_h2(request_to("https://user:secret@host/path")));
  HttpRequest pinned = request_to("https://host/");
  pinned.address = IpAddress::v4(127, 0, 0, 1);
  CHECK(!can_go_by_h2(pinned));
}

TEST_CASE("the head of a request in HTTP/2") {
  HttpRequest request = request_to("https://host:8443/v1/messages?beta=true#part");
  request.headers = {{"X-Api-Key", "abc"}, {"Host", "other"}, {"Connection", "close"}};
  request.body = "{}";
  const auto head = h2_head(request, "pawl");
  REQUIRE(head);
  CHECK((*head)[0] == std::pair<std::string, std::string>(":method", "POST"));
  CHECK(value_of(*head, ":authority") == "host:8443");
  CHECK(value_of(*head, ":path") == "/v1/messages?beta=true");
  CHECK(value_of(*head, ":scheme") == "https");
  CHECK(value_of(*head, "x-api-key") == "abc");
  CHECK(value_of(*head, "host") == "(none)");
  CHECK(value_of(*head, "connection") == "(none)");
  CHECK(value_of(*head, "content-length") == "2");
  CHECK(value_of(*head, "accept-encoding") == "identity");
  CHECK(value_of(*head, "user-agent") == "pawl");

  const auto bare = h2_head(request_to("https://host"), "pawl");
  REQUIRE(bare);
  CHECK(value_of(*bare, ":path") == "/");
  CHECK(value_of(*bare, ":authority") == "host");
  CHECK(!h2_head(request_to("https://"), "pawl"));
}

}  // namespace
}  // namespace pawl::http_curl
