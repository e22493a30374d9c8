#include "pawl/adapter/egress/guarded_client.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "pawl/adapter/egress/guard.h"
#include "pawl/adapter/egress/resolver_test_support.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "tests/contract/http_contract.h"
#include "tests/contract/http_contract_bounds.h"
#include "tests/contract/http_contract_control.h"
#include "tests/contract/http_contract_random.h"
#include "tests/contract/http_contract_uploads.h"
#include "tests/support/gzip_bomb.h"

namespace pawl {
namespace {

using contract::HttpCall;
using contract::HttpStage;

contract::HttpSubject guarded(const EgressPolicy& policy) {
  return {[policy](SocketLoop& loop) {
            auto resolver = std::make_shared<FakeResolver>(loop);
            resolver->knows("localhost", {{"127.0.0.1"}});
            return make_guarded_client(loop, make_curl_client(loop),
                                       make_egress_guard(loop, resolver, policy));
          },
          ""};
}

const contract::HttpSubject kOpen =
    guarded(*parse_egress_policy({"*:*", "localhost:*"}, {"127.0.0.0/8", "::1"}));

TEST_CASE("the guarded client fulfils the contract of HTTP clients") {
  contract::check_http_contract(kOpen);
}
TEST_CASE("it can be aborted, destroyed, paused, and has deadlines") {
  contract::check_http_control(kOpen);
}
TEST_CASE("it sends large bodies in pieces, again where it must, and stops in the middle") {
  contract::check_http_uploads(kOpen);
}
TEST_CASE("it stays within its bounds whatever a server says") {
  contract::check_http_bounds(kOpen);
}
TEST_CASE("it holds what it promises whatever servers and callers do, in any order") {
  contract::check_http_at_random(kOpen, 15);
}

// Notes what it is asked, and answers by the path.
class Server {
 public:
  using Answers = std::function<std::string(const std::string& request)>;
  explicit Server(Answers answers)
      : answers_(std::move(answers)), raw([this](RawConnection& peer) {
          while (true) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            raw.remember(request);
            if (!peer.say(answers_(request))) return;
          }
        }) {}
  std::string at(const std::string& host, const std::string& path = "/") const {
    return "http://" + host + ":" + std::to_string(raw.port()) + path;
  }

 private:
  Answers answers_;

 public:
  RawServer raw;
};

std::string redirect(const std::string& location, int status = 302) {
  return "HTTP/1.1 " + std::to_string(status) + " Moved\r\nLocation: " + location +
         "\r\nContent-Length: 0\r\n\r\n";
}
Server::Answers always(const std::string& bytes) {
  return [bytes](const std::string&) { return bytes; };
}

// Policy: *.allowed.test at any port, whose names lead to loopback, which only these ports of is
// open.
class Guarded {
 public:
  explicit Guarded(const std::vector<std::uint16_t>& open_ports)
      : stage({[&](SocketLoop& loop) {
          std::vector<std::string> ranges;
          for (const auto port : open_ports) ranges.push_back("127.0.0.1:" + std::to_string(port));
          resolver = std::make_shared<FakeResolver>(loop);
          for (const char* const name : {"a.allowed.test", "b.allowed.test"}) {
            resolver->knows(name, {{"127.0.0.1"}});
          }
          curl = make_curl_client(loop);
          return make_guarded_client(
              loop, curl,
              make_egress_guard(loop, resolver,
                                *parse_egress_policy({"*.allowed.test:*", "127.0.0.1:*"}, ranges)));
        }}) {}

  void get(HttpCall& call, const std::string& url, std::uint32_t redirects_max = 5) {
    HttpRequest request = contract::get(url);
    request.redirects_max = redirects_max;
    stage.perform(call, std::move(request));
  }

