#include "pawl/tools/http/http_fetch.h"

#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <string>

#include "pawl/adapter/egress/guard.h"
#include "pawl/adapter/egress/guarded_client.h"
#include "pawl/adapter/egress/thread_resolver.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/json.h"
#include "tests/contract/http_contract_support.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

// Answers request after request with what it was told.
class ScriptedClient final : public HttpClient {
 public:
  struct Step {
    int status = 0;  // 0: no head
    std::vector<HttpHeader> headers = {};
    std::string body = {};
    HttpFailure failure = HttpFailure::none;
    bool hangs = false;
  };

  explicit ScriptedClient(Loop& loop) : loop_(loop) {}

  std::unique_ptr<HttpOperation> start(HttpRequest request, HttpHandler handler) override {
    requests.push_back(std::move(request));
    REQUIRE(!steps.empty());
    auto shared = std::make_shared<HttpHandler>(std::move(handler));
    if (!steps.front().hangs) {
      loop_.post([shared, step = steps.front()] { play(*shared, step); });
    }
    steps.pop_front();
    return std::make_unique<Running>(loop_, shared);
  }

  std::deque<Step> steps;
  std::vector<HttpRequest> requests;

 private:
  class Running final : public HttpOperation {
   public:
    Running(Loop& loop, std::shared_ptr<HttpHandler> handler)
        : loop_(loop), handler_(std::move(handler)) {}
    ~Running() override { handler_->done = {}; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    void abort() override {
      loop_.post([handler = handler_] { end(*handler, {HttpFailure::aborted, "aborted"}); });
    }
    void pause() override {}
    void resume() override {}

   private:
    Loop& loop_;
    std::shared_ptr<HttpHandler> handler_;
  };

  static void end(HttpHandler& handler, const HttpEnd& value) {
    if (handler.done) std::exchange(handler.done, {})(value);
  }
  static void play(HttpHandler& handler, const Step& step) {
    if (!handler.done) return;
    if (step.status != 0) {
      HttpResponseHead head;
      head.status = step.status;
      head.headers = step.headers;
      handler.head(head);
    }
    if (!step.body.empty()) handler.body(step.body);
    end(handler, {step.failure, "it " + std::string(name(step.failure))});
  }

  Loop& loop_;
};

struct FetchStage {
  explicit FetchStage(HttpToolOptions options = {})
      : client(std::make_shared<ScriptedClient>(loop)),
        fetch(make_http_fetch(loop, client, options)),
        post(make_http_post(loop, client, options)) {}

  void start(Tool& tool, const std::string& input) {
    ToolInvocation invocation;
    invocation.key = "c0ffee";
    invocation.input = input;
    outcome.reset();
    operation = tool.invoke(invocation, [this](ToolOutcome value) {
      CHECK(!outcome);
      outcome = std::move(value);
    });
    CHECK(!outcome);
  }
  ToolOutcome run(Tool& tool, const std::string& input = R"({"url":"http://a.test/"})") {
    start(tool, input);
    constexpr std::int64_t kLongMs = 60'000;
    loop.advance(kLongMs);
    REQUIRE(outcome);
    operation.reset();
    return *outcome;
  }

