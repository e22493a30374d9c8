// An HttpClient that answers from a script. No network.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/adapter/provider/provider_executor.h"

namespace pawl::provider {

struct HttpPause {
  std::int64_t ms = 0;
};
// Each step comes by itself on the loop; a script without an HttpEnd never ends.
using HttpStep = std::variant<HttpResponseHead, std::string, HttpPause, HttpEnd>;
using HttpScript = std::vector<HttpStep>;

inline HttpResponseHead http_head(int status, std::string content_type,
                                  std::vector<HttpHeader> headers = {}) {
  HttpResponseHead head;
  head.status = status;
  head.headers = std::move(headers);
  head.headers.push_back({"content-type", std::move(content_type)});
  return head;
}

inline HttpScript event_stream(const std::string& bytes) {
  return {http_head(200, "text/event-stream; charset=utf-8"), bytes, HttpEnd{}};
}

inline HttpScript error_response(int status, const std::string& body,
                                 std::vector<HttpHeader> headers = {}) {
  return {http_head(status, "application/json", std::move(headers)), body, HttpEnd{}};
}

class FakeHttp final : public HttpClient {
 public:
  FakeHttp(Loop& loop, std::function<HttpScript(const HttpRequest&)> answer)
      : loop_(loop), answer_(std::move(answer)) {}

  std::unique_ptr<HttpOperation> start(HttpRequest request, HttpHandler handler) override {
    auto exchange = std::make_shared<Exchange>(
        Exchange{loop_, answer_(request), std::move(handler), 0, nullptr});
    requests.push_back(std::move(request));
    next(exchange);
    return std::make_unique<FakeOperation>(std::move(exchange));
  }

  std::vector<HttpRequest> requests;

 private:
  struct Exchange {
    Loop& loop;
    HttpScript script;
    HttpHandler handler;
    std::size_t at = 0;
    std::unique_ptr<Timer> timer;
  };

  class FakeOperation final : public HttpOperation {
   public:
    explicit FakeOperation(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
    void abort() override {
      exchange_->script = {HttpEnd{HttpFailure::aborted, ""}};
      exchange_->at = 0;
      next(exchange_);
    }
    void pause() override {}
    void resume() override {}

   private:
    std::shared_ptr<Exchange> exchange_;
  };

  static void next(const std::shared_ptr<Exchange>& exchange) {
    if (exchange->at >= exchange->script.size()) return;
    const std::weak_ptr<Exchange> weak = exchange;
    const auto perform = [weak] {
      if (const auto self = weak.lock()) step(self);
    };
    if (const auto* pause = std::get_if<HttpPause>(&exchange->script[exchange->at])) {
      exchange->timer = exchange->loop.after(pause->ms, perform);
    } else {
      exchange->loop.post(perform);
    }
  }

  static void step(const std::shared_ptr<Exchange>& exchange) {
    const HttpStep step = exchange->script[exchange->at++];
    const HttpHandler handler = exchange->handler;  // it may destroy its operation
    if (const auto* head = std::get_if<HttpResponseHead>(&step)) handler.head(*head);
    if (const auto* body = std::get_if<std::string>(&step)) handler.body(*body);
    if (const auto* end = std::get_if<HttpEnd>(&step)) return handler.done(*end);
    next(exchange);
  }

  Loop& loop_;
  std::function<HttpScript(const HttpRequest&)> answer_;
};

class FakeSecret final : public Secret {
 public:
  explicit FakeSecret(Result<std::string> value) : value_(std::move(value)) {}
  std::string origin() const override { return "a test"; }
  Result<std::string> reveal() const override {
    ++revealed;
    return value_;
  }
  mutable int revealed = 0;

 private:
  Result<std::string> value_;
};

}  // namespace pawl::provider