  ~Guarded() {
    curl.reset();  // before the loop of the stage, which it works on
    resolver.reset();
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::shared_ptr<FakeResolver> resolver;
  std::shared_ptr<HttpClient> curl;
  HttpStage stage;
};

TEST_CASE("redirects are followed from one vetted host to the next, and say where they led") {
  Server last(always(contract::with_length("here")));
  Server first([&](const std::string& request) {
    return request.starts_with("GET /one ") ? redirect("two")
                                            : redirect(last.at("b.allowed.test", "/three?k=v"));
  });
  Guarded guarded({first.raw.port(), last.raw.port()});
  HttpCall call;
  guarded.get(call, first.at("a.allowed.test", "/one"));
  CHECK(call.failure() == HttpFailure::none);
  CHECK(call.body == "here");
  CHECK(call.head.redirects == 2);
  CHECK(call.head.url == last.at("b.allowed.test", "/three?k=v"));
  CHECK(guarded.resolver->asked("a.allowed.test") == 2);  // each hop anew
}

TEST_CASE("N10: a redirect to what is not allowed is refused at that hop") {
  Server secret(always(contract::with_length("secret")));
  for (const int status : {301, 302, 303, 307, 308}) {
    for (const std::string& location :
         {secret.at("127.0.0.1"), secret.at("evil.test"), secret.at("[::ffff:127.0.0.1]"),
          std::string("file:///etc/passwd"), std::string("http://169.254.169.254/"),
          secret.at("a.allowed.test@127.0.0.1"), secret.at("127.1")}) {
      CAPTURE(location);
      Server first([&](const std::string& request) {
        return request.find(" /start ") != std::string::npos ? redirect("/again", status)
                                                             : redirect(location, status);
      });
      Guarded guarded({first.raw.port()});
      HttpCall call;
      guarded.get(call, first.at("a.allowed.test", "/start"));
      CHECK(call.failure() == HttpFailure::invalid);
      CHECK(call.heads == 0);
    }
  }
  CHECK(secret.raw.connections() == 0);
}

TEST_CASE("a redirect is not followed unless it is asked for, and not more often than asked") {
  Server loop_server(always(redirect("/again")));
  Guarded guarded({loop_server.raw.port()});
  HttpCall plain;
  guarded.get(plain, loop_server.at("a.allowed.test"), 0);
  CHECK(plain.failure() == HttpFailure::none);
  CHECK(plain.head.status == 302);
  HttpCall endless;
  guarded.get(endless, loop_server.at("a.allowed.test"), 1'000'000);
  CHECK(endless.failure() == HttpFailure::invalid);
  CHECK(endless.message().find("too many redirects") != std::string::npos);
  CHECK(loop_server.raw.requests().size() <= 22);
}

TEST_CASE("credentials stay with the host they were for") {
  Server other(always(contract::with_length("ok")));
  Server first(always(redirect(other.at("b.allowed.test"))));
  Guarded guarded({first.raw.port(), other.raw.port()});
  HttpCall call;
  HttpRequest request = contract::get(first.at("a.allowed.test"));
  request.redirects_max = 1;
  request.headers = {{"authorization", "Bearer hunter2"}, {"cookie", "hunter2"}, {"accept", "x/y"}};
  guarded.stage.perform(call, std::move(request));
  CHECK(call.body == "ok");
  CHECK(first.raw.requests().at(0).find("hunter2") != std::string::npos);
  CHECK(other.raw.requests().at(0).find("hunter2") == std::string::npos);
  CHECK(other.raw.requests().at(0).find("x/y") != std::string::npos);
}

TEST_CASE("N11: a name that is rebound after it was vetted gains nothing") {
  Server server(always(contract::with_length("ok")));
  std::shared_ptr<FakeResolver> resolver;
  HttpStage stage({[&](SocketLoop& loop) {
    resolver = std::make_shared<FakeResolver>(loop);
    resolver->knows("a.test", {{"127.0.0.9"}, {"127.0.0.1"}});
    // 127.0.0.9 stands for the public address that the name had at first.
    return make_guarded_client(
        loop, make_curl_client(loop),
        make_egress_guard(loop, resolver, *parse_egress_policy({"*:*"}, {"127.0.0.9"})));
  }});
  HttpCall call;
  stage.perform(call, contract::get(server.at("a.test")));
  CHECK(call.failure() == HttpFailure::connect);  // at the address that was vetted
  CHECK(resolver->asked("a.test") == 1);
  HttpCall second;
  stage.perform(second, contract::get(server.at("a.test")));
  CHECK(second.failure() == HttpFailure::invalid);
  CHECK(server.raw.connections() == 0);
}

TEST_CASE("N22: where one vetted address does not answer, the next vetted one is tried") {
  Server server(always(contract::with_length("ok")));
  const std::string port = std::to_string(server.raw.port());
  std::shared_ptr<FakeResolver> resolver;
  HttpStage stage({[&](SocketLoop& loop) {
    resolver = std::make_shared<FakeResolver>(loop);
    resolver->knows("a.test", {{"127.0.0.9", "127.0.0.8", "127.0.0.1"}});
    resolver->is_silent_about("slow.test");
    return make_guarded_client(
        loop, make_curl_client(loop),
        make_egress_guard(loop, resolver, *parse_egress_policy({"*:*"}, {"127.0.0.0/8"})));
  }});
  HttpCall call;
  stage.perform(call, contract::get("http://a.test:" + port + "/"));
  CHECK(call.body == "ok");
  CHECK(resolver->asked("a.test") == 1);

  HttpCall slow;
  HttpRequest request = contract::get("http://slow.test:" + port + "/");
  request.deadlines.connect_ms = 30;
  stage.perform(slow, std::move(request));
  CHECK(slow.failure() == HttpFailure::connect);
  HttpCall slower;
  request = contract::get("http://slow.test:" + port + "/");
  request.deadlines.total_ms = 30;
  stage.perform(slower, std::move(request));
  CHECK(slower.failure() == HttpFailure::timeout);
  HttpCall aborted;
  stage.start(aborted, contract::get("http://slow.test:" + port + "/"));
  aborted.operation->abort();
  stage.finish(aborted);
  CHECK(aborted.failure() == HttpFailure::aborted);
}

TEST_CASE("N18: proxies of the environment are not asked") {
  Server server(always(contract::with_length("ok")));
  Server proxy(always(contract::with_length("proxied")));
  Guarded guarded({server.raw.port()});
  for (const char* const name : {"http_proxy", "ALL_PROXY", "all_proxy"}) {
    ::setenv(name, proxy.raw.url().c_str(), 1);
  }
  HttpCall call;
  guarded.get(call, server.at("a.allowed.test"));
  for (const char* const name : {"http_proxy", "ALL_PROXY", "all_proxy"}) ::unsetenv(name);
  CHECK(call.body == "ok");
  CHECK(proxy.raw.connections() == 0);
}

TEST_CASE("N23: bytes and time are bounded over all hops, also when they are unpacked") {
  const GzipBomb bomb;
  RawServer server([&](RawConnection& peer) {
    const std::string request = peer.read_request();
    if (request.find(" /slow ") != std::string::npos) {
      peer.trickle("HTTP/1.1 302 Found\r\nLocation: /slow\r\nContent-Length: 0\r\n\r\n", 8, 30);
      return;
    }
    peer.say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb.head());
    while (peer.say(bomb.repeated())) {
    }
  });
  Guarded guarded({server.port()});
  const std::string origin = "http://a.allowed.test:" + std::to_string(server.port());
  HttpCall big;
  HttpRequest request = contract::get(origin + "/bomb");
  request.body_bytes_max = 100'000;
  guarded.stage.perform(big, std::move(request));
  CHECK(big.failure() == HttpFailure::too_large);
  CHECK(big.body_bytes <= 100'000);

  HttpCall slow;
  request = contract::get(origin + "/slow");
  request.redirects_max = 20;
  request.deadlines.total_ms = 400;
  guarded.stage.perform(slow, std::move(request));
  CHECK(slow.failure() == HttpFailure::timeout);
}

TEST_CASE("K05: no message shows a query") {
  Server server(always(redirect("http://evil.test/?token=hunter2")));
  Guarded guarded({server.raw.port()});
  HttpCall call;
  guarded.get(call, server.at("a.allowed.test", "/?key=hunter2"));
  CHECK(call.failure() == HttpFailure::invalid);
  CHECK(call.message().find("hunter2") == std::string::npos);
  CHECK(call.message().find("hosts allowed: *.allowed.test") != std::string::npos);
}

}  // namespace
}  // namespace pawl
