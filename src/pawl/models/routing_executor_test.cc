#include "pawl/models/routing_executor.h"

#include <doctest/doctest.h>

#include "pawl/models/fake_executor_test.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "tests/contract/executor_contract.h"

namespace pawl {
namespace {

using contract::ExecutorBehaviour;

class Books final : public UsageSink {
 public:
  void used(const ModelUse& use) override {
    uses.push_back(use);
    if (throws) throw std::runtime_error("the books are closed");
  }
  std::vector<ModelUse> uses;
  bool throws = false;
};

class Traces final : public TraceSink {
 public:
  void began(const ModelCall& call) override {
    lines.push_back("began " + call.target);
    if (throws) throw 1;
  }
  void ended(const ModelCall& call, const ModelCallEnd& end) override {
    lines.push_back("ended " + call.target + " " + end.failure + " waited " +
                    std::to_string(end.waited_ms) + " took " + std::to_string(end.elapsed_ms));
    if (throws) throw 2;
  }
  std::vector<std::string> lines;
  bool throws = false;
};

// Two providers: a with the models x and y, b with x.
struct Stage {
  explicit Stage(GateBounds bounds = {}, std::string header = "") {
    REQUIRE(pool->add({"a", a, bounds, ""}));
    REQUIRE(pool->add({"b", b, bounds, "set B_KEY"}));
    RoutingOptions options;
    options.pools = {pool};
    options.targets["external"] = std::make_shared<ExternalExecutor>(loop);
    options.system_header = std::move(header);
    executor = std::make_unique<RoutingExecutor>(std::move(options));
  }
  // A whole call that fails.
  void fail_once(const std::string& model, FailureKind kind,
                 std::optional<std::uint64_t> retry_after_ms = std::nullopt) {
    WatchedPhase phase(*executor, model);
    a->fail(a->calls.size() - 1, kind, retry_after_ms);
    loop.run_posted();
    REQUIRE(phase.failed() != nullptr);
    CHECK(phase.failed()->kind == kind);
  }

