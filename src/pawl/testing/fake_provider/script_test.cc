#include "pawl/testing/fake_provider/script.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

ModelRequest asking(std::string model, std::string user, std::vector<std::string> tools = {}) {
  ModelRequest request;
  request.model = std::move(model);
  request.last_user = std::move(user);
  request.tools = std::move(tools);
  return request;
}

std::string said(ScriptRun& run, const ModelRequest& request, std::uint64_t nth) {
  const auto reply = run.next(request, nth);
  return reply ? joined(reply->text) : "error: " + reply.error().message;
}

TEST_CASE("replies are given one after the other, and then there are none") {
  FakeScript script({FakeReply::say("a"), FakeReply::say("b")});
  script.name = "s.yaml";
  ScriptRun run(script);
  const ModelRequest request = asking("m", "");
  CHECK(said(run, request, 1) == "a");
  CHECK(said(run, request, 2) == "b");
  CHECK(said(run, request, 3) == "error: the script s.yaml has no reply for request 3 (model m)");
}

TEST_CASE("a script that loops begins again") {
  FakeScript script({FakeReply::say("a"), FakeReply::say("b")});
  script.after_last = FakeScript::AfterLast::begins_again;
  ScriptRun run(script);
  std::string all;
  for (std::uint64_t n = 1; n <= 5; ++n) all += said(run, asking("m", ""), n);
  CHECK(all == "ababa");
}

TEST_CASE("the first reply whose conditions all hold is given, as often as it may") {
  FakeScript script({FakeReply::say("weather"), FakeReply::say("second"), FakeReply::say("claude"),
                     FakeReply::say("rest")});
  script.replies[0].when.user = "weather";
  script.replies[0].times = 2;
  script.replies[1].when.nth = 2;
  script.replies[2].when.model = "claude-*";
  script.replies[2].times = kForEver;
  script.replies[3].when.model = "gpt";
  ScriptRun run(script);

  CHECK(said(run, asking("claude-x", "the weather?"), 1) == "weather");
  CHECK(said(run, asking("gpt", "hi"), 2) == "second");
  CHECK(said(run, asking("gpt", "weather"), 3) == "weather");
  CHECK(said(run, asking("claude-x", "weather"), 4) == "claude");
  CHECK(said(run, asking("claude-y", ""), 5) == "claude");
  CHECK(said(run, asking("gpt", ""), 6) == "rest");
  CHECK(said(run, asking("gpt-5", ""), 7).starts_with("error: "));
}

TEST_CASE("without a script the text comes back, and calls that it names are made") {
  ScriptRun run{FakeScript()};
  CHECK(said(run, asking("m", "Hello"), 1) == "Hello");
  const auto reply = run.next(
      asking("m", "Please:\ncall a {\"x\": 1}\ncall b\ncall c {}\ncall a {broken", {"a", "b"}), 2);
  REQUIRE(reply);
  REQUIRE(reply->calls.size() == 2);
  CHECK(reply->calls[0].tool == "a");
  CHECK(reply->calls[0].input == "{\"x\": 1}");
  CHECK(reply->calls[1].input == "{}");
  CHECK(reply->text.empty());
  CHECK(said(run, asking("m", "call a {}"), 3) == "call a {}");
  CHECK(said(run, asking("m", ""), 4) == "(nothing was said)");
}

TEST_CASE("models are known when they are listed, or when none are") {
  FakeScript script;
  CHECK(knows_model(script, "any"));
  CHECK(!knows_model(script, ""));
  script.models = {"a"};
  CHECK(knows_model(script, "a"));
  CHECK(!knows_model(script, "any"));
}

}  // namespace
}  // namespace pawl::fake
