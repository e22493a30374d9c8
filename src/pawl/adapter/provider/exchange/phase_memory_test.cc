// sc-P17: half a gibibyte from a provider does not become half a gibibyte of memory.
#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>

#include "pawl/adapter/provider/anthropic/anthropic_stream_test.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/fake_http_test.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "tests/support/test_loop.h"

namespace pawl::provider {
namespace {

constexpr std::size_t kGrowthMax = 64U << 20U;
constexpr int kPieces = 512;  // of a mebibyte each

std::size_t in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Sends a head, a beginning, and then the same piece again and again, until it is destroyed.
class FloodingHttp final : public HttpClient {
 public:
  FloodingHttp(Loop& loop, HttpResponseHead head, std::string begin, std::string piece)
      : loop_(loop), head_(std::move(head)), begin_(std::move(begin)), piece_(std::move(piece)) {}

  std::unique_ptr<HttpOperation> start(HttpRequest, HttpHandler handler) override {
    auto going = std::make_shared<HttpHandler>(std::move(handler));
    loop_.post([this, weak = std::weak_ptr(going)] {
      if (const auto to = weak.lock()) to->head(head_);
      if (const auto to = weak.lock()) to->body(begin_);
      for (int i = 0; i < kPieces; ++i) {
        if (const auto to = weak.lock()) to->body(piece_);
        most = std::max(most, in_use());
      }
    });
    return std::make_unique<Flood>(std::move(going));
  }

  std::size_t most = 0;

 private:
  class Flood final : public HttpOperation {
   public:
    explicit Flood(std::shared_ptr<HttpHandler> handler) : handler_(std::move(handler)) {}
    void abort() override {}
    void pause() override {}
    void resume() override {}

   private:
    std::shared_ptr<HttpHandler> handler_;
  };

  Loop& loop_;
  const HttpResponseHead head_;
  const std::string begin_;
  const std::string piece_;
};

void check_flood(const HttpResponseHead& head, const std::string& begin, const std::string& piece) {
  TestLoop loop;
  ProviderConfig config;
  config.name = "anthropic";
  config.models.emplace_back().id = "claude-test";
  const auto http = std::make_shared<FloodingHttp>(loop, head, begin, piece);
  const auto executor = make_dialect_executor(config, make_anthropic_dialect(), loop, http);
  PhaseExecutionRequest request;
  request.model = "claude-test";
  std::optional<PhaseDone> end;
  const std::size_t before = in_use();
  const auto operation = executor->execute_phase(request, [&](const PhaseExecutorEvent& event) {
    if (const auto* done = std::get_if<PhaseDone>(&event)) end = *done;
  });
  loop.run_posted();
  REQUIRE(end.has_value());
  CHECK(std::holds_alternative<PhaseFailed>(end->outcome));
  CHECK(http->most >= before);
  CHECK(http->most - before <= kGrowthMax);
}

TEST_CASE("sc-P17: floods fail at their bounds, and memory stays within its own") {
  const std::string piece(1U << 20U, 'x');
  const std::string start = AnthropicStream().start().block(0, R"({"type":"text"})").bytes;
  check_flood(http_head(200, "text/event-stream"), start + "data: ", piece);  // one endless line
  std::string lines;
  while (lines.size() < piece.size()) lines += "data: " + std::string(1'000, 'x') + "\n";
  check_flood(http_head(200, "text/event-stream"), start, lines);  // one endless event
  AnthropicStream deltas;
  while (deltas.bytes.size() < piece.size()) {
    deltas.delta(0, "text_delta", "text", std::string(1'000, 'x'));
  }
  check_flood(http_head(200, "text/event-stream"), start, deltas.bytes);  // one endless text
  check_flood(http_head(200, "application/json"), R"({"content":")", piece);
  check_flood(http_head(500, "text/html"), "<html>", piece);
}

}  // namespace
}  // namespace pawl::provider
