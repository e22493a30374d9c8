// The part of the contract that is about what a request sends: bodies in pieces, whole or not, once
// or again.
#pragma once

#include <atomic>

#include "pawl/base/rng.h"
#include "tests/contract/http_contract_support.h"

namespace pawl::contract {

// So many bytes, no two places of it alike, in chunks of any size: some of their own, some parts of
// one text that all bodies keep.
inline HttpBody body_in_pieces(std::size_t size, std::uint64_t seed) {
  static const auto kept = [] {
    Rng rng(5);
    std::string text(100'000, '\0');
    for (char& c : text) c = static_cast<char>('!' + rng.below(90));
    return std::make_shared<const std::string>(std::move(text));
  }();
  Rng rng(seed);
  HttpBody body;
  while (body.size() < size) {
    const std::size_t most = std::min<std::size_t>(size - body.size(), 1 + rng.below(40'000));
    if (rng.one_in(3)) {
      body.append({kept, rng.below(kept->size() - most), most});
    } else {
      std::string own(most, '\0');
      for (char& c : own) c = static_cast<char>('!' + rng.below(90));
      body.append(std::move(own));
    }
  }
  return body;
}

inline HttpRequest upload(const std::string& url, HttpBody body) {
  HttpRequest request = post(url, "");
  request.body = std::move(body);
  return request;
}

inline std::string body_of_request(const std::string& request) {
  const std::size_t head = request.find("\r\n\r\n");
  return head == std::string::npos ? "no head" : request.substr(head + 4);
}

inline void check_bodies_in_pieces(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer* heard = nullptr;
  RawServer server([&](RawConnection& peer) {
    for (std::string request; !(request = peer.read_request()).empty();) {
      heard->remember(std::move(request));
      peer.say(with_length("{}"));
    }
  });
  heard = &server;
  constexpr std::size_t kSend = std::size_t{64} << 10U;
  std::size_t sent = 0;
  for (const std::size_t size : {std::size_t{1}, kSend - 1, kSend, kSend + 1, 8 * kSend + 1,
                                 std::size_t{3'000'000}, std::size_t{70}}) {
    HttpCall call;
    const HttpBody body = body_in_pieces(size, size);
    stage.perform(call, upload(server.url(), body));
    REQUIRE(call.failure() == HttpFailure::none);
    const std::string arrived = server.requests().at(sent++);
    CHECK(arrived.find("\r\nContent-Length: " + std::to_string(size) + "\r\n") !=
          std::string::npos);
    const bool same = body_of_request(arrived) == body.whole();
    CHECK(same);
  }
  CHECK(server.connections() == 1);
}

// A kept connection that the server closes while the body comes: nobody has answered, and the
// request is sent again from its first byte.
inline void check_body_sent_again(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer* heard = nullptr;
  RawServer server([&](RawConnection& peer) {
    if (peer.number() == 1) {
      peer.read_request();
      peer.say(with_length("first"));
      return peer.read_and_close(200'000);
    }
    heard->remember(peer.read_request());
    peer.say(with_length("second"));
    peer.stall();
  });
  heard = &server;
  HttpCall first;
  stage.perform(first, get(server.url()));
  REQUIRE(first.failure() == HttpFailure::none);

  HttpCall second;
  const HttpBody body = body_in_pieces(6'000'000, 3);
  stage.perform(second, upload(server.url(), body));

  REQUIRE(second.failure() == HttpFailure::none);
  CHECK(second.body == "second");
  CHECK(server.connections() == 2);
  const bool same = body_of_request(server.requests().at(0)) == body.whole();
  CHECK(same);
}

// Of a new connection nobody knows what the server did: it is broken, and not sent again.
inline void check_body_cut_off(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server([](RawConnection& peer) { peer.read_and_close(100'000); });
  HttpCall call;
  stage.perform(call, upload(server.url(), body_in_pieces(6'000'000, 4)));
  CHECK(call.failure() == HttpFailure::broken);
  CHECK(call.heads == 0);
  CHECK(server.connections() == 1);
}

// An answer before the whole body has come is taken; the rest need not be sent.
inline void check_early_answer(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server([](RawConnection& peer) {
    peer.read_bytes(100'000);
    peer.say("HTTP/1.1 413 Too large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
    peer.stall();
  });
  HttpCall call;
  stage.perform(call, upload(server.url(), body_in_pieces(6'000'000, 6)));
  CHECK(call.head.status == 413);
  CHECK(call.body == "no");
}

inline void check_abort_while_sending(const HttpSubject& subject) {
  HttpStage stage(subject);
  std::atomic<bool> came = false;
  RawServer server([&](RawConnection& peer) {
    peer.read_bytes(100'000);
    came = true;
    peer.wait_ms(RawConnection::kStallMs);  // reads nothing
  });
  const auto is_sending = [&] {
    while (!came) stage.run_for(1);
  };
  SUBCASE("abort()") {
    HttpCall call;
    stage.start(call, upload(server.url(), body_in_pieces(30'000'000, 8)));
    is_sending();
    const std::int64_t before = stage.loop.monotonic_ms();
    call.operation->abort();
    stage.finish(call);
    CHECK(call.failure() == HttpFailure::aborted);
    CHECK(stage.loop.monotonic_ms() - before < 1'000);
  }
  SUBCASE("destruction") {
    HttpCall call;
    stage.start(call, upload(server.url(), body_in_pieces(30'000'000, 9)));
    is_sending();
    call.operation.reset();
    stage.run_for(50);
    CHECK(!call.end);
  }
  SUBCASE("a deadline") {
    HttpCall call;
    HttpRequest request = upload(server.url(), body_in_pieces(30'000'000, 10));
    request.deadlines.first_byte_ms = 300;
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::timeout);
  }
}

// More of them at once than there is room to send from.
inline void check_many_uploads(const HttpSubject& subject) {
  constexpr int kMany = 40;
  HttpStage stage(subject);
  RawServer server([](RawConnection& peer) {
    for (std::string request; !(request = peer.read_request()).empty();) {
      peer.say(with_length(std::to_string(std::hash<std::string>()(body_of_request(request)))));
    }
  });
  std::vector<HttpCall> calls(kMany);
  std::vector<std::string> expected;
  int done = 0;
  for (int i = 0; i < kMany; ++i) {
    HttpCall& call = calls[static_cast<std::size_t>(i)];
    call.on_done = [&] { ++done; };
    HttpBody body = body_in_pieces(600'000 + static_cast<std::size_t>(i), 100);
    expected.push_back(std::to_string(std::hash<std::string>()(body.whole())));
    stage.start(call, upload(server.url(), std::move(body)));
  }
  stage.run_until([&] { return done == kMany; });
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(calls[i].failure() == HttpFailure::none);
    CHECK(calls[i].body == expected[i]);
  }
}

inline void check_http_uploads(const HttpSubject& subject) {
  SUBCASE("a body in pieces arrives whole, whatever its size") {
    check_bodies_in_pieces(subject);
  }
  SUBCASE("a body is sent again from its first byte") {
    check_body_sent_again(subject);
  }
  SUBCASE("a body that is cut off on a new connection is broken") {
    check_body_cut_off(subject);
  }
  SUBCASE("an answer in the middle of a body is taken") {
    check_early_answer(subject);
  }
  SUBCASE("abort, destruction and deadlines in the middle of a body") {
    check_abort_while_sending(subject);
  }
  SUBCASE("many at once") {
    check_many_uploads(subject);
  }
}

}  // namespace pawl::contract