  TestLoop loop;
  std::shared_ptr<ScriptedClient> client;
  std::shared_ptr<Tool> fetch;
  std::shared_ptr<Tool> post;
  std::optional<ToolOutcome> outcome;
  std::unique_ptr<Operation> operation;
};

TEST_CASE("an answer of any status is a success of the tool") {
  FetchStage stage;
  CHECK(stage.fetch->spec().effect == EffectClass::pure);
  CHECK(stage.post->spec().effect == EffectClass::once);
  stage.client->steps = {{404, {}, "none"}};
  const ToolOutcome outcome = stage.run(*stage.fetch);
  CHECK(outcome.kind == ToolOutcome::Kind::succeeded);
  CHECK(*parse_json(outcome.content)->find_string("body") == "none");
  CHECK(!parse_json(outcome.content)->find("ok")->boolean());
  CHECK(stage.client->requests[0].redirects_max > 0);  // so that an unguarded client refuses
}

TEST_CASE("E11: a busy server is asked again by GET, and by POST only with a key") {
  const ScriptedClient::Step busy{503};
  const ScriptedClient::Step fine{200, {}, "ok"};
  {
    FetchStage stage;
    stage.client->steps = {busy, {0, {}, "", HttpFailure::broken}, fine};
    CHECK(parse_json(stage.run(*stage.fetch).content)->find("status")->as_int64() == 200);
    CHECK(stage.client->requests.size() == 3);
  }
  {
    FetchStage stage;
    stage.client->steps = {busy, busy, busy, busy};
    CHECK(parse_json(stage.run(*stage.fetch).content)->find("status")->as_int64() == 503);
    CHECK(stage.client->requests.size() == static_cast<std::size_t>(kHttpAttemptsMax));
  }
  {
    FetchStage stage;
    stage.client->steps = {busy, fine};
    CHECK(parse_json(stage.run(*stage.post).content)->find("status")->as_int64() == 503);
    CHECK(stage.client->requests.size() == 1);
    stage.client->steps = {{0, {}, "", HttpFailure::connect}, fine};
    CHECK(stage.run(*stage.post).kind == ToolOutcome::Kind::failed);
    CHECK(stage.client->requests.size() == 2);
  }
  HttpToolOptions keyed;
  keyed.post_key = HttpToolOptions::PostKey::header;
  FetchStage stage(keyed);
  CHECK(stage.post->spec().effect == EffectClass::idempotent);
  stage.client->steps = {busy, fine};
  CHECK(stage.run(*stage.post, R"({"url":"http://a.test/","headers":{"Idempotency-Key":"x"}})")
            .kind == ToolOutcome::Kind::succeeded);
  REQUIRE(stage.client->requests.size() == 2);
  for (const HttpRequest& request : stage.client->requests) {
    REQUIRE(request.headers.size() == 1);
    CHECK(request.headers[0].value == "c0ffee");
  }
}

TEST_CASE("a wait that the server asks for is kept if it is short, and left to the model if not") {
  FetchStage stage;
  stage.client->steps = {{503, {{"retry-after", "2"}}}, {200}};
  stage.start(*stage.fetch, R"({"url":"http://a.test/"})");
  stage.loop.advance(1'999);
  CHECK(!stage.outcome);
  stage.loop.advance(1);
  REQUIRE(stage.outcome);
  for (const char* const wait : {"3600", "Wed, 21 Oct 2015 07:28:00 GMT", "-1", ""}) {
    stage.client->steps = {{429, {{"retry-after", wait}}}};
    CHECK(parse_json(stage.run(*stage.fetch).content)->find("status")->as_int64() == 429);
  }
}

TEST_CASE("what is not known to have ended is not called a failure") {
  FetchStage stage;
  const auto kind = [&](Tool& tool, HttpFailure failure) {
    stage.client->steps.assign(kHttpAttemptsMax, {0, {}, "", failure});
    return stage.run(tool).kind;
  };
  using Kind = ToolOutcome::Kind;
  CHECK(kind(*stage.fetch, HttpFailure::timeout) == Kind::timed_out);
  CHECK(kind(*stage.fetch, HttpFailure::broken) == Kind::failed);
  CHECK(kind(*stage.fetch, HttpFailure::invalid) == Kind::failed);
  CHECK(kind(*stage.post, HttpFailure::timeout) == Kind::timed_out);
  CHECK(kind(*stage.post, HttpFailure::broken) == Kind::timed_out);
  CHECK(kind(*stage.post, HttpFailure::protocol) == Kind::timed_out);
  CHECK(kind(*stage.post, HttpFailure::connect) == Kind::failed);
  CHECK(kind(*stage.post, HttpFailure::tls) == Kind::failed);
  CHECK(kind(*stage.post, HttpFailure::invalid) == Kind::failed);
  CHECK(stage.run(*stage.fetch, R"({"url":7})").kind == Kind::failed);
}

TEST_CASE("a body is taken up to the bytes that were asked for") {
  FetchStage stage;
  stage.client->steps = {{200, {}, std::string(5'000, 'x')}, {200, {}, std::string(10, 'x')}};
  const std::string input = R"({"url":"http://a.test/","max_bytes":10})";
  const Json cut = parse_json(stage.run(*stage.fetch, input).content).value();
  CHECK(cut.find("truncated")->boolean());
  CHECK(cut.find_string("body")->size() == 10);
  CHECK(!parse_json(stage.run(*stage.fetch, input).content)->find("truncated")->boolean());
}

TEST_CASE("a call can be aborted and destroyed, while it runs and while it waits") {
  FetchStage stage;
  const std::string input = R"({"url":"http://a.test/"})";
  stage.client->steps = {{0, {}, "", HttpFailure::none, true}};
  stage.start(*stage.fetch, input);
  stage.operation->abort();
  stage.loop.advance(0);
  REQUIRE(stage.outcome);
  CHECK(stage.outcome->kind == ToolOutcome::Kind::aborted);

  stage.client->steps = {{503}, {200}};
  stage.start(*stage.fetch, input);
  stage.loop.advance(1);
  stage.operation->abort();
  stage.loop.advance(1);
  REQUIRE(stage.outcome);
  CHECK(stage.outcome->kind == ToolOutcome::Kind::aborted);

  stage.start(*stage.fetch, input);
  stage.operation.reset();
  stage.loop.advance(60'000);
  CHECK(!stage.outcome);
  CHECK(stage.client->steps.empty());
}

TEST_CASE("over the guard: a page is fetched, and what is not allowed is refused with the reason") {
  RawServer server([](RawConnection& peer) {
    const std::string request = peer.read_request();
    if (request.starts_with("GET /away ")) {
      peer.say("HTTP/1.1 302 x\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n");
    } else {
      peer.say(contract::with_length("<p>page</p>", "Content-Type: text/html\r\n"));
    }
  });
  const std::string origin = "page.test:" + std::to_string(server.port());
  EpollLoop loop;
  const auto resolver = make_thread_resolver(loop, {}, [](const std::string&) {
    return Resolver::Answer(std::vector<IpAddress>{IpAddress::v4(127, 0, 0, 1)});
  });
  const auto policy = parse_egress_policy({origin}, {"127.0.0.1:" + std::to_string(server.port())});
  const auto curl = make_curl_client(loop);
  const auto ask = [&](const std::shared_ptr<HttpClient>& client, const std::string& url) {
    const auto tool = make_http_fetch(loop, client);
    ToolInvocation invocation;
    invocation.input = R"({"url":")" + url + "\"}";
    std::optional<ToolOutcome> outcome;
    const auto operation =
        tool->invoke(invocation, [&](ToolOutcome value) { outcome = std::move(value); });
    loop.run_until([&] { return outcome.has_value(); });
    return *outcome;
  };
  const auto guarded = make_guarded_client(loop, curl, make_egress_guard(loop, resolver, *policy));
  CHECK(*parse_json(ask(guarded, "http://" + origin + "/").content)->find_string("body") ==
        "<p>page</p>");
  for (const std::string& url :
       {"http://" + origin + "/away", std::string("http://evil.test/"),
        std::string("http://127.0.0.1/"), std::string("file:///etc/passwd")}) {
    CAPTURE(url);
    const ToolOutcome refused = ask(guarded, url);
    CHECK(refused.kind == ToolOutcome::Kind::failed);
    CHECK(refused.content.find("refused") != std::string::npos);
  }
  CHECK(ask(guarded, "http://evil.test/").content.find(origin) != std::string::npos);
  // Given a client that vets nothing, it does not work at all.
  CHECK(ask(curl, server.url()).kind == ToolOutcome::Kind::failed);
}

}  // namespace
}  // namespace pawl
