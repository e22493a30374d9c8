#include "pawl/adapter/egress/egress_proxy.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "pawl/adapter/egress/client_hello_test_support.h"
#include "pawl/adapter/egress/guard.h"
#include "pawl/adapter/egress/resolver_test_support.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "tests/contract/http_contract_support.h"

namespace pawl {
namespace {

using egress::client_hello;

// A client's blocking end. It must not wait for ever.
class Client {
 public:
  explicit Client(int fd) : fd_(fd) {
    constexpr timeval kPatience{60, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool say(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // To the end of the connection, or to `most` bytes.
  std::string hear(std::size_t most = std::string::npos) const {
    std::string out;
    char buffer[4096];
    while (out.size() < most) {
      const ssize_t got = ::recv(fd_, buffer, std::min(sizeof buffer, most - out.size()), 0);
      if (got <= 0) break;
      out.append(buffer, static_cast<std::size_t>(got));
    }
    return out;
  }
  // To the end of a head.
  std::string hear_head() const {
    std::string out;
    while (out.find("\r\n\r\n") == std::string::npos) {
      const std::string next = hear(1);
      if (next.empty()) break;
      out += next;
    }
    return out;
  }
  void end_saying() const { ::shutdown(fd_, SHUT_WR); }

 private:
  const int fd_;
};

// Says "ok" to every request, or to a ClientHello with an empty line behind it.
RawServer::Script remembering(RawServer*& server) {
  return [&server](RawConnection& peer) {
    while (true) {
      const std::string request = peer.read_request();
      if (request.empty()) return;
      server->remember(request);
      peer.say(contract::with_length("ok"));
    }
  };
}

class Stage {
 public:
  explicit Stage(EgressProxyOptions options = {}, RawServer::Script script = {})
      : server(script ? std::move(script) : remembering(self_)),
        resolver(std::make_shared<FakeResolver>(loop)),
        port(std::to_string(server.port())) {
    self_ = &server;
    resolver->knows("allowed.test", {{"127.0.0.1"}, {"10.0.0.1"}});
    const auto policy = parse_egress_policy({"allowed.test:*", "*.other.test", "127.0.0.1:" + port},
                                            {"127.0.0.1:" + port, "127.0.0.9"});
    proxy = std::make_unique<EgressProxy>(loop, make_egress_guard(loop, resolver, *policy, sink()),
                                          options, sink());
  }

  // Runs the loop until the client, on a thread of its own, has ended.
  void with_client(const std::function<void(const Client&)>& script) {
    const auto fd = proxy->connect();
    REQUIRE(fd);
    run([&] { script(Client(*fd)); });
  }
  void run(const std::function<void()>& work) {
    std::atomic<bool> over = false;
    std::thread thread([&] {
      work();
      loop.post([&] { over = true; });
    });
    loop.run_until([&] { return over.load(); });
    thread.join();
  }
  // Of what happens outside of the loop, too.
  void until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      bool over = false;
      const auto timer = loop.after(1, [&] { over = true; });
      loop.run_until([&] { return over; });
    }
  }
  std::string ask(const std::string& request) {
    std::string answer;
    with_client([&](const Client& client) {
      client.say(request);
      answer = client.hear();
    });
    return answer;
  }
  bool told(EgressEvent::Verdict verdict, const std::string& part) const {
    for (const EgressEvent& event : events) {
      if (event.verdict == verdict && event.detail.find(part) != std::string::npos) return true;
    }
    return false;
  }
  std::string connect_head(const std::string& host = "allowed.test") const {
    return "CONNECT " + host + ":" + port + " HTTP/1.1\r\nHost: " + host + ":" + port + "\r\n\r\n";
  }
  std::string forward_head(const std::string& path = "/") const {
    return "GET http://allowed.test:" + port + path + " HTTP/1.1\r\n\r\n";
  }

 private:
  EgressSink sink() {
    return [this](const EgressEvent& event) { events.push_back(event); };
  }
  RawServer* self_ = nullptr;

 public:
  AsioLoop loop;
  RawServer server;
  std::shared_ptr<FakeResolver> resolver;
  const std::string port;
  std::vector<EgressEvent> events;
  std::unique_ptr<EgressProxy> proxy;
};

constexpr auto kRefused = EgressEvent::Verdict::refused;
constexpr auto kAllowed = EgressEvent::Verdict::allowed;

TEST_CASE("a tunnel is dialled at the vetted address, once its TLS names the host it is for") {
  Stage stage;
  const std::string hello = client_hello("allowed.test") + "\r\n\r\n";
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say(stage.connect_head());
    CHECK(client.hear_head() == "HTTP/1.1 200 Connection established\r\n\r\n");
    for (const char c : hello) client.say({&c, 1});
    heard = client.hear_head();
    heard += client.hear(2);
  });
  CHECK(heard == contract::with_length("ok"));
  CHECK(stage.server.requests().at(0) == hello);
  CHECK(stage.told(kAllowed, "connected to 127.0.0.1"));
  CHECK(stage.resolver->asked("allowed.test") == 1);  // N11: the second answer is of no use
  stage.until([&] { return stage.proxy->connections() == 0; });
}

TEST_CASE("hello and request may come in one piece") {
  Stage stage;
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say(stage.connect_head() + client_hello("allowed.test") + "\r\n\r\n");
    client.hear_head();
    heard = client.hear_head();
  });
  CHECK(heard.starts_with("HTTP/1.1 200 OK"));
}

