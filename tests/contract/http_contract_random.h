// The contract of port/http.h under chance: servers of all kinds, and callers who abort, destroy,
// pause and start again at any moment. What HttpCall checks holds for each of them, and each ends.
#pragma once

#include <array>

#include "pawl/base/rng.h"
#include "tests/contract/http_contract_support.h"

namespace pawl::contract {

// Behaves by the number that the path names.
inline void behave(RawConnection& peer) {
  for (;;) {
    const std::string request = peer.read_request();
    const std::size_t slash = request.find('/');
    if (slash == std::string::npos) return;
    switch (std::strtoul(request.c_str() + slash + 1, nullptr, 10)) {
      case 0:
        peer.say(with_length("ok"));
        continue;  // and keeps the connection
      case 1:
        peer.say(with_length(std::string(20'000, 'x')));
        continue;
      case 2:
        peer.trickle(kChunkedHead + chunk("abc") + chunk("def") + chunk(""), 5, 1);
        continue;
      case 3:
        return peer.reset();
      case 4:
        peer.say(kChunkedHead + chunk("abc"));
        return;
      case 5:
        peer.say(kChunkedHead + chunk("abc"));
        peer.stall();
        return;
      case 6:
        peer.say("nonsense\r\n\r\n");
        return;
      default:
        return;
    }
  }
}

class RandomCallers {
 public:
  RandomCallers(HttpStage& stage, std::string url, std::uint64_t seed)
      : stage_(stage), url_(std::move(url)), rng_(seed) {
    for (HttpCall& call : calls_) begin(call);
  }

  void run() {
    stage_.run_until([&] {
      if (rng_.one_in(50)) act(rng_.pick(all_));
      return settled_ == calls_.size();
    });
  }

 private:
  static constexpr std::size_t kCalls = 60;

  void begin(HttpCall& call) {
    all_.push_back(&call);
    call.on_head = [this, &call] { maybe_act(call); };
    call.on_body = [this, &call] { maybe_act(call); };
    call.on_done = [this, &call] {
      ++settled_;
      if (rng_.one_in(2)) call.operation.reset();
    };
    HttpRequest request = get(url_ + std::to_string(rng_.below(8)));
    request.deadlines.idle_ms = 50;
    request.deadlines.total_ms = 20'000;
    stage_.start(call, std::move(request));
    if (rng_.one_in(20)) act(&call);
  }

  void maybe_act(HttpCall& call) {
    if (!rng_.one_in(4)) return;
    act(rng_.one_in(2) ? &call : rng_.pick(all_));
  }

  void act(HttpCall* call) {
    if (call->operation == nullptr) return;
    switch (rng_.below(8)) {
      case 0:
        return call->operation->abort();
      case 1:
        if (!call->end) ++settled_;
        return call->operation.reset();
      case 2:
      case 3:
        call->operation->pause();
        // Nobody stays paused for ever: what wakes it up may come when it is gone.
        return stage_.loop.post([call] {
          if (call->operation != nullptr) call->operation->resume();
        });
      default:
        return call->operation->resume();
    }
  }

  HttpStage& stage_;
  const std::string url_;
  Rng rng_;
  std::array<HttpCall, kCalls> calls_;
  std::vector<HttpCall*> all_;
  std::size_t settled_ = 0;
};

inline void check_http_at_random(const HttpSubject& subject, std::uint64_t seeds) {
  RawServer server(behave);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    HttpStage stage(subject);
    RandomCallers callers(stage, server.url(), seed);
    callers.run();
    stage.run_for(1);
  }
}

}  // namespace pawl::contract
