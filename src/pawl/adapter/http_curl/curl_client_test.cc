#include "pawl/adapter/http_curl/curl_client.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/contract/http_contract.h"
#include "tests/contract/http_contract_bounds.h"
#include "tests/contract/http_contract_control.h"
#include "tests/contract/http_contract_random.h"
#include "tests/contract/http_contract_uploads.h"

namespace pawl {
namespace {

const contract::HttpSubject kSubject{[](SocketLoop& loop) { return make_curl_client(loop); }};

TEST_CASE("the client on libcurl fulfils the contract of HTTP clients") {
  contract::check_http_contract(kSubject);
}

TEST_CASE("it can be aborted, destroyed, paused, and has deadlines") {
  contract::check_http_control(kSubject);
}

TEST_CASE("it sends large bodies in pieces, again where it must, and stops in the middle") {
  contract::check_http_uploads(kSubject);
}

TEST_CASE("it stays within its bounds whatever a server says") {
  contract::check_http_bounds(kSubject);
}

TEST_CASE("it holds what it promises whatever servers and callers do, in any order") {
  contract::check_http_at_random(kSubject, 30);
}

TEST_CASE("of many requests that end together the loop hears a few a callback") {
  constexpr std::size_t kCalls = 100;
  constexpr std::size_t kAtOnceMax = 8;
  contract::HttpStage stage(kSubject);
  std::vector<contract::HttpCall> calls(kCalls);
  std::size_t ended = 0;
  for (contract::HttpCall& call : calls) {
    call.on_done = [&ended] { ++ended; };
    stage.start(call, contract::get("no URL"));
  }
  std::size_t before = 0;
  std::size_t most = 0;
  stage.run_until([&] {  // asked between callbacks
    most = std::max(most, ended - std::exchange(before, ended));
    return ended == kCalls;
  });

  CHECK(most <= kAtOnceMax);
  for (const contract::HttpCall& call : calls) CHECK(call.failure() == HttpFailure::invalid);
}

// A port that answers no SYN: the queue of a listener that accepts nobody is full.
class BlackHole {
 public:
  static constexpr int kCallersMax = 16;
  static constexpr int kAnsweredWithinMs = 200;  // on loopback an answer takes microseconds

  BlackHole() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* const plain = reinterpret_cast<sockaddr*>(&address_);
    REQUIRE(::bind(listener_, plain, size) == 0);
    REQUIRE(::listen(listener_, 0) == 0);
    REQUIRE(::getsockname(listener_, plain, &size) == 0);
    while (!is_full_ && callers_.size() < kCallersMax) call();
  }
  ~BlackHole() {
    for (const int caller : callers_) ::close(caller);
    ::close(listener_);
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;

  bool is_full() const { return is_full_; }
  std::uint16_t port() const { return ntohs(address_.sin_port); }

 private:
  void call() {
    const int caller = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    callers_.push_back(caller);
    ::connect(caller, reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
    pollfd waiting{caller, POLLOUT, 0};
    is_full_ = ::poll(&waiting, 1, kAnsweredWithinMs) == 0;
  }

  const int listener_;
  sockaddr_in address_{};
  std::vector<int> callers_;
  bool is_full_ = false;
};

TEST_CASE(
    "sc-P06: SYNs that nobody answers end with the deadline for connecting, in both protocols") {
  const BlackHole hole;
  if (!hole.is_full()) {
    MESSAGE("skipped: this kernel answers every SYN");
    return;
  }
  const std::string place = "://127.0.0.1:" + std::to_string(hole.port()) + "/";
  contract::HttpStage stage(kSubject);
  for (const HttpVersion version : {HttpVersion::one, HttpVersion::two}) {
    HttpRequest request = contract::get((version == HttpVersion::two ? "https" : "http") + place);
    request.version = version;
    request.deadlines.connect_ms = 300;
    contract::HttpCall call;
    const std::int64_t began = stage.loop.monotonic_ms();
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::connect);
    CHECK(call.heads == 0);
    CHECK(stage.loop.monotonic_ms() - began >= 300);  // it was not refused
  }
}

}  // namespace
}  // namespace pawl