TEST_CASE("a tunnel for another host than the one that was vetted carries nothing") {
  Stage stage;
  const auto carries_nothing = [&](const std::string& bytes, const std::string& host,
                                   const std::string& why) {
    CAPTURE(why);
    stage.resolver->knows("allowed.test", {{"127.0.0.1"}});
    std::string after;
    stage.with_client([&](const Client& client) {
      client.say(stage.connect_head(host));
      CHECK(client.hear_head().starts_with("HTTP/1.1 200"));
      client.say(bytes);
      after = client.hear();
    });
    CHECK(after.empty());
    CHECK(stage.told(kRefused, why));
  };
  carries_nothing(client_hello("evil.test"), "allowed.test", "for another host: evil.test");
  carries_nothing(client_hello("x.allowed.test"), "allowed.test", "another host: x.allowed.test");
  carries_nothing(client_hello(""), "allowed.test", "does not name its host");
  carries_nothing(client_hello("allowed.test"), "127.0.0.1", "another host: allowed.test");
  carries_nothing("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", "allowed.test", "begin with TLS");
  carries_nothing("SSH-2.0-OpenSSH\r\n", "allowed.test", "begin with TLS");
  CHECK(stage.server.requests().empty());
}

TEST_CASE("a tunnel to an address needs no name") {
  Stage stage;
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say(stage.connect_head("127.0.0.1") + client_hello("") + "\r\n\r\n");
    client.hear_head();
    heard = client.hear_head();
  });
  CHECK(heard.starts_with("HTTP/1.1 200 OK"));
}

