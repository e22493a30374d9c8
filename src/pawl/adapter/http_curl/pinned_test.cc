// Requests that are pinned to an address.
#include <doctest/doctest.h>

#include <cstdlib>

#include "pawl/adapter/http_curl/curl_client.h"
#include "tests/contract/http_contract_support.h"

namespace pawl {
namespace {

using contract::HttpCall;
using contract::HttpStage;

const contract::HttpSubject kSubject{[](SocketLoop& loop) { return make_curl_client(loop); }};

HttpRequest pinned(const RawServer& server, const IpAddress& address) {
  HttpRequest request =
      contract::get("http://name.pawl.invalid:" + std::to_string(server.port()) + "/x");
  request.address = address;
  return request;
}

// Notes what it is asked.
class Server {
 public:
  Server()
      : raw([this](RawConnection& peer) {
          while (true) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            raw.remember(request);
            peer.say(contract::with_length("ok"));
          }
        }) {}
  RawServer raw;
};

TEST_CASE("N11: a pinned request goes to its address, whatever its name, and says the name") {
  HttpStage stage(kSubject);
  Server server;
  HttpCall call;
  stage.perform(call, pinned(server.raw, IpAddress::v4(127, 0, 0, 1)));
  CHECK(call.failure() == HttpFailure::none);
  CHECK(call.body == "ok");
  const std::string host = "\r\nHost: name.pawl.invalid:" + std::to_string(server.raw.port());
  CHECK(server.raw.requests().at(0).find(host) != std::string::npos);
}

TEST_CASE("a kept connection is used again only for the same address") {
  HttpStage stage(kSubject);
  Server server;
  for (int i = 0; i < 3; ++i) {
    HttpCall call;
    stage.perform(call, pinned(server.raw, IpAddress::v4(127, 0, 0, 1)));
    CHECK(call.body == "ok");
  }
  CHECK(server.raw.connections() == 1);
  HttpCall elsewhere;  // where nobody listens
  stage.perform(elsewhere, pinned(server.raw, IpAddress::v4(127, 0, 0, 2)));
  CHECK(elsewhere.failure() == HttpFailure::connect);
  HttpCall six;
  stage.perform(six, pinned(server.raw, *parse_ip("::1")));
  CHECK(six.failure() == HttpFailure::connect);
  CHECK(server.raw.connections() == 1);
}

TEST_CASE("N18: no proxy is used for it, and the handle's next request has its own way again") {
  HttpStage stage(kSubject);
  Server server;
  Server proxy;
  ::setenv("http_proxy", proxy.raw.url().c_str(), 1);
  ::setenv("ALL_PROXY", proxy.raw.url().c_str(), 1);
  HttpCall direct;
  stage.perform(direct, pinned(server.raw, IpAddress::v4(127, 0, 0, 1)));
  CHECK(direct.body == "ok");
  CHECK(proxy.raw.connections() == 0);
  HttpCall by_proxy;
  stage.perform(by_proxy, contract::get("http://name.pawl.invalid/y"));
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  CHECK(by_proxy.body == "ok");
  CHECK(proxy.raw.requests().at(0).starts_with("GET http://name.pawl.invalid/y HTTP/1.1\r\n"));
  CHECK(server.raw.connections() == 1);
}

TEST_CASE("it follows no redirect, and refuses to be asked to") {
  HttpStage stage(kSubject);
  Server server;
  HttpCall call;
  HttpRequest request = pinned(server.raw, IpAddress::v4(127, 0, 0, 1));
  request.redirects_max = 1;
  stage.perform(call, std::move(request));
  CHECK(call.failure() == HttpFailure::invalid);
  CHECK(server.raw.connections() == 0);
}

}  // namespace
}  // namespace pawl
