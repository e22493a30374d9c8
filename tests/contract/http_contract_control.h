// The part of the contract of port/http.h that is about abort, destruction, pause and deadlines.
#pragma once

#include "tests/contract/http_contract_support.h"

namespace pawl::contract {

// The head, two pieces, and nothing more until the peer goes.
inline RawServer::Script say_two_pieces_and_stall() {
  return [](RawConnection& peer) {
    peer.read_request();
    peer.say(kChunkedHead + chunk("one"));
    peer.wait_ms(5);
    peer.say(chunk("two"));
    peer.stall();
  };
}

enum class Moment : std::uint8_t { at_once, later, head, body };

// Arranges that `act` happens at that moment of the call, once.
inline void at(Moment moment, HttpStage& stage, HttpCall& call, std::function<void()> act) {
  switch (moment) {
    case Moment::at_once:
      act();
      break;
    case Moment::later:
      stage.run_until([&] { return call.body == "onetwo"; });
      act();
      break;
    case Moment::head:
      call.on_head = std::move(act);
      break;
    case Moment::body:
      call.on_body = std::move(act);
      break;
  }
}

inline void check_abort(const HttpSubject& subject) {
  for (const Moment moment : {Moment::at_once, Moment::later, Moment::head, Moment::body}) {
    HttpStage stage(subject);
    RawServer server(say_two_pieces_and_stall());
    HttpCall call;
    stage.start(call, get(server.url()));
    bool inside_abort = false;
    call.on_done = [&] { CHECK(!inside_abort); };

    at(moment, stage, call, [&] {
      inside_abort = true;
      call.operation->abort();
      call.operation->abort();
      inside_abort = false;
    });
    stage.finish(call);

    CHECK(call.failure() == HttpFailure::aborted);
    if (moment == Moment::head) CHECK(call.body.empty());
    if (moment == Moment::body) CHECK(call.pieces.size() == 1);
  }
}

inline void check_abort_after_the_end(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(answer(with_length("ok")));
  HttpCall call;
  call.on_done = [&] { call.operation->abort(); };

  stage.perform(call, get(server.url()));
  call.operation->abort();
  stage.run_for(20);

  CHECK(call.failure() == HttpFailure::none);
}

inline void check_destruction(const HttpSubject& subject) {
  for (const Moment moment : {Moment::at_once, Moment::later, Moment::head, Moment::body}) {
    HttpStage stage(subject);
    std::atomic<bool> peer_closed = false;
    RawServer server([&](RawConnection& peer) {
      peer.read_request();
      peer.say(kChunkedHead + chunk("one"));
      peer.wait_ms(5);
      peer.say(chunk("two"));
      peer_closed = peer.stall();
    });
    HttpCall call;
    // Destroyed with the operation's handler: a use of it after that is found by the sanitizers.
    const auto held = std::make_shared<std::string>("held");
    HttpHandler handler = call.handler();
    handler.done = [held](const HttpEnd&) { FAIL("destroyed: " << *held); };
    call.operation = stage.client->start(get(server.url()), std::move(handler));
    call.inside_start = false;
    std::size_t bytes_then = 0;
    bool destroyed = false;

    at(moment, stage, call, [&] {
      bytes_then = call.body_bytes;
      destroyed = true;
      call.operation.reset();
    });
    stage.run_until([&] { return destroyed && held.use_count() == 1; });
    stage.run_for(20);

    CHECK(call.body_bytes == bytes_then);
    if (moment != Moment::at_once) stage.run_until([&] { return peer_closed.load(); });
  }
}

inline void check_destruction_in_done(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(answer(with_length("ok")));
  HttpCall call;
  call.on_done = [&] { call.operation.reset(); };

  stage.perform(call, get(server.url()));
  stage.run_for(5);

  CHECK(call.failure() == HttpFailure::none);
}

// All that there is goes at once, from inside the client's own callbacks.
inline void check_client_destruction(const HttpSubject& subject) {
  for (const Moment moment : {Moment::head, Moment::body}) {
    HttpStage stage(subject);
    RawServer server(say_two_pieces_and_stall());
    HttpCall call;
    HttpCall other;
    bool destroyed = false;
    stage.start(other, get(server.url()));
    stage.run_until([&] { return !other.body.empty(); });
    stage.start(call, get(server.url()));

    at(moment, stage, call, [&] {
      other.operation.reset();
      stage.client.reset();
      call.operation.reset();
      destroyed = true;
    });
    stage.run_until([&] { return destroyed; });
    stage.run_for(5);

    CHECK(!call.end);
    CHECK(!other.end);
  }
}

inline void check_restart_in_callbacks(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(answer(with_length("ok")));
  HttpCall first;
  HttpCall from_head;
  HttpCall from_body;
  HttpCall from_done;
  first.on_head = [&] { stage.start(from_head, get(server.url())); };
  first.on_body = [&] { stage.start(from_body, get(server.url())); };
  first.on_done = [&] { stage.start(from_done, get(server.url())); };

  stage.start(first, get(server.url()));
  for (HttpCall* const call : {&first, &from_head, &from_body, &from_done}) {
    stage.finish(*call);
    CHECK(call->body == "ok");
  }
}

inline void check_pause(const HttpSubject& subject) {
  constexpr std::size_t kBytes = 32U << 20U;  // more than all buffers on the way
  HttpStage stage(subject);
  std::atomic<bool> said = false;
  RawServer server([&](RawConnection& peer) {
    peer.read_request();
    peer.say("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBytes) + "\r\n\r\n");
    peer.say(std::string(kBytes, 'x'));
    said = true;
  });
  HttpCall call;
  HttpRequest request = get(server.url());
  request.deadlines.idle_ms = 1000;  // stands still meanwhile
  request.deadlines.first_byte_ms = 0;
  call.on_body = [&] {
    if (call.pieces.size() == 1) call.operation->pause();
  };
  stage.start(call, std::move(request));
  stage.run_until([&] { return call.body_bytes > 0; });
  const std::size_t bytes = call.body_bytes;

  stage.run_for(1200);
  CHECK(call.body_bytes == bytes);
  CHECK(!said);
  CHECK(!call.end);

  call.operation->resume();
  CHECK(call.body_bytes == bytes);  // not from inside resume()
  call.operation->pause();
  call.operation->resume();
  stage.run_until([&] { return call.body_bytes > bytes; });
  call.operation->pause();  // from outside a callback
  call.operation->resume();
  stage.finish(call);
  CHECK(call.failure() == HttpFailure::none);
  CHECK(call.body_bytes == kBytes);
}

inline void check_abort_while_paused(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(say_two_pieces_and_stall());
  HttpCall call;
  call.on_head = [&] { call.operation->pause(); };
  stage.start(call, get(server.url()));
  stage.run_until([&] { return call.heads == 1; });
  stage.run_for(20);
  CHECK(call.body_bytes == 0);

  call.operation->abort();
  stage.finish(call);

  CHECK(call.failure() == HttpFailure::aborted);
  CHECK(call.body_bytes == 0);
}

inline void check_deadlines(const HttpSubject& subject) {
  constexpr std::int64_t kShortMs = 60;
  HttpStage stage(subject);
  const auto times_out = [&](const RawServer::Script& script, HttpDeadlines deadlines) {
    RawServer server(script);
    HttpCall call;
    HttpRequest request = get(server.url());
    request.deadlines = deadlines;
    const std::int64_t start_ms = stage.loop.monotonic_ms();
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::timeout);
    CHECK(stage.loop.monotonic_ms() - start_ms >= kShortMs);
    return call.heads;
  };
  HttpDeadlines first_byte;
  first_byte.first_byte_ms = kShortMs;
  HttpDeadlines idle;
  idle.idle_ms = kShortMs;
  HttpDeadlines total;
  total.total_ms = kShortMs;

  const auto silence = [](RawConnection& peer) { peer.stall(); };
  CHECK(times_out(silence, first_byte) == 0);
  CHECK(times_out(silence, total) == 0);
  const auto trickle_head = [](RawConnection& peer) {
    peer.say("HTTP/1.1 200 OK\r\nX-Long: ");
    peer.trickle(std::string(10'000, 'x'), 1, 5);
  };
  CHECK(times_out(trickle_head, first_byte) == 0);
  CHECK(times_out(say_two_pieces_and_stall(), idle) == 1);
  const auto trickle = [](RawConnection& peer) {
    peer.read_request();
    peer.say("HTTP/1.1 200 OK\r\n\r\n");
    peer.trickle(std::string(10'000, 'x'), 1, 5);
  };
  CHECK(times_out(trickle, total) == 1);
}

inline void check_http_control(const HttpSubject& subject) {
  SUBCASE("abort at any moment ends as aborted, later") {
    check_abort(subject);
  }
  SUBCASE("abort after the end is nothing") {
    check_abort_after_the_end(subject);
  }
  SUBCASE("nothing comes after destruction, at any moment") {
    check_destruction(subject);
  }
  SUBCASE("destruction inside done()") {
    check_destruction_in_done(subject);
  }
  SUBCASE("destruction of everything inside a callback") {
    check_client_destruction(subject);
  }
  SUBCASE("new requests can be started in callbacks") {
    check_restart_in_callbacks(subject);
  }
  SUBCASE("a paused server waits") {
    check_pause(subject);
  }
  SUBCASE("abort of a paused request") {
    check_abort_while_paused(subject);
  }
  SUBCASE("deadlines") {
    check_deadlines(subject);
  }
}

}  // namespace pawl::contract
