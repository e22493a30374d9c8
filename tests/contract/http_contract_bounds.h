// The part of the contract of port/http.h that is about servers which mean no good: every request
// ends, within its bounds.
#pragma once

#include <sys/resource.h>

#include "tests/contract/http_contract_support.h"
#include "tests/support/gzip_bomb.h"

namespace pawl::contract {

inline void check_hostile_framing(const HttpSubject& subject) {
  HttpStage stage(subject);
  const auto fails_as = [&](HttpFailure failure, const std::string& said) {
    CAPTURE(said.substr(0, 80));
    RawServer server([&](RawConnection& peer) {
      peer.read_request();
      peer.say(said);
      peer.stall();
    });
    HttpCall call;
    stage.perform(call, get(server.url()));
    CHECK(call.failure() == failure);
    CHECK(!call.message().empty());
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";

  fails_as(HttpFailure::protocol, "220 smtp.example ESMTP\r\nmore\r\n");
  fails_as(HttpFailure::protocol, kChunkedHead + std::string("FFFFFFFFFFFFFFFFF\r\nabc"));
  fails_as(HttpFailure::protocol, kChunkedHead + std::string("FFFFFFFFFFFFFFFF\r\nabc"));
  fails_as(HttpFailure::protocol, kChunkedHead + std::string("-1\r\nabc"));
  fails_as(HttpFailure::protocol, kChunkedHead + std::string("xyz\r\nabc"));
  fails_as(HttpFailure::protocol, kChunkedHead + std::string("3\r\nabcdef\r\n"));
  fails_as(HttpFailure::protocol, ok + "Content-Length: -5\r\n\r\nabc");
  fails_as(HttpFailure::protocol, ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabc");
  fails_as(HttpFailure::protocol, ok + std::string("X-A: a\0b\r\n\r\n", 12));
  fails_as(HttpFailure::protocol, "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nabc");
  fails_as(HttpFailure::protocol, ok + "Content-Encoding: br\r\n\r\nabc");
  fails_as(HttpFailure::protocol, ok + "Content-Encoding: gzip, gzip, gzip\r\n\r\nabc");
  fails_as(HttpFailure::protocol,
           ok + "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\nabc");
  fails_as(HttpFailure::protocol, ok + "Transfer-Encoding: gzip, chunked\r\n\r\nabc");
  fails_as(HttpFailure::protocol, ok + "Content-Encoding: gzip\r\n\r\nthis is no gzip at all");
}

// The one that says how a body ends by both means is believed in one, and not asked again.
inline void check_doubtful_framing(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(
      answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n"
             "\r\n" +
             chunk("whole") + chunk("")));
  for (int i = 0; i < 2; ++i) {
    HttpCall call;
    stage.perform(call, get(server.url()));
    CHECK(call.failure() == HttpFailure::protocol);
    CHECK(call.heads == 0);
    CHECK(call.body.empty());
  }
  CHECK(server.connections() == 2);
}

inline void check_header_bounds(const HttpSubject& subject) {
  HttpStage stage(subject);
  const auto is_too_large = [&](const std::string& begin, const std::string& repeated,
                                const std::string& end) {
    std::atomic<std::size_t> said = 0;
    RawServer server([&](RawConnection& peer) {
      peer.read_request();
      peer.say(begin);
      for (; said < (16U << 20U); said += repeated.size()) {
        if (!peer.say(repeated)) return;
      }
      peer.say(end);
    });
    HttpCall call;
    stage.perform(call, get(server.url()));
    CHECK(call.failure() == HttpFailure::too_large);
    CHECK(call.heads == 0);
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";

  is_too_large(ok + "X-Long: ", std::string(1024, 'x'), "\r\n\r\n");
  is_too_large(ok, "X-Short: " + std::string(1000, 'x') + "\r\n", "\r\n");
  is_too_large("", "HTTP/1.1 100 Continue\r\n\r\n", ok + "\r\n");
  is_too_large("", "HTTP/1.1 103 Early\r\nLink: a\r\n\r\n", ok + "\r\n");
}

inline void check_trailer_bound(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server([&](RawConnection& peer) {
    peer.read_request();
    peer.say(kChunkedHead + chunk("abc") + "0\r\n");
    while (peer.say("X-Trailer: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  HttpCall call;

  stage.perform(call, get(server.url()));

  CHECK(call.failure() == HttpFailure::too_large);
  CHECK(call.body == "abc");
}

inline void check_body_bound(const HttpSubject& subject) {
  constexpr std::uint64_t kMax = 100'000;
  HttpStage stage(subject);
  const auto is_bounded = [&](const std::string& head, const std::string& repeated) {
    RawServer server([&](RawConnection& peer) {
      peer.read_request();
      peer.say(head);
      while (peer.say(repeated)) {
      }
    });
    HttpCall call;
    HttpRequest request = get(server.url());
    request.body_bytes_max = kMax;
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::too_large);
    CHECK(call.body_bytes <= kMax);
    CHECK(call.body_bytes > 0);
  };

  is_bounded("HTTP/1.1 200 OK\r\n\r\n", std::string(5000, 'x'));
  is_bounded("HTTP/1.1 200 OK\r\nContent-Length: 536870912\r\n\r\n", std::string(5000, 'x'));
  is_bounded(kChunkedHead, chunk(std::string(5000, 'x')));
  is_bounded(kChunkedHead + std::string("7FFFFFFFFFFFFFFF\r\n"), std::string(5000, 'x'));

  RawServer exact(answer(with_length(std::string(kMax, 'x'))));
  HttpCall call;
  HttpRequest request = get(exact.url());
  request.body_bytes_max = kMax;
  stage.perform(call, std::move(request));
  CHECK(call.failure() == HttpFailure::none);
  CHECK(call.body_bytes == kMax);
}

inline void check_compression(const HttpSubject& subject) {
  HttpStage stage(subject);
  const auto gives_hello = [&](const std::string& name, const std::string& bytes,
                               std::size_t piece) {
    RawServer server([&](RawConnection& peer) {
      CHECK(peer.read_request().find("\r\nAccept-Encoding: gzip, deflate\r\n") !=
            std::string::npos);
      peer.say("HTTP/1.1 200 OK\r\nContent-Encoding: " + name + "\r\n\r\n");
      peer.trickle(bytes, piece, 0);
    });
    HttpCall call;
    stage.perform(call, get(server.url()));
    CHECK(call.failure() == HttpFailure::none);
    CHECK(call.body == "hello hello hello hello\n");
  };
  const std::string deflated("\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\xb9\x00", 11);
  const std::string gzipped = std::string("\x1f\x8b\x08\0\0\0\0\0\x02\x03", 10) + deflated +
                              std::string("\x00\x88\x59\x0b\x18\x00\x00\x00", 8);

  gives_hello("gzip", gzipped, 1);
  gives_hello("deflate", "\x78\x9c" + deflated + "\x70\xbe\x08\xbb", 1);
  gives_hello("deflate", deflated, 100);  // without the wrapper, as some servers do
}

inline long peak_resident_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

inline void check_bomb(const HttpSubject& subject) {
  constexpr std::uint64_t kMax = 256U << 20U;
  constexpr std::uint64_t kAll = std::uint64_t{1} << 30U;
  HttpStage stage(subject);
  RawServer server([&](RawConnection& peer) {
    peer.read_request();
    const GzipBomb bomb;
    std::string many;
    for (int i = 0; i < 1000; ++i) many += bomb.repeated();
    peer.say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb.head());
    for (std::uint64_t out = 0; out < kAll; out += 1000 * GzipBomb::kBytesOutOfRepeated) {
      if (!peer.say(many)) return;
    }
    peer.stall();
  });
  HttpCall call;
  HttpRequest request = get(server.url());
  request.body_bytes_max = kMax;
  const long before_kib = peak_resident_kib();

  stage.perform(call, std::move(request));

  CHECK(call.failure() == HttpFailure::too_large);
  CHECK(call.body_bytes <= kMax);
  CHECK(call.body_bytes > kMax / 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep what was freed
  CHECK(peak_resident_kib() - before_kib < 32 * 1024);
#else
  CHECK(before_kib > 0);
#endif
}

inline void check_http_bounds(const HttpSubject& subject) {
  SUBCASE("framing that no server should send") {
    check_hostile_framing(subject);
  }
  SUBCASE("a body that is framed twice") {
    check_doubtful_framing(subject);
  }
  SUBCASE("headers, lines and interim responses without end") {
    check_header_bounds(subject);
  }
  SUBCASE("trailers without end") {
    check_trailer_bound(subject);
  }
  SUBCASE("bodies without end") {
    check_body_bound(subject);
  }
  SUBCASE("gzip and deflate") {
    check_compression(subject);
  }
  SUBCASE("a bomb of 1 GiB") {
    check_bomb(subject);
  }
}

}  // namespace pawl::contract
