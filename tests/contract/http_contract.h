// The contract of port/http.h as a test: what comes in which order, and what ends a request. Each
// adapter's *_test.cc calls check_http_contract() and check_http_bounds() with an HttpSubject.
#pragma once

#include "tests/contract/http_contract_support.h"

namespace pawl::contract {

inline void check_framings(const HttpSubject& subject) {
  HttpStage stage(subject);
  const std::string text = "data: one\n\ndata: two\n\n";
  const auto gives_text = [&](const RawServer::Script& script) {
    RawServer server(script);
    HttpCall call;
    stage.perform(call, get(server.url()));
    CHECK(call.failure() == HttpFailure::none);
    CHECK(call.head.status == 200);
    CHECK(call.body == text);
  };

  gives_text(answer(with_length(text)));
  gives_text(answer_once("HTTP/1.1 200 OK\r\n\r\n" + text));  // to the end of the connection
  gives_text(answer_once("HTTP/1.0 200 OK\r\n\r\n" + text));
  gives_text(answer(kChunkedHead + chunk(text.substr(0, 3)) + chunk(text.substr(3)) + chunk("")));
  gives_text([&](RawConnection& peer) {
    peer.read_request();
    peer.trickle(kChunkedHead + chunk(text) + "0\r\nX-Trailer: 1\r\n\r\n", 1, 0);
  });
  gives_text(answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" +
                    with_length(text)));
}

inline void check_head(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(
      answer("HTTP/1.1 429 Slow down\r\nRETRY-After:  7 \r\nX-Empty:\r\nX-A: 1\r\n"
             "X-A: 2\r\nX-Long: a\r\n  b\r\nContent-Length: 0\r\n\r\n"));
  HttpCall call;

  stage.perform(call, get(server.url()));

  CHECK(call.failure() == HttpFailure::none);  // what a status means is not the client's to say
  CHECK(call.head.status == 429);
  REQUIRE(call.head.find("retry-after") != nullptr);
  CHECK(*call.head.find("retry-after") == "7");
  CHECK(*call.head.find("x-empty") == "");
  CHECK(*call.head.find("x-a") == "1");
  CHECK(*call.head.find("x-long") == "a b");
  CHECK(call.body.empty());
}

inline void check_redirect(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(
      answer("HTTP/1.1 302 Found\r\nLocation: /other\r\nSet-Cookie: a=b\r\n"
             "Content-Length: 0\r\n\r\n"));
  HttpCall call;

  stage.perform(call, get(server.url()));

  CHECK(call.head.status == 302);
  CHECK(call.failure() == HttpFailure::none);
}

