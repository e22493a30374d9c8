// What the contract does not speak of: the client's own options, proxies, methods.
#include "pawl/adapter/http_curl/exchange.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <list>
#include <thread>

#include "tests/contract/http_contract_support.h"

namespace pawl {
namespace {

using contract::get;
using contract::HttpCall;
using contract::HttpStage;

contract::HttpSubject client_with(const CurlOptions& options) {
  return {[options](SocketLoop& loop) { return make_curl_client(loop, options); }};
}

TEST_CASE("one request too many is refused, and there is room again when one has ended") {
  CurlOptions options;
  options.requests_max = 2;
  HttpStage stage(client_with(options));
  RawServer server([](RawConnection& peer) { peer.stall(); });
  HttpCall first;
  HttpCall second;
  HttpCall third;
  stage.start(first, get(server.url()));
  stage.start(second, get(server.url()));

  stage.perform(third, get(server.url()));
  CHECK(third.failure() == HttpFailure::overloaded);

  first.operation.reset();
  stage.run_for(1);
  HttpCall fourth;
  stage.start(fourth, get(server.url()));
  stage.run_for(20);
  CHECK(!fourth.end);
}

TEST_CASE("the number of a socket that never connected may be somebody else's at once") {
  HttpStage stage(client_with({}));
  RawServer server([](RawConnection& peer) { peer.stall(); });
  std::atomic<bool> stop = false;
  std::thread other([&stop] {
    while (!stop) ::close(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  });
  for (int i = 0; i < 100; ++i) {
    HttpCall call;
    HttpCall refused;
    stage.start(call, get(server.url()));
    stage.perform(refused, get("not a URL"));  // one turn of the loop: it is connecting
    CHECK(refused.failure() == HttpFailure::invalid);
    call.operation.reset();
    stage.run_for(1);
  }
  stop = true;
  other.join();
}

TEST_CASE("no more connect at a time than may, and all get their turn") {
  CurlOptions options;
  options.connecting_max = 3;
  HttpStage stage(client_with(options));
  RawServer server(contract::answer(contract::with_length("ok")));
  std::list<HttpCall> calls(40);
  for (HttpCall& call : calls) stage.start(call, get(server.url()));

  for (HttpCall& call : calls) {
    stage.finish(call);
    CHECK(call.body == "ok");
  }
}

TEST_CASE("a request that waits for its turn can be ended, and its deadline counts") {
  CurlOptions options;
  options.connecting_max = 0;  // nobody's turn ever comes
  HttpStage stage(client_with(options));
  HttpCall aborted;
  stage.start(aborted, get("http://127.0.0.1:1/"));
  aborted.operation->abort();
  stage.finish(aborted);
  CHECK(aborted.failure() == HttpFailure::aborted);

  HttpCall destroyed;
  stage.start(destroyed, get("http://127.0.0.1:1/"));
  destroyed.operation.reset();

  HttpCall late;
  HttpRequest request = get("http://127.0.0.1:1/");
  request.deadlines.first_byte_ms = 20;
  stage.perform(late, std::move(request));
  CHECK(late.failure() == HttpFailure::timeout);
}

TEST_CASE("no more connections are kept than may be") {
  constexpr int kAtOnce = 10;
  CurlOptions options;
  options.connections_kept_max = 3;
  HttpStage stage(client_with(options));
  std::atomic<int> heard = 0;
  RawServer server([&](RawConnection& peer) {
    while (!peer.read_request().empty()) {
      // All of a round at the same time, so that each has a connection of its own.
      for (++heard; heard % kAtOnce != 0 && peer.wait_ms(1);) {
      }
      peer.say(contract::with_length("ok"));
    }
  });
  for (int round = 0; round < 2; ++round) {
    std::list<HttpCall> calls(kAtOnce);
    for (HttpCall& call : calls) stage.start(call, get(server.url()));
    for (HttpCall& call : calls) stage.finish(call);
  }
  CHECK(server.connections() == kAtOnce + kAtOnce - 3);
}

TEST_CASE("a kept connection that the server has closed is not a failure") {
  HttpStage stage(client_with({}));
  RawServer server(contract::answer_once(contract::with_length("ok")));
  for (int i = 0; i < 3; ++i) {
    HttpCall call;
    stage.perform(call, contract::post(server.url(), "{}"));
    CHECK(call.failure() == HttpFailure::none);
    CHECK(call.body == "ok");
  }
  CHECK(server.connections() == 3);
}

TEST_CASE("the proxy of the environment is used, but for the hosts it is not for") {
  HttpStage stage(client_with({}));
  RawServer* heard = nullptr;
  RawServer proxy([&](RawConnection& peer) {
    heard->remember(peer.read_request());
    peer.say(contract::with_length("proxied"));
  });
  heard = &proxy;
  RawServer direct(contract::answer(contract::with_length("direct")));
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  HttpCall through;
  stage.perform(through, get("http://api.example.invalid/v1?x=1"));
  ::setenv("no_proxy", "127.0.0.1", 1);
  HttpCall around;
  stage.perform(around, get(direct.url()));
  ::unsetenv("http_proxy");
  ::unsetenv("no_proxy");

  CHECK(through.body == "proxied");
  CHECK(proxy.requests().at(0).starts_with("GET http://api.example.invalid/v1?x=1 HTTP/1.1\r\n"));
  CHECK(around.body == "direct");
}

TEST_CASE("a proxy that refuses a tunnel is a connection that failed, and shows no password") {
  HttpStage stage(client_with({}));
  RawServer proxy(contract::answer_once("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"));
  const std::string url = "http://user:secret@127.0.0.1:" + std::to_string(proxy.port());
  ::setenv("HTTPS_PROXY", url.c_str(), 1);
  HttpCall call;
  stage.perform(call, get("https://api.example.invalid/"));
  ::unsetenv("HTTPS_PROXY");

  CHECK(call.failure() == HttpFailure::connect);
  CHECK(call.heads == 0);
  CHECK(call.message().find("secret") == std::string::npos);
}

TEST_CASE("a method says whether there is a body") {
  HttpStage stage(client_with({}));
  RawServer* heard = nullptr;
  RawServer server([&](RawConnection& peer) {
    heard->remember(peer.read_request());
    peer.say("HTTP/1.1 204 No content\r\n\r\n");
  });
  heard = &server;
  const auto said = [&](const std::string& method, const std::string& body) {
    HttpCall call;
    HttpRequest request = get(server.url());
    request.method = method;
    request.body = body;
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::none);
    return server.requests().back();
  };

  CHECK(said("GET", "").find("Content-Length") == std::string::npos);
  CHECK(said("HEAD", "").starts_with("HEAD / HTTP/1.1\r\n"));
  CHECK(said("POST", "").find("\r\nContent-Length: 0\r\n") != std::string::npos);
  CHECK(said("PUT", "abc").ends_with("\r\nContent-Length: 3\r\n\r\nabc"));
  CHECK(said("DELETE", "").starts_with("DELETE / HTTP/1.1\r\n"));
  CHECK(said("DELETE", "abc").ends_with("\r\n\r\nabc"));
  const std::string plain = said("POST", "{}");
  CHECK(plain.find("Content-Type") == std::string::npos);
  CHECK(plain.find("\r\nUser-Agent: pawl\r\n") != std::string::npos);
}

}  // namespace
}  // namespace pawl
