#include "pawl/adapter/egress/proxy_connection.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "pawl/adapter/egress/client_hello_test_support.h"
#include "pawl/adapter/egress/proxy_test_support.h"

namespace pawl {
namespace {

using egress::client_hello;

TEST_CASE("a tunnel is dialled at the vetted address, once its TLS names the host it is for") {
  ProxyStage stage;
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
  ProxyStage stage;
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say(stage.connect_head() + client_hello("allowed.test") + "\r\n\r\n");
    client.hear_head();
    heard = client.hear_head();
  });
  CHECK(heard.starts_with("HTTP/1.1 200 OK"));
}

TEST_CASE("a tunnel for another host than the one that was vetted carries nothing") {
  ProxyStage stage;
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
  ProxyStage stage;
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say(stage.connect_head("127.0.0.1") + client_hello("") + "\r\n\r\n");
    client.hear_head();
    heard = client.hear_head();
  });
  CHECK(heard.starts_with("HTTP/1.1 200 OK"));
}

TEST_CASE("H7: what is not listed, and what is not public, is refused with the reason") {
  ProxyStage stage;
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
  ProxyStage stage;
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
  RawServer* server = nullptr;
  ProxyStage stage({}, [&](RawConnection& peer) {
    peer.say("HTTP/1.1 100 Continue\r\n\r\n");  // tells the client that it is through
    while (true) {
      const std::string request = peer.read_request();
      if (request.empty()) return;
      server->remember(request);
      peer.say(contract::with_length("ok"));
    }
  });
  server = &stage.server;
  std::string heard;
  stage.with_client([&](const Client& client) {
    client.say("POST http://allowed.test:" + stage.port +
               "/x HTTP/1.1\r\nProxy-Authorization: secret\r\nContent-Length: 4\r\n\r\nbo");
    client.hear_head();
    client.say("dyGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    client.end_saying();
    heard = client.hear();  // to the end: the server has seen all it ever will
  });
  CHECK(heard.starts_with("HTTP/1.1 200 OK"));
  REQUIRE(stage.server.requests().size() == 1);
  const std::string request = stage.server.requests()[0];
  CHECK(request.starts_with("POST /x HTTP/1.1\r\nHost: allowed.test:" + stage.port));
  CHECK(request.ends_with("\r\n\r\nbody"));
  CHECK(request.find("secret") == std::string::npos);
}

TEST_CASE("a server that says what is no answer is a bad gateway; interim answers are passed on") {
  ProxyStage other({}, [](RawConnection& peer) { peer.say("SSH-2.0-x\r\n\r\n"); });
  CHECK(other.ask(other.forward_head()).starts_with("HTTP/1.1 502"));
  ProxyStage interim({}, [](RawConnection& peer) {
    peer.read_request();
    peer.trickle("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 7,
                 1);
  });
  CHECK(interim.ask(interim.forward_head()) ==
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx");
}

TEST_CASE("a server that is not there is a bad gateway, as is a name that nobody knows") {
  ProxyStage stage;
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
  ProxyStage stage(options, [](RawConnection& peer) { peer.stall(); });
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
  ProxyStage slow(options, chatty);
  CHECK(!slow.ask(slow.forward_head()).empty());
  options.total_ms = 60'000;
  options.bytes_max = 20'000;
  ProxyStage bounded(options, chatty);
  CHECK(bounded.ask(bounded.forward_head()).size() < 20'000 + 200'000);
  CHECK(bounded.told(kRefused, "more bytes"));
}

TEST_CASE("many bytes come through unharmed, also to a client that takes its time") {
  std::string bytes;
  for (int i = 0; bytes.size() < (4U << 20U); ++i) bytes += std::to_string(i);
  ProxyStage stage({}, [&](RawConnection& peer) {
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

TEST_CASE("a server that never comes to its answer is ended") {
  ProxyStage stage({}, [](RawConnection& peer) {
    peer.read_request();
    while (peer.say("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  const std::string heard = stage.ask(stage.forward_head());
  CHECK(heard.find("HTTP/1.1 502") != std::string::npos);
  CHECK(heard.size() < 10'000);
}

}  // namespace
}  // namespace pawl
