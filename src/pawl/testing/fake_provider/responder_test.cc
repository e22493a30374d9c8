#include "pawl/testing/fake_provider/responder.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

ServerRequest post(std::string target, std::string body) {
  ServerRequest request;
  request.method = "POST";
  request.target = std::move(target);
  request.headers = {{"x-api-key", "sk-1"}, {"anthropic-version", "2023-06-01"}};
  request.body = std::move(body);
  return request;
}

ServerRequest get(std::string target) {
  ServerRequest request = post(std::move(target), "");
  request.method = "GET";
  return request;
}

const std::string kAsk =
    R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]})";

std::string all(const WirePlan& plan) {
  std::string out;
  for (const WirePiece& piece : plan.pieces) out += piece.bytes;
  return out;
}

int status(const WirePlan& plan) {
  return std::stoi(plan.pieces.front().bytes.substr(9, 3));
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("each format is answered in its own") {
  Responder responder({}, {});
  CHECK(holds(all(responder.plan(post("/v1/messages", kAsk), 1)), R"("type":"message")"));
  CHECK(holds(all(responder.plan(post("/v1/chat/completions", kAsk), 2)),
              R"("object":"chat.completion")"));
  CHECK(holds(all(responder.plan(post("/v1/responses", R"({"model":"m","input":"Hello"})"), 3)),
              R"("object":"response")"));
  CHECK(holds(all(responder.plan(post("/v1beta/models/g:generateContent",
                                      R"({"contents":[{"parts":[{"text":"Hello"}]}]})"),
                                 4)),
              R"("candidates":[)"));
}

TEST_CASE("what is not understood is refused in the vendor's shape") {
  Responder responder({}, {});
  const WirePlan broken = responder.plan(post("/v1/messages", "{"), 1);
  CHECK(status(broken) == 400);
  CHECK(holds(all(broken), R"({"type":"error","error":{"type":"invalid_request_error")"));
  CHECK(status(responder.plan(post("/v1/messages", "[]"), 2)) == 400);
  const WirePlan nowhere = responder.plan(post("/v2/x", "{}"), 3);
  CHECK(status(nowhere) == 404);
  CHECK(holds(all(nowhere), "Invalid URL (POST /v2/x)"));
}

TEST_CASE("lists, counts and versions") {
  FakeScript script;
  script.models = {"m", "n"};
  Responder responder(script, {});
  CHECK(holds(all(responder.plan(get("/v1/models"), 1)), R"("last_id":"n")"));
  CHECK(status(responder.plan(get("/v1/models/nobody"), 1)) == 404);
  CHECK(holds(all(responder.plan(get("/v1/models/n"), 1)), R"("id":"n")"));
  CHECK(holds(all(responder.plan(post("/v1/messages/count_tokens", kAsk), 1)),
              R"({"input_tokens":)"));
  CHECK(holds(all(responder.plan(get("/api/version"), 1)), R"({"version":")"));
  CHECK(holds(all(responder.plan(get("/api/tags"), 1)), R"("models":[{"name":"m")"));
  CHECK(holds(all(responder.plan(get("/v1beta/models"), 1)), R"("name":"models/m")"));
  CHECK(holds(all(responder.plan(get("/v1beta/models/n"), 1)), R"({"name":"models/n")"));
  const WirePlan unknown = responder.plan(get("/v1beta/models/nobody"), 1);
  CHECK(status(unknown) == 404);
  CHECK(holds(all(unknown), R"("status":"NOT_FOUND")"));
  CHECK(status(responder.plan(get("/v1beta/models/n:method"), 1)) == 404);
  ServerRequest head = get("/");
  head.method = "HEAD";
  CHECK(all(responder.plan(head, 1)).ends_with("\r\n\r\n"));
  CHECK(status(responder.plan(
            post("/v1/messages",
                 R"({"model":"x","max_tokens":9,"messages":[{"role":"user","content":"a"}]})"),
            1)) == 404);
}

TEST_CASE("a script that has run out says so, and that asking again is useless") {
  Responder responder(FakeScript({FakeReply::say("a")}), {});
  CHECK(status(responder.plan(post("/v1/messages", kAsk), 1)) == 200);
  const WirePlan out = responder.plan(post("/v1/messages", kAsk), 2);
  CHECK(status(out) == 500);
  CHECK(holds(all(out), "x-should-retry: false\r\n"));
  CHECK(holds(all(out), "has no reply for request 2"));
}

TEST_CASE("faults strike in their turn, and not replies that have their own") {
  FaultSpec late;
  late.status = 429;
  late.skip = 1;
  late.times = 2;
  FaultSpec always;
  always.status = 503;
  FakeReply own = FakeReply::say("a");
  own.fault = FaultSpec{};
  own.fault->status = 401;
  FakeScript script({own, FakeReply::say("b")});
  script.replies[1].times = kForEver;
  Responder responder(script, {late, always});

  std::vector<int> statuses;
  for (std::uint64_t n = 1; n <= 5; ++n) {
    statuses.push_back(status(responder.plan(post("/v1/messages", kAsk), n)));
  }
  CHECK(statuses == std::vector<int>{401, 503, 429, 429, 503});
}

TEST_CASE("scripted headers and the client's key in an error") {
  FakeReply reply = FakeReply::say("a");
  reply.headers = {{"x-more", "1"}};
  FakeReply key = FakeReply::say("b");
  key.fault = FaultSpec{};
  key.fault->status = 403;
  Responder responder(FakeScript({reply, key}), {});
  CHECK(holds(all(responder.plan(post("/v1/messages", kAsk), 1)), "\r\nx-more: 1\r\n"));
  CHECK(holds(all(responder.plan(post("/v1/messages", kAsk), 2)), "sk-1"));
}

}  // namespace
}  // namespace pawl::fake
