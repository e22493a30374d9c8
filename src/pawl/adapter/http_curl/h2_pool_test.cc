// HTTP/2 against nghttp2's server, and where there is none.
#include "pawl/adapter/http_curl/h2_pool.h"

#include <doctest/doctest.h>

#include <fstream>
#include <list>

#include "pawl/adapter/http_curl/h2_servers_test.h"

namespace pawl {
namespace {

using contract::get;
using contract::HttpCall;
using contract::HttpStage;

TEST_CASE("HTTP/2 and HTTP/1.1 bring the same bytes, in a thousand streams") {
  if (is_missing("openssl") || is_missing("nghttpd")) return;
  const TestAuthority authority;
  authority.sign("good", "DNS:localhost,IP:127.0.0.1", 2);
  for (std::size_t i = 0; i < 10; ++i) {
    std::ofstream(authority / ("file" + std::to_string(i))) << body_of(i, i * i * 4'000);
  }
  const ChildServer server({"nghttpd", "-a", "127.0.0.1", "-d", authority / "", "0",
                            authority / "good.key", authority / "good.pem"});
  REQUIRE(server.port() != 0);
  HttpStage stage(trusting(authority / "ca.pem"));
  std::list<HttpCall> calls(1'000);
  std::size_t number = 0;
  for (HttpCall& call : calls) {
    HttpRequest request = get("https://127.0.0.1:" + std::to_string(server.port()) + "/file" +
                              std::to_string(number++ % 10));
    request.version = HttpVersion::automatic;
    stage.start(call, std::move(request));
  }
  number = 0;
  for (HttpCall& call : calls) {
    stage.finish(call);
    CHECK(call.failure() == HttpFailure::none);
    CHECK((call.body == body_of(number % 10, (number % 10) * (number % 10) * 4'000)));
    ++number;
  }
  CHECK(server.connections() <= 20);
}

TEST_CASE("a server without HTTP/2 is spoken to in HTTP/1.1, unless nothing else will do") {
  if (is_missing("openssl")) return;
  const TestAuthority authority;
  authority.sign("good", "IP:127.0.0.1", 2);
  const ChildServer server({"openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-quiet",
                            "-cert", authority / "good.pem", "-key", authority / "good.key"});
  REQUIRE(server.port() != 0);
  HttpStage stage(trusting(authority / "ca.pem"));
  for (int i = 0; i < 3; ++i) {
    HttpCall call;
    HttpRequest request = get("https://127.0.0.1:" + std::to_string(server.port()) + "/");
    request.version = HttpVersion::automatic;
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::none);
    CHECK(call.head.status == 200);
  }
  HttpCall call;
  HttpRequest request = get("https://127.0.0.1:" + std::to_string(server.port()) + "/");
  request.version = HttpVersion::two;
  stage.perform(call, std::move(request));
  CHECK(call.failure() == HttpFailure::protocol);
  CHECK(call.message().find("does not speak HTTP/2") != std::string::npos);

  HttpCall plain;
  RawServer insecure(contract::answer(contract::with_length("hello")));
  HttpRequest open = get(insecure.url());
  open.version = HttpVersion::automatic;
  stage.perform(plain, open);
  CHECK(plain.body == "hello");
  HttpCall refused;
  open.version = HttpVersion::two;
  stage.perform(refused, open);
  CHECK(refused.failure() == HttpFailure::invalid);
}

// Whom HTTP/2 does not believe, nor reach, nor wait for longer than it was told.
TEST_CASE("failures before there is a stream are those of HTTP/1.1") {
  if (is_missing("openssl")) return;
  const TestAuthority authority;
  authority.sign_itself("itself");
  const ChildServer stranger({"openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-quiet",
                              "-alpn", "h2", "-cert", authority / "itself.pem", "-key",
                              authority / "itself.key"});
  REQUIRE(stranger.port() != 0);
  HttpStage stage(trusting(authority / "ca.pem"));
  const auto failure_at = [&](std::uint16_t port, std::int64_t connect_ms) {
    HttpCall call;
    HttpRequest request = get("https://127.0.0.1:" + std::to_string(port) + "/");
    request.version = HttpVersion::two;
    request.deadlines.connect_ms = connect_ms;
    stage.perform(call, std::move(request));
    return call.failure();
  };
  CHECK(failure_at(stranger.port(), 30'000) == HttpFailure::tls);
  std::uint16_t nobody = 0;
  {
    RawServer gone([](RawConnection&) {});
    nobody = gone.port();
  }
  CHECK(failure_at(nobody, 30'000) == HttpFailure::connect);
  RawServer silent([](RawConnection& peer) { peer.stall(); });
  CHECK(failure_at(silent.port(), 100) == HttpFailure::connect);

  // It agrees to HTTP/2 and says something else, or nothing.
  authority.sign("good", "IP:127.0.0.1", 2);
  const ChildServer liar({"openssl", "s_server", "-accept", "127.0.0.1:0", "-quiet", "-alpn", "h2",
                          "-cert", authority / "good.pem", "-key", authority / "good.key"});
  REQUIRE(liar.port() != 0);
  CHECK(failure_at(liar.port(), 300) == HttpFailure::connect);
}

TEST_CASE("HTTP/2: a client that goes takes its streams and connections with it") {
  if (is_missing("openssl") || is_missing("nghttpd")) return;
  const TestAuthority authority;
  authority.sign("good", "IP:127.0.0.1", 2);
  std::ofstream(authority / "file") << body_of(1, 3'000'000);
  const ChildServer server({"nghttpd", "-a", "127.0.0.1", "-d", authority / "", "0",
                            authority / "good.key", authority / "good.pem"});
  REQUIRE(server.port() != 0);
  HttpStage stage(trusting(authority / "ca.pem"));
  std::list<HttpCall> calls(30);
  for (HttpCall& call : calls) {
    HttpRequest request = get("https://127.0.0.1:" + std::to_string(server.port()) + "/file");
    request.version = HttpVersion::two;
    stage.start(call, std::move(request));
  }
  stage.run_until([&] { return calls.back().body_bytes > 0; });
  stage.client.reset();
  for (HttpCall& call : calls) call.operation.reset();
  stage.run_for(50);
  CHECK(server.connections() == 0);
}

}  // namespace
}  // namespace pawl
