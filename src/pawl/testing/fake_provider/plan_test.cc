#include "pawl/testing/fake_provider/plan.h"

#include <doctest/doctest.h>

#include "pawl/testing/fake_provider/gzip_bomb.h"

namespace pawl::fake {
namespace {

constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

Rendered stream() {
  Rendered reply;
  reply.framing = Framing::chunked;
  reply.frames = {{FrameKind::opening, "open;"},        {FrameKind::other, "block;"},
                  {FrameKind::delta, R"("text":"1";)"}, {FrameKind::delta, R"("text":"2";)"},
                  {FrameKind::other, "stop;"},          {FrameKind::closing, "end;"},
                  {FrameKind::closing, "done;"}};
  return reply;
}

FaultSpec fault(FaultKind kind, FaultPlace place = FaultPlace::usual, std::uint64_t n = 0) {
  FaultSpec spec;
  spec.kind = kind;
  spec.place = place;
  spec.n = n;
  return spec;
}

WirePlan planned(const Rendered& rendered, const FaultSpec& spec) {
  FakeReply reply;
  reply.fault = spec;
  ModelRequest request;
  request.route.api = Api::anthropic_messages;
  return plan_reply(rendered, reply, request);
}

// What a client sees of the body, without chunks; repeated pieces once.
std::string body_of(const WirePlan& plan) {
  std::string out;
  for (std::size_t i = 1; i < plan.pieces.size(); ++i) {
    const std::string& bytes = plan.pieces[i].bytes;
    const std::size_t line = bytes.find("\r\n");
    if (bytes == kLastChunk) return out + "|";
    out += line == std::string::npos ? bytes : bytes.substr(line + 2, bytes.size() - line - 4);
  }
  return out;
}

TEST_CASE("a reply without a fault is its head, its frames in chunks, and the last chunk") {
  const WirePlan plan = plan_plainly(stream());
  CHECK(plan.pieces.front().bytes == kHead);
  CHECK(body_of(plan) == R"(open;block;"text":"1";"text":"2";stop;end;done;|)");
  CHECK(plan.end == WireEnd::keep_alive);
}

TEST_CASE("delays are before the head and before each delta") {
  FakeReply reply;
  reply.delay_ms = 7;
  reply.delta_delay_ms = 3;
  const WirePlan plan = plan_reply(stream(), reply, {});
  CHECK(plan.pieces[0].delay_ms == 7);
  CHECK(plan.pieces[1].delay_ms == 0);
  CHECK(plan.pieces[3].delay_ms == 3);
  CHECK(plan.pieces[4].delay_ms == 3);
  CHECK(plan.pieces[5].delay_ms == 0);
}

TEST_CASE("a reply ends where its fault says") {
  const auto cut = [](FaultPlace place, std::uint64_t n = 0) {
    return planned(stream(), fault(FaultKind::stall, place, n));
  };
  CHECK(cut(FaultPlace::before_head).pieces.empty());
  const std::string half = cut(FaultPlace::in_head).pieces.front().bytes;
  CHECK(half == kHead.substr(0, kHead.size() / 2));
  CHECK(body_of(cut(FaultPlace::after_deltas, 0)) == "open;block;");
  CHECK(body_of(cut(FaultPlace::after_deltas, 1)) == R"(open;block;"text":"1";)");
  CHECK(body_of(cut(FaultPlace::usual)) == R"(open;block;"text":"1";)");
  CHECK(body_of(cut(FaultPlace::after_deltas, 9)) == R"(open;block;"text":"1";"text":"2";stop;)");
  CHECK(body_of(cut(FaultPlace::before_end)) == R"(open;block;"text":"1";"text":"2";stop;)");
  CHECK(cut(FaultPlace::before_end).end == WireEnd::hold);

  std::string body;
  const WirePlan bytes = cut(FaultPlace::after_bytes, 4);
  for (std::size_t i = 1; i < bytes.pieces.size(); ++i) body += bytes.pieces[i].bytes;
  CHECK(body == "5\r\no");
}

TEST_CASE("each way to end has its own end") {
  CHECK(planned(stream(), fault(FaultKind::silence)).pieces.empty());
  CHECK(planned(stream(), fault(FaultKind::silence)).end == WireEnd::hold);
  CHECK(planned(stream(), fault(FaultKind::close)).end == WireEnd::close);
  const WirePlan reset = planned(stream(), fault(FaultKind::reset));
  CHECK(reset.end == WireEnd::reset);
  CHECK(reset.pieces.size() == 1);
  const WirePlan pings = planned(stream(), fault(FaultKind::pings));
  CHECK(pings.end == WireEnd::hold);
  CHECK(pings.pieces.back().times == kForEver);
  CHECK(pings.pieces.back().bytes == chunk(": ping\n\n"));
  CHECK(pings.pieces.back().delay_ms > 0);
}

TEST_CASE("events too many, too few and out of place") {
  CHECK(body_of(planned(stream(), fault(FaultKind::duplicate))) ==
        R"(open;open;block;"text":"1";"text":"2";stop;end;done;|)");
  CHECK(body_of(planned(stream(), fault(FaultKind::duplicate, FaultPlace::after_deltas, 1))) ==
        R"(open;block;"text":"1";"text":"2";"text":"2";stop;end;done;|)");
  CHECK(body_of(planned(stream(), fault(FaultKind::splice))) ==
        R"(open;block;"text":"1";open;"text":"2";stop;end;done;|)");
  CHECK(body_of(planned(stream(), fault(FaultKind::reorder))) ==
        R"(end;done;open;block;"text":"1";"text":"2";stop;|)");
  CHECK(body_of(planned(stream(), fault(FaultKind::truncated, FaultPlace::after_deltas, 1))) ==
        R"(open;block;"text|)");
}

TEST_CASE("an error event takes the place of the rest") {
  FaultSpec spec = fault(FaultKind::error_event, FaultPlace::after_deltas, 1);
  spec.status = 529;
  CHECK(body_of(planned(stream(), spec)) ==
        "open;block;\"text\":\"1\";event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
        "\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n|");
}

TEST_CASE("bytes that are not UTF-8 stand inside the first text") {
  const std::string body = body_of(planned(stream(), fault(FaultKind::bad_utf8)));
  CHECK(body.find("\"text\":\"\xC0\xAF\x80") != std::string::npos);
  CHECK(body.ends_with("done;|"));
}

TEST_CASE("giants are repeated pieces, not memory") {
  FaultSpec spec = fault(FaultKind::giant_line);
  spec.bytes = 1ULL << 30U;
  for (const FaultKind kind : {FaultKind::giant_line, FaultKind::giant_body}) {
    spec.kind = kind;
    const WirePlan plan = planned(stream(), spec);
    std::uint64_t sent = 0;
    std::size_t held = 0;
    for (const WirePiece& piece : plan.pieces) {
      sent += piece.bytes.size() * piece.times;
      held += piece.bytes.size();
    }
    CHECK(sent > spec.bytes);
    CHECK(held < 100'000);
  }
}

TEST_CASE("a whole reply is broken like a stream") {
  Rendered whole;
  whole.frames = {{FrameKind::closing, R"({"text":"hello"})"}};
  const auto sent = [&](FaultKind kind, FaultPlace place = FaultPlace::usual, std::uint64_t n = 0) {
    std::string out;
    for (const WirePiece& piece : planned(whole, fault(kind, place, n)).pieces) out += piece.bytes;
    return out;
  };
  CHECK(sent(FaultKind::truncated) == "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{\"text\":");
  CHECK(sent(FaultKind::close) == "HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n");
  CHECK(sent(FaultKind::close, FaultPlace::after_bytes, 3).ends_with("\r\n\r\n{\"t"));
  CHECK(sent(FaultKind::bad_utf8).find("\"text\":\"\xC0") != std::string::npos);
}

TEST_CASE("a split body is a chunk and a write a byte; a trickle waits for each") {
  const WirePlan split = planned(stream(), fault(FaultKind::split));
  REQUIRE(split.pieces.size() == 3);
  CHECK(split.pieces[1].bytes.starts_with("1\r\no\r\n1\r\np\r\n"));
  CHECK(split.pieces[1].step_bytes == 6);
  FaultSpec spec = fault(FaultKind::trickle);
  spec.every_ms = 9;
  const WirePlan trickle = planned(stream(), spec);
  CHECK(trickle.pieces[1].step_bytes == 1);
  CHECK(trickle.pieces[1].delay_ms == 9);
}

TEST_CASE("framing that no client should accept") {
  const auto first = [](FaultKind kind) { return planned(stream(), fault(kind)).pieces; };
  CHECK(first(FaultKind::bad_chunk)[1].bytes.starts_with("FFFFFFFFFFFFFFFF\r\n"));
  const std::string both = first(FaultKind::length_and_chunked)[0].bytes;
  CHECK(both.find("content-length: 5\r\ntransfer-encoding: chunked") != std::string::npos);
  CHECK(first(FaultKind::continue_flood)[0].times == 100'000);
  CHECK(first(FaultKind::continue_flood)[1].bytes == kHead);
  const auto huge = first(FaultKind::huge_header);
  CHECK(huge[0].bytes == "HTTP/1.1 200 OK\r\nx-padding: ");
  CHECK(huge[1].bytes.size() * huge[1].times >= 1U << 20U);
  CHECK(huge[2].bytes == "\r\ntransfer-encoding: chunked\r\n\r\n");
}

TEST_CASE("a bomb says that it is gzip and unfolds to what was asked for") {
  FaultSpec spec = fault(FaultKind::gzip_bomb);
  spec.bytes = 1ULL << 30U;
  const WirePlan plan = planned(stream(), spec);
  CHECK(plan.pieces[0].bytes.find("content-encoding: gzip\r\n") != std::string::npos);
  CHECK(plan.pieces[1].bytes == chunk(gzip_bomb_opening()));
  const std::uint64_t zeros = plan.pieces[2].times * (16U << 10U);
  CHECK(zeros * kBombRatio >= spec.bytes);
  CHECK(zeros < spec.bytes / 500);
}

}  // namespace
}  // namespace pawl::fake
