// What the contract of port/http.h is tested with: a client on a real loop, and a handler that
// notes what it is told and checks the order of it.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/loop.h"
#include "pawl/port/http.h"
#include "tests/support/raw_server.h"

namespace pawl::contract {

struct HttpSubject {
  std::function<std::shared_ptr<HttpClient>(SocketLoop&)> make;
  // Of a URL. Empty for a client that refuses URLs with any.
  std::string credentials = "user:secret@";
};

// One request of a test's. It must be where it is until nothing more can come.
struct HttpCall {
  std::unique_ptr<HttpOperation> operation;
  HttpResponseHead head;
  int heads = 0;
  std::string body;
  std::size_t body_bytes = 0;
  std::size_t body_kept_max = std::size_t{1} << 20U;  // of `body`; more is only counted
  std::vector<std::size_t> pieces = {};
  std::optional<HttpEnd> end;
  bool inside_start = true;
  std::function<void()> on_head = [] {};
  std::function<void()> on_body = [] {};
  std::function<void()> on_done = [] {};

  HttpFailure failure() const { return end.value().failure; }
  const std::string& message() const { return end.value().message; }

  HttpHandler handler() {
    HttpHandler handler;
    handler.head = [this](const HttpResponseHead& value) {
      CHECK(!inside_start);
      CHECK(!end);
      CHECK(++heads == 1);
      head = value;
      on_head();
    };
    handler.body = [this](std::string_view bytes) {
      CHECK(heads == 1);
      CHECK(!end);
      CHECK(!bytes.empty());
      body_bytes += bytes.size();
      if (body.size() < body_kept_max) body += bytes;
      if (pieces.size() < 4096) pieces.push_back(bytes.size());
      on_body();
    };
    handler.done = [this](const HttpEnd& value) {
      CHECK(!inside_start);
      CHECK(!end);
      end = value;
      on_done();
    };
    return handler;
  }
};

class HttpStage {
 public:
  static constexpr std::int64_t kPatienceMs = 60'000;

  explicit HttpStage(const HttpSubject& subject) {
    // The machine's proxy would not find the test's servers.
    for (const char* const name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                   "ALL_PROXY", "no_proxy", "NO_PROXY"}) {
      ::unsetenv(name);
    }
    client = subject.make(loop);
  }

  void start(HttpCall& call, HttpRequest request) {
    call.operation = client->start(std::move(request), call.handler());
    call.inside_start = false;
  }
  void run_until(const std::function<bool()>& is_so) {
    bool too_late = false;
    const auto limit = loop.after(kPatienceMs, [&] { too_late = true; });
    loop.run_until([&] { return too_late || is_so(); });
    REQUIRE(!too_late);
  }
  void finish(HttpCall& call) {
    run_until([&] { return call.end.has_value(); });
  }
  void perform(HttpCall& call, HttpRequest request) {
    start(call, std::move(request));
    finish(call);
  }
  // Long enough for what must not come to come.
  void run_for(std::int64_t delay_ms) {
    bool over = false;
    const auto timer = loop.after(delay_ms, [&] { over = true; });
    loop.run_until([&] { return over; });
  }

  EpollLoop loop;
  std::shared_ptr<HttpClient> client;
};

inline HttpRequest get(const std::string& url) {
  HttpRequest request;
  request.method = "GET";
  request.url = url;
  return request;
}

inline HttpRequest post(const std::string& url, std::string body) {
  HttpRequest request;
  request.url = url;
  request.headers = {{"content-type", "application/json"}};
  request.body = std::move(body);
  return request;
}

// Answers every request on a connection with the same bytes.
inline RawServer::Script answer(std::string bytes) {
  return [bytes = std::move(bytes)](RawConnection& peer) {
    while (!peer.read_request().empty() && peer.say(bytes)) {
    }
  };
}
// Answers one request, and closes.
inline RawServer::Script answer_once(std::string bytes) {
  return [bytes = std::move(bytes)](RawConnection& peer) {
    peer.read_request();
    peer.say(bytes);
  };
}

inline std::string with_length(const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 200 OK\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}
inline std::string chunk(const std::string& body) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string size;
  for (std::size_t left = body.size(); left > 0; left /= 16) size.insert(0, 1, kDigits[left % 16]);
  return (size.empty() ? "0" : size) + "\r\n" + body + "\r\n";
}
inline constexpr const char* kChunkedHead =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n";

}  // namespace pawl::contract
