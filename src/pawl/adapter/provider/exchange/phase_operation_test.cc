// The cases sc-P of the safety page that an executor answers for, with streams written by hand.
#include "pawl/adapter/provider/exchange/exchange.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/anthropic/anthropic_stream_test.h"
#include "pawl/adapter/provider/exchange/phase_stage_test.h"

namespace pawl::provider {
namespace {

HttpScript open_stream(const std::string& bytes) {
  return {http_head(200, "text/event-stream"), bytes};
}

TEST_CASE("sc-P03: an overload inside a stream fails the phase; the call in it is not proposed") {
  AnthropicStream stream;
  stream.start().text(0, "a").block(1, R"({"type":"tool_use","id":"t","name":"look"})");
  stream.delta(1, "input_json_delta", "partial_json", R"({"a":1})").stop(1);
  stream.event("error", R"(,"error":{"type":"overloaded_error","message":"Overloaded"})");
  stream.end("tool_use");
  PhaseStage stage(event_stream(stream.bytes));
  const PhaseFailed failed = stage.failure();
  CHECK(failed.kind == FailureKind::overloaded);
  CHECK(failed.message == "overloaded_error: Overloaded");
  CHECK(stage.calls().empty());
}

TEST_CASE("sc-P07, sc-P08: bytes without progress end the phase, comments and pings included") {
  for (const std::string& alive :
       {std::string(": ping\n\n"), std::string(": x\n"), AnthropicStream().event("ping").bytes}) {
    PhaseStage stage(open_stream(AnthropicStream().start().bytes));
    for (int i = 0; i < 1'000; ++i) {
      stage.answer.emplace_back(HttpPause{5'000});
      stage.answer.emplace_back(alive);
    }
    stage.begin();
    stage.loop.advance(599'999);
    CHECK_FALSE(stage.phase.done());
    stage.loop.advance(1);
    REQUIRE(stage.phase.done());
    CHECK(stage.phase.outcome<PhaseFailed>().category == ErrorCategory::timeout);
    CHECK(stage.phase.outcome<PhaseFailed>().kind == FailureKind::transient);
    CHECK(stage.loop.timer_count() == 0);
  }
}

TEST_CASE("sc-P10: a model that is silent for minutes and then speaks is waited for") {
  PhaseStage stage(open_stream(AnthropicStream().start().bytes));
  for (int i = 0; i < 9; ++i) {
    stage.answer.emplace_back(HttpPause{170'000});
    stage.answer.emplace_back(AnthropicStream().text(i, "more").bytes);
  }
  stage.answer.emplace_back(AnthropicStream().end("end_turn").bytes);
  stage.begin();
  stage.loop.advance(9 * 170'000 + 100);
  REQUIRE(stage.phase.done());
  CHECK(stage.phase.outcome<PhaseReplied>().stop == ReplyStop::end_turn);
}

TEST_CASE("sc-P12: a stream that ends inside of a call proposes none") {
  AnthropicStream stream;
  stream.start().block(0, R"({"type":"tool_use","id":"t","name":"look"})");
  stream.delta(0, "input_json_delta", "partial_json", R"({"path":"/tm)");
  PhaseStage cut(event_stream(stream.bytes));
  CHECK(cut.failure().message == "the stream ended before the reply did");
  CHECK(cut.calls().empty());
  // Nor when the block was closed and only the end of the message is missing.
  stream.delta(0, "input_json_delta", "partial_json", "p\"}").stop(0);
  PhaseStage nearly(event_stream(stream.bytes));
  CHECK(nearly.failure().kind == FailureKind::transient);
  CHECK(nearly.calls().empty());
}

TEST_CASE("sc-P15: events that come twice or out of order are faults of the protocol") {
  const std::string tool = R"({"type":"tool_use","id":"t","name":"look"})";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a second message_start", AnthropicStream().start().start().bytes},
      {"a second block of the same index",
       AnthropicStream().start().text(0, "a").text(0, "b").bytes},
      {"a block inside of a block", AnthropicStream().start().block(0, tool).block(1, tool).bytes},
      {"a block outside of a message", AnthropicStream().text(0, "a").bytes},
      {"the end of a block that is not open", AnthropicStream().start().stop(0).bytes},
      {"a delta of a block that is not open",
       AnthropicStream().start().delta(0, "text_delta", "text", "x").bytes},
      {"message_delta too early", AnthropicStream().end("end_turn").bytes},
      {"message_delta inside of a block",
       AnthropicStream().start().block(0, tool).end("tool_use").bytes},
      {"message_stop before the message was complete",
       AnthropicStream().start().event("message_stop").bytes}};
  for (const auto& [message, bytes] : cases) {
    CAPTURE(message);
    PhaseStage stage(event_stream(bytes + AnthropicStream().end("tool_use").bytes));
    const PhaseFailed failed = stage.failure();
    CHECK(failed.message == "the response breaks the protocol: " + message);
    CHECK(failed.kind == FailureKind::transient);
    CHECK(stage.calls().empty());
  }
}

TEST_CASE("what follows a complete reply does not matter") {
  AnthropicStream stream;
  stream.start().text(0, "fine").end("end_turn");
  const std::string complete = stream.bytes;
  stream.start().tool(0, "look", "{}").end("tool_use");
  PhaseStage spliced(event_stream(stream.bytes));
  CHECK(spliced.reply().stop == ReplyStop::end_turn);
  CHECK(spliced.calls().empty());
  PhaseStage unended(open_stream(complete));  // The connection stays open.
  unended.begin();
  CHECK_FALSE(unended.phase.done());
  unended.loop.advance(100);
  CHECK(unended.phase.outcome<PhaseReplied>().stop == ReplyStop::end_turn);
  CHECK(unended.loop.timer_count() == 0);
  PhaseStage broken({http_head(200, "text/event-stream"), complete, std::string(100'000, 'x'),
                     HttpEnd{HttpFailure::broken, "it broke"}});
  CHECK(broken.reply().stop == ReplyStop::end_turn);
}

TEST_CASE("sc-P17: what is too large fails the phase at its bound") {
  PhaseStage body(open_stream(AnthropicStream().start().bytes));
  body.config.reply_bytes_max = 10'000;
  for (int i = 0; i < 200; ++i) body.answer.emplace_back(AnthropicStream().text(i, "x").bytes);
  CHECK(body.failure().message == "the reply is larger than 10000 bytes");

  PhaseStage whole({http_head(200, "application/json")});
  for (int i = 0; i < 20; ++i) whole.answer.emplace_back(std::string(1U << 20U, ' '));
  CHECK(whole.failure().message == "the reply is larger than 16777216 bytes");

  AnthropicStream many;
  many.start();
  for (int i = 0; i < 300; ++i) many.tool(i, "look", "{}");
  PhaseStage calls(event_stream(many.bytes));
  const PhaseFailed failed = calls.failure();
  CHECK(failed.kind == FailureKind::permanent);
  CHECK(calls.calls().size() <= kBlocksPerReplyMax);

  PhaseStage delta(open_stream("data: "));
  for (int i = 0; i < 20; ++i) delta.answer.emplace_back(std::string(1U << 20U, 'x'));
  CHECK(delta.failure().message == "one event of the stream is larger than 16777216 bytes");

  PhaseStage error({http_head(500, "text/html")});
  for (int i = 0; i < 20; ++i) error.answer.emplace_back(std::string(10'000, 'x'));
  CHECK(error.failure().message.size() < 1'200);
}

TEST_CASE("sc-P20: usage that lies neither lowers nor bypasses anything") {
  const auto charged = [](const std::string& first, const std::string& last) {
    AnthropicStream stream;
    stream.start(first).text(0, std::string(400, 'x')).end("end_turn", last);
    PhaseStage stage(event_stream(stream.bytes));
    stage.reply();
    return stage.usage();
  };
  CHECK(charged(R"({"input_tokens":50,"output_tokens":1})", R"({"output_tokens":-5})")
            .output_tokens == 1);
  CHECK(charged(R"({"input_tokens":50,"output_tokens":90})",
                R"({"input_tokens":0,"output_tokens":3})") == Usage{50, 90, 0, 0});
  CHECK(charged(R"({"input_tokens":9223372036854775808})", "{}").input_tokens < 10'000);
  const Usage missing = charged("null", "null");
  CHECK(missing.output_tokens == 100);
  CHECK(missing.input_tokens > 0);
  CHECK(charged(R"({"input_tokens":1.5,"output_tokens":"7"})", "{}").output_tokens == 100);
}

TEST_CASE("an estimate is logged") {
  PhaseStage stage(
      event_stream(AnthropicStream().start("{}").text(0, "fine").end("end_turn", "{}").bytes));
  stage.reply();
  CHECK(stage.phase.count<PhaseLog>() == 1);
}

TEST_CASE("sc-P23: odd names of tools come through as they are") {
  for (const std::string& name :
       {std::string(), std::string("../x"), std::string("a\nb"), std::string(10'000, 'n')}) {
    PhaseStage stage(
        event_stream(AnthropicStream().start().tool(0, name, "{}").end("tool_use").bytes));
    CHECK(stage.reply().stop == ReplyStop::tool_use);
    REQUIRE(stage.calls().size() == 1);
    CHECK(stage.calls()[0].tool == name);
  }
}

TEST_CASE("sc-P24: a call that the bound on tokens cut off is not proposed, those before it are") {
  AnthropicStream stream;
  stream.start().tool(0, "look", R"({"a":1})").tool(1, "look", R"({"a":2})").end("max_tokens");
  PhaseStage stage(event_stream(stream.bytes));
  CHECK(stage.reply().stop == ReplyStop::max_tokens);
  REQUIRE(stage.calls().size() == 1);
  CHECK(stage.calls()[0].input == R"({"a":1})");
}

TEST_CASE("sc-P28: inputs of the wrong type are handed on as the bytes they were") {
  for (const std::string& input :
       {std::string("\"rm -rf\""), std::string("[]"), std::string("null"), std::string("1e400"),
        std::string(R"({"a":1,"a":2})"), std::string("{\"a\":"), std::string(100'000, '[')}) {
    PhaseStage stage(
        event_stream(AnthropicStream().start().tool(0, "look", input).end("tool_use").bytes));
    stage.reply();
    REQUIRE(stage.calls().size() == 1);
    CHECK(stage.calls()[0].input == input);
  }
}

TEST_CASE("a reply that is no stream is read whole, whatever was asked for") {
  PhaseStage stage(
      {http_head(200, "application/json; charset=utf-8"),
       std::string(R"({"type":"message","model":"m","content":[{"type":"text",)"),
       std::string(R"("text":"fine"}],"stop_reason":"end_turn","usage":{"input_tokens":3,)"
                   R"("output_tokens":4}})"),
       HttpEnd{}});
  CHECK(stage.reply().model == "anthropic/m");
  CHECK(stage.phase.text() == "fine");
  CHECK(stage.usage() == Usage{3, 4, 0, 0});
  PhaseStage plain({http_head(200, "text/plain"),
                    AnthropicStream().start().text(0, "fine").end("end_turn").bytes, HttpEnd{}});
  CHECK(plain.reply().stop == ReplyStop::end_turn);
  PhaseStage html({http_head(200, "text/html"), std::string("<html>"), HttpEnd{}});
  CHECK(html.failure().kind == FailureKind::transient);
  PhaseStage nothing({http_head(200, "text/event-stream"), HttpEnd{}});
  CHECK(nothing.failure().category == ErrorCategory::network_error);
}

class Unreadable final : public Transcript {
 public:
  explicit Unreadable(ErrorCode code) : code_(code) {}
  std::size_t length() const override { return 1; }
  Result<std::vector<Message>> load(MessageRange) const override { return Error{code_, "no"}; }

 private:
  ErrorCode code_;
};

TEST_CASE("what cannot be written is told apart from what cannot be read; nothing is sent") {
  const auto kind = [](ErrorCode code) {
    PhaseStage stage({HttpEnd{}});
    stage.begin();
    const std::size_t before = stage.http->requests.size();
    PhaseExecutionRequest request;
    request.model = "claude-test";
    request.transcript = std::make_shared<Unreadable>(code);
    std::vector<PhaseExecutorEvent> events;
    const auto operation = stage.executor->execute_phase(
        request, [&](PhaseExecutorEvent event) { events.push_back(std::move(event)); });
    CHECK(events.empty());
    stage.loop.run_posted();
    CHECK(stage.http->requests.size() == before);
    return std::get<PhaseFailed>(std::get<PhaseDone>(events.back()).outcome).kind;
  };
  CHECK(kind(ErrorCode::invalid_argument) == FailureKind::unsupported);
  CHECK(kind(ErrorCode::corrupt) == FailureKind::permanent);
}

TEST_CASE("a reply of nothing is told apart; a refusal of nothing is a refusal") {
  PhaseStage empty(event_stream(AnthropicStream().start().end("end_turn").bytes));
  CHECK(empty.failure().kind == FailureKind::empty);
  PhaseStage refusal(event_stream(AnthropicStream().start().end("refusal").bytes));
  CHECK(refusal.reply().stop == ReplyStop::refusal);
}

}  // namespace
}  // namespace pawl::provider
