#include "pawl/models/budgeted_executor.h"

#include <doctest/doctest.h>

#include "pawl/models/fake_executor_test.h"

namespace pawl {
namespace {

class MemoryLedger final : public BudgetLedger {
 public:
  Result<BudgetGrant> reserve(const BudgetAsk& ask) override {
    asked = ask;
    if (broken) return Error{ErrorCode::unavailable, "the disk is gone"};
    BudgetGrant grant = weigh(ask, known);
    if (!grant.granted()) return grant;
    known.push_back({ask.now_ms, grant.reserved, {}});
    grant.id = known.size();
    return grant;
  }
  Status settle(std::uint64_t grant, const BudgetAmount& spent) override {
    known.at(grant - 1).spent = spent;
    ++settled;
    return ok();
  }
  Status raise(const std::string&, const BudgetAmount& by, std::int64_t now_ms) override {
    known.push_back({now_ms, {}, by});
    return ok();
  }
  Result<std::vector<BudgetEntry>> entries(const std::string&, std::int64_t) override {
    return known;
  }

  BudgetAsk asked;
  std::vector<BudgetEntry> known;
  int settled = 0;
  bool broken = false;
};

// Input costs 2 and output 3 a token; writing a cache costs 4.
struct Stage {
  Stage() {
    REQUIRE(pool->add({"a", model, {}, ""}));
    BudgetedOptions options;
    RoutingOptions routing;
    routing.pools = {pool};
    options.inner = std::make_shared<RoutingExecutor>(std::move(routing));
    options.ledger = ledger;
    options.windows = [this](const std::string& tenant) {
      CHECK(tenant == "acme");
      return windows;
    };
    options.note = [this](const std::string& text) { notes.push_back(text); };
    executor = make_budgeted_executor(std::move(options), loop);
  }

  TestLoop loop;
  std::shared_ptr<FakeExecutor> model = std::make_shared<FakeExecutor>(loop);
  std::shared_ptr<ModelPool> pool = std::make_shared<ModelPool>(loop);
  std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
  std::vector<BudgetWindow> windows = {{60'000, {0, 1'000, 0}, "USD"}};
  std::vector<std::string> notes;
  std::shared_ptr<Executor> executor;
};

TEST_CASE("a call is reserved before and settled after, by what it took") {
  Stage stage;
  WatchedPhase phase(*stage.executor, "a/x");
  REQUIRE(stage.model->calls.size() == 1);
  CHECK(stage.model->calls[0]->request.sampling.max_output_tokens == 1'000);
  CHECK(stage.ledger->known.at(0).spent.tokens == 1'000);
  stage.loop.advance(2'500);
  stage.model->reply(0);
  stage.loop.run_posted();
  REQUIRE(phase.replied() != nullptr);
  CHECK(stage.ledger->settled == 1);
  CHECK(stage.ledger->known.at(0).spent == BudgetAmount{10 * 2 + 5 * 3, 15, 2'500});
}

TEST_CASE("a window without room holds the call: nobody is asked, and when to ask again is said") {
  Stage stage;
  WatchedPhase first(*stage.executor, "a/x");
  WatchedPhase second(*stage.executor, "a/x");
  stage.loop.run_posted();
  CHECK(stage.model->calls.size() == 1);
  REQUIRE(second.failed() != nullptr);
  CHECK(second.failed()->kind == FailureKind::budget);
  CHECK(second.failed()->retry_after_ms == 60'000);
  CHECK(second.failed()->message.find("pawl budget --tenant acme") != std::string::npos);
  CHECK(second.usages() == 1);
  CHECK(total_tokens(second.usage()) == 0);
  CHECK_FALSE(second.said_inside);
  // What is settled is free again, without a wait.
  stage.model->reply(0);
  stage.loop.run_posted();
  WatchedPhase third(*stage.executor, "a/x");
  CHECK(stage.model->calls.size() == 2);
  CHECK(stage.model->calls[1]->request.sampling.max_output_tokens == 985);
}

TEST_CASE("money is reserved at the dearest price, and another currency is refused") {
  Stage stage;
  stage.windows = {{60'000, {3'000, 0, 0}, "USD"}};
  PhaseExecutionRequest request;
  request.model = "a/x";
  request.tenant = "acme";
  request.reserved.input_tokens = 100;
  auto call = stage.executor->execute_phase(request, [](const PhaseExecutorEvent&) {});
  CHECK(stage.ledger->asked.input.cost_pico == 400);
  CHECK(stage.model->calls.at(0)->request.sampling.max_output_tokens == (3'000 - 400) / 3);
  stage.windows.front().currency = "EUR";
  WatchedPhase refused(*stage.executor, "a/x");
  stage.loop.run_posted();
  REQUIRE(refused.failed() != nullptr);
  CHECK(refused.failed()->kind == FailureKind::permanent);
}

TEST_CASE("a call that is dropped, as by a crash, stays charged as it was reserved") {
  Stage stage;
  {
    WatchedPhase phase(*stage.executor, "a/x");
  }
  CHECK(stage.ledger->settled == 0);
  CHECK(stage.ledger->known.at(0).spent.tokens == 1'000);
}

TEST_CASE("a failed and an aborted call are settled, too; one that failed pays what it used") {
  Stage stage;
  WatchedPhase phase(*stage.executor, "a/x");
  stage.model->fail(0, FailureKind::transient);
  stage.loop.run_posted();
  CHECK(stage.ledger->known.at(0).spent.tokens == 0);
  WatchedPhase aborted(*stage.executor, "a/x");
  aborted.operation->abort();
  stage.loop.run_posted();
  CHECK(aborted.aborted());
  CHECK(stage.ledger->settled == 2);
  CHECK(stage.ledger->known.at(1).spent.tokens == 15);
}

TEST_CASE("a ledger that cannot be used holds calls; without windows nobody asks it") {
  Stage stage;
  stage.ledger->broken = true;
  WatchedPhase held(*stage.executor, "a/x");
  stage.loop.run_posted();
  REQUIRE(held.failed() != nullptr);
  CHECK(held.failed()->kind == FailureKind::budget);
  CHECK(held.failed()->retry_after_ms == kLedgerRetryMs);
  CHECK(stage.notes.size() == 1);
  CHECK(stage.model->calls.empty());
  stage.windows.clear();
  WatchedPhase free(*stage.executor, "a/x");
  CHECK(stage.model->calls.size() == 1);
}

TEST_CASE("chats are paid for like phases") {
  Stage stage;
  ChatRequest request;
  request.model = "a/x";
  request.tenant = "acme";
  request.messages = {{Role::user, std::string(300, 'x')}};
  std::vector<PhaseExecutorEvent> events;
  auto chat = stage.executor->chat(
      request, [&events](PhaseExecutorEvent event) { events.push_back(std::move(event)); });
  CHECK(stage.ledger->asked.input.tokens == 101);
  stage.model->reply(0);
  stage.loop.run_posted();
  CHECK(stage.ledger->settled == 1);
  auto second = stage.executor->chat(request, [](const PhaseExecutorEvent&) {});
  auto third = stage.executor->chat(request, [](const PhaseExecutorEvent&) {});
  stage.loop.run_posted();
  CHECK(stage.model->calls.size() == 2);
}

TEST_CASE("a window is written as people say it") {
  CHECK(to_string(BudgetWindow{3'600'000, {1'000'000'000'000, 500, 0}, "USD"}) ==
        "1.00 USD and 500 tokens in 1h");
  CHECK(to_string(BudgetWindow{90'000, {0, 0, 60'000}, "USD"}) == "1m of model calls in 90s");
}

}  // namespace
}  // namespace pawl
