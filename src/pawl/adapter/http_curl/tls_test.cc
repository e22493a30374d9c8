// Certificates: whom the client believes. With the openssl program.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <string>

#include "pawl/adapter/http_curl/authority_test.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "tests/contract/http_contract_support.h"
#include "tests/support/child_server.h"

namespace pawl {
namespace {

using contract::get;
using contract::HttpCall;
using contract::HttpStage;

// Shows a page of its own over TLS, in HTTP/1.0.
class TlsServer {
 public:
  TlsServer(const TestAuthority& authority, const std::string& name)
      : child_({"openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-quiet", "-cert",
                authority / (name + ".pem"), "-key", authority / (name + ".key")}) {
    REQUIRE(child_.port() != 0);
  }
  std::string url(const std::string& host = "127.0.0.1") const {
    return "https://" + host + ":" + std::to_string(child_.port()) + "/";
  }

 private:
  ChildServer child_;
};

TEST_CASE("a certificate of an authority that is trusted is believed, and no other") {
  if (is_missing("openssl")) return;
  const TestAuthority authority;
  authority.sign("good", "DNS:localhost,IP:127.0.0.1", 2);
  authority.sign("elsewhere", "DNS:other.example", 2);
  authority.sign("expired", "DNS:localhost,IP:127.0.0.1", -1);
  authority.sign_itself("itself");
  HttpStage stage(trusting(authority / "ca.pem"));

  const TlsServer good(authority, "good");
  HttpCall believed;
  stage.perform(believed, get(good.url()));
  CHECK(believed.failure() == HttpFailure::none);
  CHECK(believed.head.status == 200);

  for (const char* const name : {"elsewhere", "expired", "itself"}) {
    const TlsServer server(authority, name);
    HttpCall call;
    stage.perform(call, get(server.url()));
    CHECK(call.failure() == HttpFailure::tls);
    CHECK(call.heads == 0);
    CHECK(call.message().find("127.0.0.1") != std::string::npos);
  }

  HttpStage stranger(trusting(""));  // trusts the machine's authorities
  HttpCall call;
  stranger.perform(call, get(good.url()));
  CHECK(call.failure() == HttpFailure::tls);
}

TEST_CASE("a pinned request believes a certificate for its name, not for its address") {
  if (is_missing("openssl")) return;
  const TestAuthority authority;
  authority.sign("named", "DNS:name.example", 2);
  authority.sign("address", "IP:127.0.0.1", 2);
  HttpStage stage(trusting(authority / "ca.pem"));
  const auto failure_of = [&](const TlsServer& server, const std::string& host) {
    HttpCall call;
    HttpRequest request = get(server.url(host));
    request.address = IpAddress::v4(127, 0, 0, 1);
    stage.perform(call, std::move(request));
    return call.failure();
  };
  const TlsServer named(authority, "named");
  CHECK(failure_of(named, "name.example") == HttpFailure::none);
  CHECK(failure_of(named, "other.example") == HttpFailure::tls);
  const TlsServer address(authority, "address");
  CHECK(failure_of(address, "name.example") == HttpFailure::tls);
}

TEST_CASE("the environment names the authorities") {
  if (is_missing("openssl")) return;
  const TestAuthority authority;
  authority.sign("good", "IP:127.0.0.1", 2);
  const TlsServer good(authority, "good");
  for (const char* const name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    ::setenv(name, (authority / "ca.pem").c_str(), 1);
    HttpStage stage(trusting(""));
    ::unsetenv(name);
    HttpCall call;
    stage.perform(call, get(good.url()));
    CHECK(call.failure() == HttpFailure::none);
  }

  ::setenv("SSL_CERT_FILE", (authority / "missing.pem").c_str(), 1);
  HttpStage stage(trusting(""));
  ::unsetenv("SSL_CERT_FILE");
  HttpCall call;
  stage.perform(call, get(good.url()));
  CHECK(call.failure() == HttpFailure::tls);
}

TEST_CASE("a server that speaks no TLS, or hangs up in the handshake") {
  HttpStage stage(trusting(""));
  const auto failure_with = [&](const RawServer::Script& script, std::int64_t connect_ms) {
    RawServer server(script);
    HttpCall call;
    HttpRequest request = get("https://127.0.0.1:" + std::to_string(server.port()) + "/");
    request.deadlines.connect_ms = connect_ms;
    stage.perform(call, std::move(request));
    CHECK(call.heads == 0);
    return call.failure();
  };

  constexpr std::int64_t kPatientMs = 30'000;
  const auto no_tls = [](RawConnection& peer) {
    peer.say("HTTP/1.1 400 This is no TLS\r\n\r\n");
    peer.stall();
  };
  CHECK(failure_with(no_tls, kPatientMs) == HttpFailure::tls);
  const auto reset = [](RawConnection& peer) { peer.reset(); };
  CHECK(failure_with(reset, kPatientMs) == HttpFailure::connect);
  const auto hang_up = [](RawConnection& peer) { peer.end_saying(); };
  CHECK(failure_with(hang_up, kPatientMs) == HttpFailure::connect);
  const auto silence = [](RawConnection& peer) { peer.stall(); };
  CHECK(failure_with(silence, 50) == HttpFailure::connect);
}

// What TLS has taken from the socket and not given on yet wakes nobody up.
TEST_CASE("large bodies over TLS come whole, also after a pause") {
  if (is_missing("openssl")) return;
  const TestAuthority authority;
  authority.sign("good", "IP:127.0.0.1", 2);
  std::string text;
  while (text.size() < 700'000) text += std::to_string(text.size()) + ",";
  std::ofstream(authority / "page") << text;
  const ChildServer server({"sh", "-c",
                            "cd '" + (authority / "") +
                                "' && exec openssl s_server -accept 127.0.0.1:0 -WWW -quiet"
                                " -cert good.pem -key good.key"});
  REQUIRE(server.port() != 0);
  HttpStage stage(trusting(authority / "ca.pem"));
  std::list<HttpCall> calls(8);
  for (HttpCall& call : calls) {
    call.on_body = [&stage, &call] {
      if (call.pieces.size() % 100 != 1) return;
      call.operation->pause();
      stage.loop.post([&call] { call.operation->resume(); });
    };
    stage.start(call, get("https://127.0.0.1:" + std::to_string(server.port()) + "/page"));
  }
  for (HttpCall& call : calls) {
    stage.finish(call);
    CHECK(call.failure() == HttpFailure::none);
    CHECK(call.body == text);
  }
}

}  // namespace
}  // namespace pawl