inline void check_request_bytes(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer* heard = nullptr;
  RawServer server([&](RawConnection& peer) {
    heard->remember(peer.read_request());
    peer.say(with_length("{}"));
  });
  heard = &server;
  HttpCall call;
  HttpRequest request = post(server.url("/v1/messages?beta=true"), std::string(300'000, 'x'));
  request.headers.push_back({"X-Api-Key", "sk-1", HttpHeader::Secrecy::secret});
  request.headers.push_back({"X-Nothing", ""});

  stage.perform(call, std::move(request));

  REQUIRE(call.failure() == HttpFailure::none);
  const std::string said = server.requests().at(0);
  CHECK(said.starts_with("POST /v1/messages?beta=true HTTP/1.1\r\n"));
  CHECK(said.find("\r\nX-Api-Key: sk-1\r\n") != std::string::npos);
  CHECK(said.find("\r\nX-Nothing:\r\n") != std::string::npos);
  CHECK(said.find("\r\ncontent-type: application/json\r\n") != std::string::npos);
  CHECK(said.find("Expect:") == std::string::npos);
  CHECK(said.find("Cookie:") == std::string::npos);
  CHECK(said.ends_with("\r\n\r\n" + std::string(300'000, 'x')));
}

inline void check_refused_requests(const HttpSubject& subject) {
  HttpStage stage(subject);
  const auto is_invalid = [&](HttpRequest request) {
    HttpCall call;
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::invalid);
    CHECK(call.heads == 0);
  };
  const auto with_header = [](const std::string& name, const std::string& value) {
    HttpRequest request = get("http://127.0.0.1:1/");
    request.headers.push_back({name, value});
    return request;
  };

  is_invalid(get("ftp://127.0.0.1/"));
  is_invalid(get("file:///etc/passwd"));
  is_invalid(get("127.0.0.1/"));
  is_invalid(get("http://"));
  is_invalid(get("http://127.0.0.1:1/\r\nHost: x"));
  is_invalid(get("http://127.0.0.1:99999/"));
  is_invalid(with_header("a", "b\r\nc: d"));
  is_invalid(with_header("a", "b\nc"));
  is_invalid(with_header("a", std::string("b\0c", 3)));
  is_invalid(with_header("a: b\r\nc", "d"));
  is_invalid(with_header("", "d"));
  HttpRequest endless = get("http://127.0.0.1:1/");
  endless.deadlines.total_ms = 0;
  is_invalid(endless);
}

inline void check_connection_failures(const HttpSubject& subject) {
  HttpStage stage(subject);
  std::string url;
  {
    const RawServer gone(answer(""));
    url = "http://" + subject.credentials + "127.0.0.1:" + std::to_string(gone.port()) +
          "/path?key=secret";
  }
  HttpCall refused;
  stage.perform(refused, get(url));
  CHECK(refused.failure() == HttpFailure::connect);
  CHECK(refused.message().find("127.0.0.1") != std::string::npos);
  CHECK(refused.message().find("secret") == std::string::npos);

  HttpCall unknown;
  stage.perform(unknown, get("http://no-such-host.invalid/"));
  CHECK(unknown.failure() == HttpFailure::connect);
  CHECK(unknown.message().find("no-such-host.invalid") != std::string::npos);
}

inline void check_broken(const HttpSubject& subject) {
  HttpStage stage(subject);
  const auto breaks = [&](const RawServer::Script& script, int heads) {
    RawServer server(script);
    HttpCall call;
    stage.perform(call, get(server.url("/?token=secret")));
    CHECK(call.failure() == HttpFailure::broken);
    CHECK(call.heads == heads);
    CHECK(call.message().find("secret") == std::string::npos);
  };

  breaks(answer_once(""), 0);
  breaks(answer_once("HTTP/1.1 200 OK\r\nContent-"), 0);
  breaks(answer_once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), 1);
  breaks(answer_once("HTTP/1.1 200 OK\r\nContent-Length: 536870912\r\n\r\nabc"), 1);
  breaks(answer_once(kChunkedHead + chunk("abc")), 1);
  breaks(answer_once(std::string(kChunkedHead) + "a\r\nabc"), 1);
  breaks(
      [](RawConnection& peer) {
        peer.read_request();
        peer.reset();
      },
      0);
  // The head is read before the reset comes: a reset may overtake what was sent.
  HttpCall call;
  std::atomic<bool> read = false;
  call.on_head = [&] { read = true; };
  RawServer server([&](RawConnection& peer) {
    peer.read_request();
    peer.say(kChunkedHead);
    while (!read && peer.wait_ms(1)) {
    }
    peer.reset();
  });
  stage.perform(call, get(server.url()));
  CHECK(call.failure() == HttpFailure::broken);
  CHECK(call.heads == 1);
}

inline void check_reuse(const HttpSubject& subject) {
  HttpStage stage(subject);
  RawServer server(answer(with_length("ok")));
  for (int i = 0; i < 5; ++i) {
    HttpCall call;
    stage.perform(call, post(server.url(), "{}"));
    CHECK(call.body == "ok");
  }
  CHECK(server.connections() == 1);
}

inline void check_many(const HttpSubject& subject) {
  constexpr int kMany = 200;
  HttpStage stage(subject);
  RawServer server([](RawConnection& peer) {
    // It closes nothing by itself: one that does so without a word may close what a request has
    // just been sent on, and on a loaded machine that request is broken, as it should be.
    for (auto request = peer.read_request(); !request.empty(); request = peer.read_request()) {
      const std::string number = request.substr(5, request.find(' ', 5) - 5);
      if (!peer.trickle(kChunkedHead + chunk("n" + number) + chunk(""), 16, 1)) return;
    }
  });
  std::vector<HttpCall> calls(kMany);
  int done = 0;
  for (int i = 0; i < kMany; ++i) {
    HttpCall& call = calls[static_cast<std::size_t>(i)];
    call.on_done = [&] { ++done; };
    stage.start(call, get(server.url("/" + std::to_string(i))));
  }

  stage.run_until([&] { return done == kMany; });

  for (int i = 0; i < kMany; ++i) {
    const HttpCall& call = calls[static_cast<std::size_t>(i)];
    CHECK(call.failure() == HttpFailure::none);
    CHECK(call.body == "n" + std::to_string(i));
  }
}

inline void check_http_contract(const HttpSubject& subject) {
  SUBCASE("every framing gives the same body") {
    check_framings(subject);
  }
  SUBCASE("the head has lower-case names and trimmed values") {
    check_head(subject);
  }
  SUBCASE("redirects are not followed") {
    check_redirect(subject);
  }
  SUBCASE("a request is sent as it was asked for") {
    check_request_bytes(subject);
  }
  SUBCASE("what must not be sent is refused") {
    check_refused_requests(subject);
  }
  SUBCASE("a server that is not there") {
    check_connection_failures(subject);
  }
  SUBCASE("a response that ends early is broken") {
    check_broken(subject);
  }
  SUBCASE("a connection is used again") {
    check_reuse(subject);
  }
  SUBCASE("two hundred at once") {
    check_many(subject);
  }
}

}  // namespace pawl::contract