  TestLoop loop;
  std::shared_ptr<FakeExecutor> a =
      std::make_shared<FakeExecutor>(loop, std::vector<std::string>{"x", "y"});
  std::shared_ptr<FakeExecutor> b = std::make_shared<FakeExecutor>(loop);
  std::shared_ptr<Books> books = std::make_shared<Books>();
  std::shared_ptr<Traces> traces = std::make_shared<Traces>();
  std::shared_ptr<ModelPool> pool = std::make_shared<ModelPool>(loop, ModelSinks{books, traces});
  std::unique_ptr<RoutingExecutor> executor;
};

}  // namespace

TEST_CASE("a target is forwarded without its provider, and answers with it") {
  Stage stage;
  WatchedPhase phase(*stage.executor, "a/y");
  REQUIRE(stage.a->calls.size() == 1);
  CHECK(stage.a->calls[0]->request.model == "y");
  CHECK(stage.a->calls[0]->request.system_prompt == "Be brief.");
  CHECK(stage.b->calls.empty());

  stage.a->reply(0);
  stage.loop.run_posted();

  REQUIRE(phase.replied() != nullptr);
  CHECK(phase.replied()->model == "a/y");
  CHECK(phase.usage() == Usage{10, 5, 0, 0});
  CHECK_FALSE(phase.said_inside);
}

TEST_CASE("a name that has its provider already does not get it twice") {
  Stage stage;
  WatchedPhase phase(*stage.executor, "a/y");
  PhaseReplied replied;
  replied.model = "a/y-2026-01-01";
  stage.a->end(0, {replied});
  stage.loop.run_posted();

  REQUIRE(phase.replied() != nullptr);
  CHECK(phase.replied()->model == "a/y-2026-01-01");
}

TEST_CASE("models are listed, supported and described under their literals") {
  const Stage stage;
  const RoutingExecutor& executor = *stage.executor;
  std::string ids;
  for (const auto& model : executor.list_models()) ids += model.id + " ";
  CHECK(ids == "external a/x a/y b/x ");
  CHECK(executor.supports("a/x"));
  CHECK(executor.supports("a/any-thing"));
  CHECK(executor.supports("external"));
  for (const char* const model : {"x", "a/z", "c/x", "a/", "", "scripted"}) {
    CAPTURE(model);
    CHECK_FALSE(executor.supports(model));
  }
  CHECK(executor.facts_of("a/x-20260101").context_tokens == 1'000);
  CHECK(executor.facts_of("a/any-thing").id == "a/any-thing");
  CHECK(executor.missing_for("b/x") == "set B_KEY");
  CHECK(executor.missing_for("a/x").empty());
  CHECK(executor.capabilities_of("a/x").max_context_tokens == 1'000);
}

TEST_CASE("a model of nobody's fails at once with no request") {
  Stage stage;
  WatchedPhase phase(*stage.executor, "c/x");
  CHECK_FALSE(phase.said_inside);
  stage.loop.run_posted();
  REQUIRE(phase.failed() != nullptr);
  CHECK(phase.failed()->kind == FailureKind::model_not_found);
  CHECK(phase.usages() == 1);
}

TEST_CASE("two failures bench a target: it is not asked until the time is over") {
  Stage stage;
  stage.fail_once("a/x", FailureKind::overloaded);
  stage.fail_once("a/x", FailureKind::transient);
  REQUIRE(stage.a->calls.size() == 2);

  WatchedPhase benched(*stage.executor, "a/x");
  stage.loop.run_posted();

  REQUIRE(benched.failed() != nullptr);
  CHECK(benched.failed()->kind == FailureKind::circuit_open);
  CHECK(benched.failed()->retry_after_ms == 5'000);
  CHECK(benched.usages() == 1);
  CHECK(benched.usage() == Usage{});
  CHECK(stage.a->calls.size() == 2);
  WatchedPhase other(*stage.executor, "a/y");  // of the same provider
  CHECK(stage.a->calls.size() == 3);

  stage.loop.advance(4'999);
  WatchedPhase still(*stage.executor, "a/x");
  CHECK(stage.a->calls.size() == 3);
  stage.loop.advance(1);
  stage.fail_once("a/x", FailureKind::empty);
  WatchedPhase longer(*stage.executor, "a/x");
  stage.loop.run_posted();
  CHECK(longer.failed()->retry_after_ms == 10'000);

  stage.loop.advance(10'000);
  WatchedPhase well(*stage.executor, "a/x");
  stage.a->reply(stage.a->calls.size() - 1);
  stage.loop.run_posted();
  REQUIRE(well.replied() != nullptr);
  stage.fail_once("a/x", FailureKind::transient);
  WatchedPhase asked(*stage.executor, "a/x");
  CHECK(stage.a->under_way() >= 1);
}

TEST_CASE("a rate limit with a time benches for exactly that; a permanent failure never does") {
  Stage stage;
  for (int i = 0; i < 3; ++i) stage.fail_once("a/y", FailureKind::permanent);
  for (int i = 0; i < 3; ++i) stage.fail_once("a/y", FailureKind::unsupported);
  stage.fail_once("a/x", FailureKind::rate_limited, 777);
  WatchedPhase benched(*stage.executor, "a/x");
  stage.loop.run_posted();
  CHECK(benched.failed()->retry_after_ms == 777);
}

TEST_CASE("calls over the bound wait, and runs share the provider fairly") {
  Stage stage({2, 2, 100});
  std::vector<std::unique_ptr<WatchedPhase>> phases;
  for (int i = 0; i < 6; ++i) {
    phases.push_back(std::make_unique<WatchedPhase>(*stage.executor, "a/x", "greedy"));
  }
  phases.push_back(std::make_unique<WatchedPhase>(*stage.executor, "a/x", "modest"));
  CHECK(stage.a->calls.size() == 2);

  for (std::size_t next = 0; next < phases.size(); ++next) {
    stage.a->reply(next);
    stage.loop.run_posted();
  }

  CHECK(stage.a->most_together == 2);
  REQUIRE(stage.a->calls.size() == 7);
  CHECK(stage.a->calls[3]->request.run.text == "modest");  // after one of the greedy run's
  for (const auto& phase : phases) CHECK(phase->replied() != nullptr);
}

TEST_CASE("who is aborted or dropped while it waits leaves the queue and makes no request") {
  Stage stage({1, 1, 100});
  WatchedPhase first(*stage.executor, "a/x");
  WatchedPhase aborted(*stage.executor, "a/x", "r2");
  WatchedPhase dropped(*stage.executor, "a/x", "r3");
  WatchedPhase last(*stage.executor, "a/x", "r4");
  aborted.operation->abort();
  dropped.operation.reset();
  stage.loop.run_posted();
  CHECK(aborted.aborted());
  CHECK(aborted.usages() == 1);

  stage.a->reply(0);
  stage.loop.run_posted();

  CHECK(dropped.events.empty());
  REQUIRE(stage.a->calls.size() == 2);
  CHECK(stage.a->calls[1]->request.run.text == "r4");
  CHECK(stage.books->uses.size() == 1);
}

TEST_CASE("a call that is dropped or aborted gives its place back") {
  Stage stage({1, 1, 100});
  auto dropped = std::make_unique<WatchedPhase>(*stage.executor, "a/x");
  WatchedPhase second(*stage.executor, "a/x");
  WatchedPhase third(*stage.executor, "a/x");
  dropped.reset();
  stage.loop.run_posted();
  REQUIRE(stage.a->calls.size() == 2);
  second.operation->abort();
  stage.loop.run_posted();
  CHECK(second.aborted());
  CHECK(stage.a->calls.size() == 3);
  CHECK(stage.a->most_together == 1);
}

TEST_CASE("a call whose target was benched while it waited is not made") {
  Stage stage({1, 1, 100});
  stage.fail_once("a/x", FailureKind::transient);
  WatchedPhase first(*stage.executor, "a/x");
  WatchedPhase second(*stage.executor, "a/x");
  stage.a->fail(1, FailureKind::transient);
  stage.loop.run_posted();
  CHECK(first.failed()->kind == FailureKind::transient);
  REQUIRE(second.failed() != nullptr);
  CHECK(second.failed()->kind == FailureKind::circuit_open);
  CHECK(stage.a->calls.size() == 2);
}

TEST_CASE("a queue that is full refuses, and benches nobody") {
  Stage stage({1, 1, 1});
  WatchedPhase first(*stage.executor, "a/x");
  WatchedPhase second(*stage.executor, "a/x");
  for (int i = 0; i < 3; ++i) {
    WatchedPhase refused(*stage.executor, "a/x");
    stage.loop.run_posted();
    REQUIRE(refused.failed() != nullptr);
    CHECK(refused.failed()->kind == FailureKind::overloaded);
  }
  stage.a->reply(0);
  stage.loop.run_posted();
  CHECK(stage.a->calls.size() == 2);
}

TEST_CASE("the books get usage and cost of every call, by tenant") {
  Stage stage;
  WatchedPhase phase(*stage.executor, "a/x", "r7");
  stage.a->reply(0);
  stage.loop.run_posted();
  REQUIRE(stage.books->uses.size() == 1);
  const ModelUse& use = stage.books->uses.front();
  CHECK(use.tenant == "acme");
  CHECK(use.run.text == "r7");
  CHECK(use.target == "a/x");
  CHECK(use.usage == Usage{10, 5, 0, 0});
  CHECK(use.cost_pico == 10 * 2 + 5 * 3);

  stage.a->own_prices["acme"] = 100;
  CHECK(stage.executor->calculate_cost("acme", "a/x", {1, 1, 0, 0}) == 200);
  CHECK_FALSE(stage.executor->calculate_cost("other", "a/x", {1, 1, 0, 0}));
  WatchedPhase priced(*stage.executor, "a/x");
  stage.a->reply(1);
  stage.loop.run_posted();
  CHECK(stage.books->uses.back().cost_pico == 1'500);
}

TEST_CASE("traces say how long a call waited and took") {
  Stage stage({1, 1, 10});
  WatchedPhase first(*stage.executor, "a/x");
  WatchedPhase second(*stage.executor, "a/y");
  stage.loop.advance(30);
  stage.a->reply(0);
  stage.loop.run_posted();
  stage.loop.advance(12);
  stage.a->fail(1, FailureKind::permanent);
  stage.loop.run_posted();
  CHECK(stage.traces->lines == std::vector<std::string>{"began a/x", "ended a/x  waited 0 took 30",
                                                        "began a/y",
                                                        "ended a/y permanent waited 30 took 12"});
}

TEST_CASE("sinks and executors that throw hurt no run") {
  Stage stage;
  stage.books->throws = true;
  stage.traces->throws = true;
  WatchedPhase phase(*stage.executor, "a/x");
  stage.a->reply(0);
  stage.loop.run_posted();
  CHECK(phase.replied() != nullptr);
  CHECK(stage.books->uses.size() == 1);

  stage.a->throws = true;
  WatchedPhase thrown(*stage.executor, "a/x");
  CHECK_FALSE(thrown.said_inside);
  stage.loop.run_posted();
  REQUIRE(thrown.failed() != nullptr);
  CHECK(thrown.failed()->message == "the executor failed: boom");
  CHECK(thrown.usages() == 1);
}

TEST_CASE("the header precedes every system prompt, of phases and of chats") {
  Stage stage({}, "You work for Acme.");
  WatchedPhase phase(*stage.executor, "a/x");
  CHECK(stage.a->calls[0]->request.system_prompt == "You work for Acme.\n\nBe brief.");
  ChatRequest chat;
  chat.model = "a/x";
  const auto operation = stage.executor->chat(chat, [](PhaseExecutorEvent) {});
  REQUIRE(stage.a->calls.size() == 2);
  CHECK(stage.a->calls[1]->request.system_prompt == "You work for Acme.");
}

TEST_CASE("external hands every turn to the host") {
  Stage stage;
  WatchedPhase phase(*stage.executor, "external");
  CHECK_FALSE(phase.said_inside);
  stage.loop.run_posted();
  REQUIRE(phase.replied() != nullptr);
  CHECK(phase.replied()->stop == ReplyStop::external);
  CHECK(phase.replied()->model == "external");
  CHECK(phase.usages() == 1);
}

TEST_CASE("capabilities are what the targets of a chain have in common") {
  Stage stage;
  stage.b->capabilities_.supports_session_resume = true;
  stage.b->capabilities_.supports_conversation_replay = false;
  stage.b->capabilities_.supports_image_input = true;
  RoutingOptions options;
  options.pools = {stage.pool};
  options.chain = {"b/x"};
  CHECK(RoutingExecutor(options).capabilities().supports_session_resume);
  options.chain = {"b/x", "a/x"};
  const RoutingExecutor mixed(options);
  CHECK(check_capabilities(mixed.capabilities()));
  CHECK(mixed.capabilities().supports_conversation_replay);
  CHECK(mixed.capabilities().supports_thinking);
  CHECK_FALSE(mixed.capabilities().supports_image_input);
}

TEST_CASE("an executor's own MCP server is offered to the runs that use it") {
  Stage stage;
  stage.b->server = McpServerConfig{"own", {"serve"}, ""};
  RoutingOptions options;
  options.pools = {stage.pool};
  options.chain = {"a/x"};
  CHECK_FALSE(RoutingExecutor(options).mcp_server());
  options.chain = {"a/x", "b/x"};
  const auto server = RoutingExecutor(options).mcp_server();
  REQUIRE(server);
  CHECK(server->name == "own");
}

TEST_CASE("the MCP servers of all executors of a chain are offered, each once") {
  Stage stage;
  stage.a->server = McpServerConfig{"first", {"serve"}, ""};
  stage.b->server = McpServerConfig{"second", {}, "http://localhost/mcp"};
  RoutingOptions options;
  options.pools = {stage.pool};
  options.chain = {"a/x", "b/x", "a/y"};
  std::vector<std::string> names;
  for (const McpServerConfig& server : RoutingExecutor(options).mcp_servers()) {
    names.push_back(server.name);
  }
  CHECK(names == std::vector<std::string>{"first", "second"});
  options.chain = {"b/x"};
  CHECK(RoutingExecutor(options).mcp_servers().size() == 1);
}

TEST_CASE("health names what is configured and asks nobody") {
  const Stage stage;
  CHECK(stage.executor->health().status);
  CHECK(stage.executor->health().detail == "configured: a");
  RoutingOptions options;
  TestLoop loop;
  options.pools = {std::make_shared<ModelPool>(loop)};
  CHECK_FALSE(RoutingExecutor(options).health().status);
  CHECK(stage.a->probes == 0);
}

namespace {

Script behaving(ExecutorBehaviour behaviour) {
  constexpr std::uint64_t kLongMs = 3'600'000;
  switch (behaviour) {
    case ExecutorBehaviour::calls: {
      ScriptReply reply = ScriptReply::call("look", R"({"a":1})");
      std::get<ScriptSpeech>(reply.outcome).text = {"Let me look."};
      return {{reply}};
    }
    case ExecutorBehaviour::floods: {
      std::string text;
      while (text.size() < 100'000) text += "äö";
      return {{ScriptReply::say(text)}};
    }
    case ExecutorBehaviour::fails:
      return {{ScriptReply::fail(ErrorCategory::network_error)}};
    case ExecutorBehaviour::hangs: {
      ScriptReply reply = ScriptReply::say("late");
      reply.delay_ms = kLongMs;
      return {{reply}};
    }
    case ExecutorBehaviour::says:
      break;
  }
  return {{ScriptReply::say("fine")}};
}

// Keeps the pool that it routes through.
std::shared_ptr<Executor> routed(TestLoop& loop, ExecutorBehaviour behaviour) {
  auto pool = std::make_shared<ModelPool>(loop);
  REQUIRE(pool->add({"p", make_scripted_executor(behaving(behaviour), loop), {}, ""}));
  return std::make_shared<RoutingExecutor>(RoutingOptions{{pool}, {}, "", {}});
}

}  // namespace

TEST_CASE("the contract of executors holds through the router") {
  contract::check_executor_contract({routed});
}

}  // namespace pawl
