#include "pawl/adapter/egress/egress_proxy.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "pawl/adapter/egress/proxy_test_support.h"
#include "pawl/adapter/http_curl/curl_client.h"

namespace pawl {
namespace {

TEST_CASE("no more connections than may be, and room again when one has ended") {
  EgressProxyOptions options;
  options.connections_max = 2;
  ProxyStage stage(options);
  const auto first = stage.proxy->connect();
  const auto second = stage.proxy->connect();
  REQUIRE((first && second));
  CHECK(stage.ask("").empty());  // the third
  CHECK(stage.told(kRefused, "too many connections"));
  ::close(*first);
  stage.until([&] { return stage.proxy->connections() == 1; });
  stage.with_client([&](const Client& client) {
    client.say(stage.forward_head());
    CHECK(client.hear_head().starts_with("HTTP/1.1 200 OK"));
  });
  ::close(*second);
}

TEST_CASE("a client with http_proxy finds it through a listening socket, until that is closed") {
  ProxyStage stage;
  stage.resolver->knows("allowed.test", {{"127.0.0.1"}});
  std::uint16_t port = 0;
  auto listener = stage.proxy->serve(listen_on_loopback(port));
  const auto curl = make_curl_client(stage.loop);
  const auto get = [&](const std::string& url) {
    contract::HttpCall call;
    call.operation = curl->start(contract::get(url), call.handler());
    call.inside_start = false;
    stage.loop.run_until([&] { return call.end.has_value(); });
    return std::make_pair(call.failure(), call.head.status);
  };
  ::setenv("http_proxy", ("http://127.0.0.1:" + std::to_string(port)).c_str(), 1);
  for (int i = 0; i < 40; ++i) {
    CHECK(get("http://allowed.test:" + stage.port + "/" + std::to_string(i)).second == 200);
  }
  CHECK(get("http://evil.test/").second == 403);
  listener.reset();
  CHECK(get("http://allowed.test:" + stage.port + "/").first == HttpFailure::connect);
  ::unsetenv("http_proxy");
}

TEST_CASE("the hello of a real client is understood") {
  ProxyStage stage({}, [&](RawConnection& peer) {
    peer.say("not TLS\r\n");
    peer.stall();
  });
  std::uint16_t port = 0;
  const auto listener = stage.proxy->serve(listen_on_loopback(port));
  const auto curl = make_curl_client(stage.loop);
  ::setenv("https_proxy", ("http://127.0.0.1:" + std::to_string(port)).c_str(), 1);
  contract::HttpCall call;
  call.operation =
      curl->start(contract::get("https://allowed.test:" + stage.port + "/"), call.handler());
  call.inside_start = false;
  stage.until([&] { return call.end.has_value(); });
  ::unsetenv("https_proxy");
  // The server's words came back through the tunnel, which opens only for a hello with the name.
  CHECK(call.failure() == HttpFailure::tls);
  CHECK(call.message().find("wrong version number") != std::string::npos);
  CHECK(stage.told(kAllowed, "connected to 127.0.0.1"));
  CHECK(!stage.told(kRefused, ""));
}

TEST_CASE("destroying it ends every connection, also one that was just made") {
  ProxyStage stage({}, [](RawConnection& peer) { peer.stall(); });
  const auto idle = stage.proxy->connect();
  const auto busy = stage.proxy->connect();
  REQUIRE((idle && busy));
  const Client idle_client(*idle);
  const Client busy_client(*busy);
  busy_client.say(stage.forward_head());
  stage.until([&] { return stage.server.connections() == 1; });
  const auto late = stage.proxy->connect();
  REQUIRE(late);
  const Client late_client(*late);
  stage.proxy.reset();
  stage.run([&] {
    CHECK(idle_client.hear().empty());
    CHECK(busy_client.hear().empty());
    CHECK(late_client.hear().empty());
  });
}

}  // namespace
}  // namespace pawl
