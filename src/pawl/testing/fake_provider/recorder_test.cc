#include "pawl/testing/fake_provider/recorder.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "pawl/testing/fake_provider/fake_provider.h"
#include "pawl/testing/fake_provider/server/client_test_support.h"

namespace pawl::fake {
namespace {

// A loop that the test turns.
class TurnedLoop final : public Loop {
 public:
  void post(std::function<void()> work) override {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_one();
  }
  std::unique_ptr<Timer> after(std::int64_t, std::function<void()>) override { return nullptr; }
  std::int64_t wall_ms() const override { return 0; }
  std::int64_t monotonic_ms() const override { return 0; }

  void turn() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !work_.empty(); });
    const auto work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
};

struct ScriptedClient final : HttpClient {
  struct Under final : HttpOperation {
    void abort() override {}
    void pause() override {}
    void resume() override {}
  };
  std::unique_ptr<HttpOperation> start(HttpRequest request, HttpHandler to) override {
    asked = std::move(request);
    handler = std::move(to);
    return std::make_unique<Under>();
  }

  HttpRequest asked;
  HttpHandler handler;
};

struct Booth {
  Booth() {
    FakeProviderOptions options;
    options.record = RecordingOptions{&client, &loop, "https://up.example/",
                                      [](std::string& text) {
                                        const std::size_t at = text.find("hush");
                                        if (at != std::string::npos)
                                          text.replace(at, 4, "[redacted]");
                                      },
                                      [this](std::string_view line) { tape += line; }};
    auto started = FakeProvider::start(std::move(options));
    REQUIRE(started);
    provider = *std::move(started);
    from.emplace(provider->port());
  }

  void ask(const std::string& body) {
    REQUIRE(from->send(request_text("POST", "/v1/messages?beta=true", body,
                                    {{"x-api-key", "sk-secret"}, {"accept-encoding", "gzip"}})));
    loop.turn();
  }

  ScriptedClient client;
  TurnedLoop loop;
  std::string tape;
  std::unique_ptr<FakeProvider> provider;
  std::optional<TestClient> from;
};

TEST_CASE("a request goes upstream with its key, and comes back in the same pieces") {
  Booth booth;
  booth.ask(R"({"a":1})");

  CHECK(booth.client.asked.url == "https://up.example/v1/messages?beta=true");
  CHECK(booth.client.asked.body == R"({"a":1})");
  bool has_key = false;
  for (const HttpHeader& header : booth.client.asked.headers) {
    CHECK(header.name != "host");
    CHECK(header.name != "accept-encoding");
    if (header.name != "x-api-key") continue;
    has_key = header.value == "sk-secret" && header.secrecy == HttpHeader::Secrecy::secret;
  }
  CHECK(has_key);

  booth.client.handler.head({200,
                             {{"content-type", "text/event-stream"},
                              {"content-encoding", "gzip"},
                              {"anthropic-organization-id", "org-1"},
                              {"set-cookie", "c"}}});
  booth.client.handler.body("data: 1\n");
  REQUIRE(booth.from->read_until("data: 1\n") == ReadEnd::enough);
  booth.client.handler.body("\n");
  booth.client.handler.done({});
  const TestReply reply = read_reply(*booth.from);
  CHECK(reply.body == "data: 1\n\n");
  CHECK(reply.header("content-encoding").empty());
  CHECK(reply.header("anthropic-organization-id") == "org-1");

  const auto recordings = read_cassette(booth.tape);
  REQUIRE(recordings);
  REQUIRE(recordings->size() == 1);
  const Recording& recording = recordings->front();
  CHECK(recording.path == "/v1/messages");
  CHECK(recording.pieces == std::vector<std::string>{"data: 1\n", "\n"});
  CHECK(recording.digest == body_digest(R"({"a":1})"));
  CHECK(find_header(recording.headers, "anthropic-organization-id") == "<scrubbed>");
  CHECK(find_header(recording.headers, "set-cookie") == "<scrubbed>");
}

TEST_CASE("no secret is recorded, not even one that lies across two pieces") {
  Booth booth;
  booth.ask(R"({"say":"sk-secret hush"})");
  booth.client.handler.head({401, {{"x-note", "for sk-secret"}}});
  booth.client.handler.body("bad key: sk-se");
  booth.client.handler.body("cret, hush");
  booth.client.handler.done({});

  CHECK(read_reply(*booth.from).body == "bad key: sk-secret, hush");
  CHECK(booth.tape.find("sk-secret") == std::string::npos);
  CHECK(booth.tape.find("hush") == std::string::npos);
  const auto recordings = read_cassette(booth.tape);
  REQUIRE(recordings);
  CHECK(recordings->front().pieces == std::vector<std::string>{"bad key: <scrubbed>, [redacted]"});
  CHECK(recordings->front().digest == body_digest(R"({"say":"sk-secret hush"})"));
}

TEST_CASE("an upstream that fails is a bad gateway, or a reset once it has begun") {
  Booth booth;
  booth.ask("{}");
  booth.client.handler.done({HttpFailure::connect, "refused"});
  const TestReply reply = read_reply(*booth.from);
  CHECK(reply.status == 502);
  CHECK(reply.body.find("refused") != std::string::npos);

  booth.ask("{}");
  booth.client.handler.head({200, {}});
  booth.client.handler.body("half");
  REQUIRE(booth.from->read_until("half") == ReadEnd::enough);
  booth.client.handler.done({HttpFailure::broken, "gone"});
  CHECK(booth.from->read_to_end() == ReadEnd::reset);
  CHECK(booth.tape.empty());
}

TEST_CASE("the provider may end while the upstream is still at it") {
  Booth booth;
  booth.ask("{}");
  booth.provider.reset();
  CHECK(booth.from->read_to_end() != ReadEnd::patience);
}

}  // namespace
}  // namespace pawl::fake
