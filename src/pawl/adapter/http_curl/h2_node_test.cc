// HTTP/2 against node's server.
#include <doctest/doctest.h>

#include <list>
#include <random>
#include <string>

#include "pawl/adapter/http_curl/h2_servers_test.h"
#include "pawl/adapter/http_curl/h2_session.h"
#include "pawl/ids.h"
#include "tests/contract/http_contract_uploads.h"

namespace pawl {
namespace {

using contract::HttpCall;
using contract::HttpStage;

// One of the machine's, or none.
struct NodeStage {
  static bool missing() { return is_missing("openssl") || is_missing("node"); }
  explicit NodeStage(int streams = 100) {
    authority.sign("good", "DNS:localhost,IP:127.0.0.1", 2);
    server.emplace(authority, streams);
    stage.emplace(trusting(authority / "ca.pem"));
  }
  HttpCall perform(const std::string& path) {
    HttpCall call;
    stage->perform(call, server->request(path));
    call.operation.reset();
    return call;
  }
  TestAuthority authority;
  std::optional<NodeServer> server;
  std::optional<HttpStage> stage;
};

TEST_CASE("HTTP/2: a request has its head, its body and its end") {
  if (NodeStage::missing()) return;
  NodeStage node;
  const HttpCall body = node.perform("/body/3/100000");
  CHECK(body.failure() == HttpFailure::none);
  CHECK(body.head.status == 200);
  CHECK(body.head.find("content-type") != nullptr);
  CHECK((body.body == body_of(3, 100'000)));
  CHECK(node.perform("/length/1/0").body.empty());
  CHECK(node.perform("/nothing").head.status == 404);
  CHECK(node.perform("/packed").failure() == HttpFailure::protocol);
  const HttpCall headers = node.perform("/headers");
  CHECK(headers.body.find("\"user-agent\":\"pawl\"") != std::string::npos);
  CHECK(headers.body.find("\":path\":\"/headers\"") != std::string::npos);
  CHECK(node.server->connections() == 1);  // all of them
}

TEST_CASE("HTTP/2: a large request arrives whole, and an early answer is taken") {
  if (NodeStage::missing()) return;
  NodeStage node;
  HttpCall call;
  HttpRequest request = node.server->request("/echo");
  request.method = "POST";
  request.body = contract::body_in_pieces(3'000'000, 5);
  const std::string expected = "3000000 " + to_hex(sha256(request.body.whole()));
  HttpRequest early = request;
  early.url.replace(early.url.find("/echo"), 5, "/early");
  node.stage->perform(call, std::move(request));
  CHECK(call.body == expected);

  HttpCall refused;
  node.stage->perform(refused, std::move(early));
  CHECK(refused.failure() == HttpFailure::none);
  CHECK(refused.head.status == 413);
  CHECK(refused.body == "too much");
}

TEST_CASE("HTTP/2: a stream that is cut is broken, and its siblings are not") {
  if (NodeStage::missing()) return;
  NodeStage node;
  HttpCall cut;
  HttpCall other;
  node.stage->start(other, node.server->request("/body/2/50000/20/5"));
  node.stage->start(cut, node.server->request("/cut/1/20000/4/2"));
  node.stage->finish(cut);
  node.stage->finish(other);
  CHECK(cut.failure() == HttpFailure::broken);
  CHECK((cut.body == body_of(1, 20'000)));
  CHECK(other.failure() == HttpFailure::none);
  CHECK((other.body == body_of(2, 50'000)));
  CHECK(node.server->connections() == 1);
}

TEST_CASE("HTTP/2: what the server refused is sent again, three times at most") {
  if (NodeStage::missing()) return;
  NodeStage node;
  CHECK(node.perform("/refuse/1/1").body == "at last");
  CHECK(node.perform("/refuse/2/2").body == "at last");
  const HttpCall never = node.perform("/refuse/3/9");
  CHECK(never.failure() == HttpFailure::broken);
  CHECK(never.message().find("refused") != std::string::npos);
  CHECK(node.perform("/old").failure() == HttpFailure::protocol);
}

TEST_CASE("HTTP/2: a server that leaves ends what has begun, and the next is on a new connection") {
  if (NodeStage::missing()) return;
  NodeStage node;
  HttpCall going;
  HttpCall leaving;
  node.stage->start(going, node.server->request("/body/4/200000/40/3"));
  node.stage->start(leaving, node.server->request("/goaway/5/30000"));
  node.stage->finish(leaving);
  CHECK(leaving.failure() == HttpFailure::none);
  CHECK((leaving.body == body_of(5, 30'000)));
  CHECK((node.perform("/body/6/1000").body == body_of(6, 1'000)));
  node.stage->finish(going);
  CHECK(going.failure() == HttpFailure::none);
  CHECK((going.body == body_of(4, 200'000)));

  HttpCall beside;
  node.stage->start(beside, node.server->request("/body/7/900000/90/5"));
  CHECK(node.perform("/die/8/1000").failure() == HttpFailure::broken);
  node.stage->finish(beside);
  CHECK(beside.failure() == HttpFailure::broken);
  CHECK((node.perform("/body/9/1000").body == body_of(9, 1'000)));
}

TEST_CASE("HTTP/2: a paused stream keeps its window's worth, and its siblings go on") {
  if (NodeStage::missing()) return;
  NodeStage node;
  HttpCall paused;
  paused.on_head = [&] { paused.operation->pause(); };
  paused.body_kept_max = 2'000'000;
  node.stage->start(paused, node.server->request("/body/1/1500000"));
  node.stage->run_until([&] { return paused.heads == 1; });
  std::list<HttpCall> others(20);
  for (HttpCall& other : others) {
    other.body_kept_max = 2'000'000;
    node.stage->start(other, node.server->request("/body/2/1000000"));
  }
  for (HttpCall& other : others) {
    node.stage->finish(other);
    CHECK(other.failure() == HttpFailure::none);
    CHECK((other.body == body_of(2, 1'000'000)));
  }
  CHECK(paused.body.empty());
  CHECK(!paused.end);
  CHECK(node.server->connections() == 1);
  paused.operation->resume();
  node.stage->finish(paused);
  CHECK(paused.failure() == HttpFailure::none);
  CHECK((paused.body == body_of(1, 1'500'000)));
}

TEST_CASE("HTTP/2: an abort is one stream's, and comes within a second") {
  if (NodeStage::missing()) return;
  NodeStage node;
  HttpCall silent;
  HttpCall streaming;
  HttpCall destroyed;
  HttpCall other;
  node.stage->start(silent, node.server->request("/silent"));
  node.stage->start(streaming, node.server->request("/body/1/900000/900/5"));
  node.stage->start(destroyed, node.server->request("/body/1/900000/900/5"));
  node.stage->start(other, node.server->request("/body/2/60000/30/10"));
  node.stage->run_until([&] { return streaming.heads == 1 && destroyed.heads == 1; });
  const std::int64_t since = node.stage->loop.monotonic_ms();
  silent.operation->abort();
  streaming.operation->abort();
  destroyed.operation.reset();
  node.stage->finish(silent);
  node.stage->finish(streaming);
  CHECK(node.stage->loop.monotonic_ms() - since < 1'000);
  CHECK(silent.failure() == HttpFailure::aborted);
  CHECK(streaming.failure() == HttpFailure::aborted);
  node.stage->finish(other);
  CHECK(other.failure() == HttpFailure::none);
  CHECK((other.body == body_of(2, 60'000)));
  CHECK(!destroyed.end);
  CHECK(node.perform("/counts").body.find("\"sessions\":1,") != std::string::npos);
  CHECK(node.perform("/counts").body.find("\"resets\":3") != std::string::npos);
}

TEST_CASE("HTTP/2: deadlines and bounds are a stream's own") {
  if (NodeStage::missing()) return;
  NodeStage node;
  HttpCall late;
  HttpRequest slow = node.server->request("/silent");
  slow.deadlines.first_byte_ms = 150;
  HttpCall idle;
  HttpRequest stalls = node.server->request("/body/1/10/2/100000");
  stalls.deadlines.idle_ms = 150;
  HttpCall large;
  HttpRequest bounded = node.server->request("/body/1/100000");
  bounded.body_bytes_max = 5'000;
  HttpCall other;
  node.stage->start(other, node.server->request("/body/2/60000/60/10"));
  node.stage->start(late, std::move(slow));
  node.stage->start(idle, std::move(stalls));
  node.stage->start(large, std::move(bounded));
  for (HttpCall* const call : {&late, &idle, &large, &other}) node.stage->finish(*call);
  CHECK(late.failure() == HttpFailure::timeout);
  CHECK(idle.failure() == HttpFailure::timeout);
  CHECK(large.failure() == HttpFailure::too_large);
  CHECK(large.body_bytes <= 5'000);
  CHECK(other.failure() == HttpFailure::none);
  CHECK((other.body == body_of(2, 60'000)));
}

TEST_CASE("HTTP/2: one that gives up on a slow connection does not take it from those that wait") {
  if (NodeStage::missing()) return;
  NodeStage node;
  node.server->signal(SIGSTOP);
  HttpCall hasty;
  HttpRequest soon = node.server->request("/body/1/10");
  soon.deadlines.first_byte_ms = 50;
  HttpCall patient;
  node.stage->start(hasty, std::move(soon));
  node.stage->start(patient, node.server->request("/body/2/60000"));
  node.stage->finish(hasty);
  CHECK(hasty.failure() == HttpFailure::timeout);
  node.server->signal(SIGCONT);
  node.stage->finish(patient);
  CHECK(patient.failure() == HttpFailure::none);
  CHECK((patient.body == body_of(2, 60'000)));
}

TEST_CASE("HTTP/2: as many connections as the server's streams ask for") {
  if (NodeStage::missing()) return;
  NodeStage node(7);
  std::list<HttpCall> calls(40);
  std::size_t seed = 0;
  for (HttpCall& call : calls) {
    node.stage->start(call,
                      node.server->request("/body/" + std::to_string(seed++) + "/3000/10/20"));
  }
  seed = 0;
  for (HttpCall& call : calls) {
    node.stage->finish(call);
    CHECK(call.failure() == HttpFailure::none);
    CHECK((call.body == body_of(seed++, 3'000)));
  }
  CHECK(node.server->connections() >= 6);
  CHECK(node.server->connections() <= 12);
}

// Everything at once. What each request must come to is known beforehand; all of it must, and
// nothing is lost, doubled or another's.
class Crowd {
 public:
  explicit Crowd(NodeStage& node, unsigned seed) : node_(node), random_(seed) {}

  void run(int requests) {
    for (int i = 0; i < requests; ++i) add();
    for (Guest& guest : guests_) node_.stage->start(guest.call, guest.request);
    for (Guest& guest : guests_) {
      if (guest.kind != Kind::destroyed) node_.stage->finish(guest.call);
    }
    for (const Guest& guest : guests_) judge(guest);
  }

 private:
  enum class Kind { whole, cut, aborted, destroyed, paused, posted, refused };
  struct Guest {
    Kind kind = Kind::whole;
    std::string expected = {};
    HttpRequest request = {};
    HttpCall call = {};
  };

  std::size_t any(std::size_t from, std::size_t to) { return from + random_() % (to - from + 1); }

  void add() {
    Guest& guest = guests_.emplace_back();
    guest.kind = static_cast<Kind>(any(0, 6));
    const std::size_t seed = any(0, 9'999);
    const std::size_t bytes = any(0, 3) == 0 ? any(100'000, 300'000) : any(1, 9'000);
    const std::string path = std::to_string(seed) + "/" + std::to_string(bytes) + "/" +
                             std::to_string(any(1, 12)) + "/" + std::to_string(any(0, 9));
    guest.expected = body_of(seed, bytes);
    guest.request =
        node_.server->request(guest.kind == Kind::cut ? "/cut/" + path : "/body/" + path);
    HttpCall& call = guest.call;
    if (guest.kind == Kind::aborted) {
      call.on_body = [&call] { call.operation->abort(); };
    } else if (guest.kind == Kind::destroyed) {
      call.on_body = [&call] { call.operation.reset(); };
    } else if (guest.kind == Kind::paused) {
      call.on_body = [this, &call] {
        call.operation->pause();
        node_.stage->loop.post([&call] {
          if (call.operation) call.operation->resume();
        });
      };
    } else if (guest.kind == Kind::posted) {
      guest.request = node_.server->request("/echo");
      guest.request.method = "POST";
      guest.request.body = guest.expected;
      guest.expected = std::to_string(bytes) + " " + to_hex(sha256(guest.request.body.whole()));
    } else if (guest.kind == Kind::refused) {
      guest.request =
          node_.server->request("/refuse/" + std::to_string(10'000 + refusals_++) + "/1");
      guest.expected = "at last";
    }
  }

  static void judge(const Guest& guest) {
    const HttpCall& call = guest.call;
    CAPTURE(guest.request.url);
    const std::string why = call.end ? call.message() : "";
    CAPTURE(why);
    if (guest.kind == Kind::destroyed) {
      CHECK(!call.end);
      return;
    }
    const HttpFailure expected = guest.kind == Kind::cut       ? HttpFailure::broken
                                 : guest.kind == Kind::aborted ? HttpFailure::aborted
                                                               : HttpFailure::none;
    CHECK(call.failure() == expected);
    if (guest.kind == Kind::aborted || guest.kind == Kind::cut) {
      CHECK(guest.expected.starts_with(call.body));
    } else {
      CHECK((call.body == guest.expected));
    }
  }

  NodeStage& node_;
  std::mt19937 random_;
  std::list<Guest> guests_;
  int refusals_ = 0;
};

TEST_CASE("HTTP/2: a thousand streams of all kinds over few connections") {
  if (NodeStage::missing()) return;
  const char* const given = std::getenv("PAWL_H2_ROUNDS");  // more than two are for whoever asks
  const int rounds = given != nullptr ? std::atoi(given) : 2;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    // More than are used at a time: node counts streams that it has not let go of yet, too.
    NodeStage node(200);
    Crowd(node, static_cast<unsigned>(round)).run(1'000);
    CHECK(node.server->connections() <= 30);
  }
}

}  // namespace
}  // namespace pawl