TEST_CASE("H7: what is not listed, and what is not public, is refused with the reason") {
  Stage stage;
  stage.resolver->knows("a.other.test", {{"93.184.216.34", "169.254.169.254"}});
  for (const char* const target :
       {"evil.test:443", "allowed.test.evil.test:443", "169.254.169.254:80", "127.0.0.1:1",
        "localhost:80", "[::1]:80", "[::ffff:127.0.0.1]:443", "a.other.test:443",
        "b.other.test:22"}) {
    CAPTURE(target);
    const std::string answer = stage.ask("CONNECT " + std::string(target) + " HTTP/1.1\r\n\r\n");
    CHECK(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"));
    CHECK(answer.find("hosts allowed: allowed.test") != std::string::npos);
  }
  CHECK(stage.ask("GET http://evil.test/ HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403"));
  CHECK(stage.told(kRefused, "169.254.169.254"));
  CHECK(stage.server.connections() == 0);
}

TEST_CASE("N09 N13 N21: what cannot be read in one way is refused before anybody is asked") {
  Stage stage;
  for (const std::string& request : {
           std::string("CONNECT 127.0.0.1\0.allowed.test:443 HTTP/1.1\r\n\r\n", 48),
           std::string("CONNECT allowed.test@127.0.0.1:443 HTTP/1.1\r\n\r\n"),
           std::string("CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n"),
           std::string("GET http://allowed.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
           std::string("GET http://allowed.test/ HTTP/1.1\r\nX: a\nHost: evil.test\r\n\r\n"),
           std::string("\x05\x01\x00\r\n\r\n", 7),  // SOCKS
           "GET http://allowed.test/" + std::string(20'000, 'a'),
       }) {
    CAPTURE(request);
    CHECK(stage.ask(request).starts_with("HTTP/1.1 400 Bad Request\r\n"));
  }
  CHECK(stage.resolver->asked("allowed.test") == 0);
}

TEST_CASE("a plain request is written anew, and nothing behind it goes anywhere") {
  Stage stage;
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say("POST http://allowed.test:" + stage.port +
               "/x HTTP/1.1\r\nProxy-Authorization: secret\r\nContent-Length: 4\r\n\r\nbo");
    client.say("dyGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    heard = client.hear_head();
  });
  CHECK(heard.starts_with("HTTP/1.1 200 OK"));
  REQUIRE(stage.server.requests().size() == 1);
  const std::string request = stage.server.requests()[0];
  CHECK(request.starts_with("POST /x HTTP/1.1\r\nHost: allowed.test:" + stage.port));
  CHECK(
      request.ends_with("\r\n\r\nbo"
                        "dy"));
  CHECK(request.find("secret") == std::string::npos);
}

TEST_CASE("a server that says what is no answer is a bad gateway; interim answers are passed on") {
  Stage other({}, [](RawConnection& peer) { peer.say("SSH-2.0-x\r\n\r\n"); });
  CHECK(other.ask(other.forward_head()).starts_with("HTTP/1.1 502"));
  Stage interim({}, [](RawConnection& peer) {
    peer.read_request();
    peer.trickle("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 7,
                 1);
  });
  CHECK(interim.ask(interim.forward_head()) ==
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx");
}

TEST_CASE("a server that is not there is a bad gateway, as is a name that nobody knows") {
  Stage stage;
  stage.resolver->knows("allowed.test", {{"127.0.0.9", "127.0.0.9"}});
  CHECK(stage.ask(stage.connect_head()).starts_with("HTTP/1.1 502"));
  CHECK(stage.ask("CONNECT x.other.test:443 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 502"));
  // The next vetted address is tried.
  stage.resolver->knows("allowed.test", {{"127.0.0.9", "127.0.0.1"}});
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say(stage.forward_head());
    heard = client.hear_head();
  });
  CHECK(heard.starts_with("HTTP/1.1 200 OK"));
}

TEST_CASE("N22 N23: whoever is slow is ended: a client, a resolver, a server") {
  EgressProxyOptions options;
  options.head_ms = 40;
  options.connect_ms = 40;
  options.idle_ms = 40;
  Stage stage(options, [](RawConnection& peer) { peer.stall(); });
  CHECK(stage.ask("CONNECT allo").empty());
  stage.resolver->is_silent_about("x.other.test");
  CHECK(stage.ask("CONNECT x.other.test:443 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 502"));
  CHECK(stage.ask(stage.forward_head()).empty());
  stage.resolver->knows("allowed.test", {{"127.0.0.1"}});
  CHECK(stage.ask(stage.connect_head() + "\x16").starts_with("HTTP/1.1 200"));
  CHECK(stage.told(kRefused, "too slow"));
}

TEST_CASE("a server that keeps talking is ended at the total deadline, and at the most bytes") {
  const auto chatty = [](RawConnection& peer) {
    peer.read_request();
    peer.say("HTTP/1.1 200 OK\r\n\r\n");
    while (peer.say(std::string(1000, 'x')) && peer.wait_ms(1)) {
    }
  };
  EgressProxyOptions options;
  options.total_ms = 100;
  Stage slow(options, chatty);
  CHECK(!slow.ask(slow.forward_head()).empty());
  options.total_ms = 60'000;
  options.bytes_max = 20'000;
  Stage bounded(options, chatty);
  CHECK(bounded.ask(bounded.forward_head()).size() < 20'000 + 200'000);
  CHECK(bounded.told(kRefused, "more bytes"));
}

TEST_CASE("many bytes come through unharmed, also to a client that takes its time") {
  std::string bytes;
  for (int i = 0; bytes.size() < (4U << 20U); ++i) bytes += std::to_string(i);
  Stage stage({}, [&](RawConnection& peer) {
    const std::string request = peer.read_request();
    const std::size_t body = request.find("\r\n\r\n") + 4;
    peer.say("HTTP/1.1 200 OK\r\n\r\n");
    peer.say(request.substr(body));
  });
  std::string heard;
  stage.with_client([&](const Client& client) {
    std::thread sending([&] {
      client.say("POST http://allowed.test:" + stage.port + "/ HTTP/1.1\r\nContent-Length: " +
                 std::to_string(bytes.size()) + "\r\n\r\n" + bytes);
    });
    client.hear_head();
    heard = client.hear();
    sending.join();
  });
  CHECK(heard.size() == bytes.size());
  CHECK((heard == bytes));  // not to be printed
}

TEST_CASE("no more connections than may be, and room again when one has ended") {
  EgressProxyOptions options;
  options.connections_max = 2;
  Stage stage(options);
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

int listen_on_loopback(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd, 16) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port = ntohs(address.sin_port);
  return fd;
}

TEST_CASE("a client with http_proxy finds it through a listening socket, until that is closed") {
  Stage stage;
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
  Stage stage({}, [&](RawConnection& peer) {
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
  Stage stage({}, [](RawConnection& peer) { peer.stall(); });
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
