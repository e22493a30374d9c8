#include "pawl/testing/fake_provider/server/http_server.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>

#include "pawl/testing/fake_provider/server/client_test_support.h"

namespace pawl::fake {
namespace {

std::unique_ptr<HttpServer> serving(HttpServer::Handler handler) {
  auto server = HttpServer::listen(0, std::move(handler));
  REQUIRE(server);
  (*server)->run();
  return *std::move(server);
}

WirePlan plain(std::string body) {
  Rendered reply;
  reply.frames.push_back({FrameKind::closing, std::move(body)});
  WirePlan plan;
  plan.pieces.push_back({http_head(reply) + reply.body()});
  return plan;
}

void echo_body(const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
  exchange->send(plain(request.method + " " + request.target + " " + request.body));
}

TEST_CASE("a connection carries request after request, also when they come all at once") {
  const auto server = serving(echo_body);
  TestClient client(server->port());
  std::string all;
  for (int i = 0; i < 50; ++i) {
    all += request_text("POST", "/" + std::to_string(i), std::string(1000, 'b'), {});
  }
  REQUIRE(client.send(all));

  for (int i = 0; i < 50; ++i) {
    CHECK(read_reply(client).body == "POST /" + std::to_string(i) + " " + std::string(1000, 'b'));
  }
  CHECK(server->figures().requests == 50);
  CHECK(server->figures().connections_accepted == 1);
}

TEST_CASE("a client that asks for it gets its connection closed") {
  const auto server = serving(echo_body);
  TestClient client(server->port());
  REQUIRE(client.send(request_text("GET", "/", "", {{"connection", "close"}})));

  CHECK(client.read_to_end() == ReadEnd::closed);
  CHECK(client.received.ends_with("GET / "));
}

TEST_CASE("a client that waits for 100 Continue gets it") {
  const auto server = serving(echo_body);
  TestClient client(server->port());
  REQUIRE(
      client.send("POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n"
                  "expect: 100-continue\r\n\r\n"));
  REQUIRE(client.read_until("HTTP/1.1 100 Continue\r\n\r\n") == ReadEnd::enough);
  client.received.clear();

  REQUIRE(client.send("hi"));
  CHECK(read_reply(client).body == "POST /x hi");
}

TEST_CASE("what is too large or no HTTP is refused, and the connection ends") {
  const auto server = serving(echo_body);
  const auto answer = [&](const std::string& text) {
    TestClient client(server->port());
    client.send(text);
    client.read_to_end();
    return client.received.substr(0, 12);
  };
  CHECK(answer("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n") ==
        "HTTP/1.1 413");
  CHECK(answer("GET / HTTP/1.1\r\nhost: " + std::string(kRequestHeadBytesMax, 'x') + "\r\n\r\n") ==
        "HTTP/1.1 431");
  CHECK(answer("nonsense\r\n\r\n") == "HTTP/1.1 400");
  CHECK(answer("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n"
               "transfer-encoding: chunked\r\n\r\n0\r\n\r\n") == "HTTP/1.1 400");
  CHECK(answer("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n"
               "content-length: 4\r\n\r\n0\r\n\r\n") == "HTTP/1.1 400");
}

TEST_CASE("a plan is sent piece by piece, repeated and in steps") {
  const auto server = serving([](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    WirePlan plan;
    plan.pieces.push_back({"head "});
    plan.pieces.push_back({"ab", 1, 3});
    plan.pieces.push_back({" steps", 0, 2, 1});
    plan.pieces.push_back({std::string(100'000, 'x'), 0, 3});
    plan.end = WireEnd::close;
    exchange->send(std::move(plan));
  });
  TestClient client(server->port());
  REQUIRE(client.send(request_text("GET", "/", "", {})));

  CHECK(client.read_to_end() == ReadEnd::closed);
  const bool same = client.received == "head ababab steps steps" + std::string(300'000, 'x');
  CHECK(same);
}

TEST_CASE("a reset is a reset") {
  const auto server = serving([](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    WirePlan plan;
    plan.end = WireEnd::reset;
    exchange->send(std::move(plan));
  });
  TestClient client(server->port());
  REQUIRE(client.send(request_text("GET", "/", "", {})));
  CHECK(client.read_to_end() == ReadEnd::reset);
}

TEST_CASE("a reply that is held is forgotten when its client goes") {
  const auto server = serving([](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    WirePlan plan;
    plan.pieces.push_back({"something"});
    plan.end = WireEnd::hold;
    exchange->send(std::move(plan));
  });
  {
    TestClient client(server->port());
    REQUIRE(client.send(request_text("GET", "/", "", {})));
    REQUIRE(client.read_until("something") == ReadEnd::enough);
    CHECK(server->figures().replies_open == 1);
  }
  // Answers of another connection are the clock: by then the first one is gone, or never.
  for (int i = 0; i < 10'000 && server->figures().replies_open > 0; ++i) {
    TestClient other(server->port());
    REQUIRE(other.send("nonsense\r\n\r\n"));
    other.read_to_end();
  }
  CHECK(server->figures().replies_open == 0);
}

TEST_CASE("a reply may come from another thread, in parts") {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Exchange> held;
  const auto server = serving([&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    const std::lock_guard lock(mutex);
    held = std::move(exchange);
    changed.notify_one();
  });
  TestClient client(server->port());
  REQUIRE(client.send(request_text("GET", "/", "", {})));
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return held != nullptr; });

  held->send_piece({"one "});
  REQUIRE(client.read_until("one ") == ReadEnd::enough);
  held->send_piece({"two"});
  held->finish(WireEnd::close);

  CHECK(client.read_to_end() == ReadEnd::closed);
  CHECK(client.received == "one two");
}

TEST_CASE("an exchange that nobody finishes is a reset, and one may outlive the server") {
  std::shared_ptr<Exchange> kept;
  auto server = serving([&](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
    if (request.target == "/kept") kept = std::move(exchange);
  });
  TestClient dropped(server->port());
  REQUIRE(dropped.send(request_text("GET", "/dropped", "", {})));
  CHECK(dropped.read_to_end() == ReadEnd::reset);
  TestClient client(server->port());
  REQUIRE(client.send(request_text("GET", "/kept", "", {})));
  while (server->figures().requests < 2) {
  }

  server.reset();

  kept->send_piece({"late"});
  kept->finish(WireEnd::keep_alive);
  kept.reset();
  CHECK(client.read_to_end() != ReadEnd::patience);
  CHECK(client.received.empty());
}

TEST_CASE("two servers cannot have one port") {
  const auto first = serving(echo_body);
  const auto second = HttpServer::listen(first->port(), echo_body);
  REQUIRE(!second);
  CHECK(second.error().code == ErrorCode::unavailable);
}

}  // namespace
}  // namespace pawl::fake
