// Money is set aside before a call and settled after it.
#include "pawl/base/rng.h"
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

// Input costs 1 a token and output 10; the run may spend `cap`.
RunStarted with_budget(std::uint64_t cap) {
  RunStarted start = a_start();
  ModelTarget target;
  target.literal = "a/x";
  target.prices.input = 1;
  target.prices.output = 10;
  target.output_tokens = 1'000;
  start.targets = {target};
  start.limits.cost_pico = cap;
  return start;
}

const CallModel* call_in(const Record& record) {
  for (const Effect& effect : record.effects) {
    if (const auto* call = std::get_if<CallModel>(&effect)) return call;
  }
  return nullptr;
}

TEST_CASE("a run that cannot afford its first call makes none") {
  TestRun run(with_budget(100));
  CHECK(run.started<CallModel>() == 0);
  CHECK(run.in<AwaitingBudget>());
  CHECK(waits_for(run.state()) == WaitFor::budget);
  run.parks();
}

TEST_CASE("a reply gets as much room as there is money for") {
  TestRun rich(with_budget(100'000));
  CHECK(call_in(rich.last())->output_tokens == 1'000);
  TestRun poor(with_budget(5'000));
  const CallModel* call = call_in(poor.last());
  REQUIRE(call != nullptr);
  CHECK(call->output_tokens < 500);
  CHECK(cost_pico(call->reserved, poor->targets[0].prices) <= 5'000);
}

TEST_CASE("raising the budget lets a run go on where it was, without a repeat") {
  TestRun run(with_budget(12'000));
  ModelReplied reply = run.reply({calls("once")});
  reply.usage = tokens(100, 990);
  run.takes(reply);
  run.finishes(kC1, "paid");
  REQUIRE(run.in<AwaitingBudget>());
  run.parks();
  CHECK(run.started<CallModel>() == 1);

  run.takes(BudgetRaised{10'000, "boss"});
  CHECK(run.in<AwaitingModel>());
  CHECK(run->limits.cost_pico == 22'000);
  CHECK(run.started<CallModel>() == 2);
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("a raised time budget wakes the instance also while another one works") {
  RunStarted start = a_start();
  start.limits.budget_ms = 1'000;
  TestRun run(start);
  run.spawns("helper");
  run.later(1'000).replies({calls("pure")});
  run.finishes(kC1, "ok");
  REQUIRE(run.in<AwaitingBudget>());
  REQUIRE(run.in<AwaitingModel>(InstanceId{2}));

  run.later(5'000).takes(BudgetRaised{0, "boss", 0, 500});

  CHECK(run.in<AwaitingModel>());
  CHECK(run->limits.budget_ms == 6'500);
}

TEST_CASE("too small a raise changes nothing but the bound") {
  TestRun run(with_budget(100));
  run.takes(BudgetRaised{1, "boss"});
  CHECK(run.in<AwaitingBudget>());
  CHECK(run.refuses(BudgetRaised{0, "boss"}).find("must raise at least one limit") !=
        std::string::npos);
}

TEST_CASE("what branches set aside at the same time is within the bound together") {
  RunStarted start = with_budget(25'000);
  start.limits.branches = 5;
  TestRun run(start);
  for (int i = 0; i < 4; ++i) run.spawns("worker");
  std::uint64_t set_aside = 0;
  std::size_t held = 0;
  for (const Instance& one : run->instances) {
    if (const auto* phase = std::get_if<AwaitingModel>(&one.phase)) {
      set_aside += cost_pico(phase->reserved, run->targets[0].prices);
    }
    held += std::holds_alternative<AwaitingBudget>(one.phase);
  }
  CHECK(set_aside <= 25'000);
  CHECK(held >= 2);
}

TEST_CASE("a crash is charged what was set aside, and never resets what was spent") {
  TestRun run(with_budget(30'000));
  const std::uint64_t reserved = cost_pico(call_in(run.last())->reserved, run->targets[0].prices);
  run.crashes();
  CHECK(run->tally.cost_pico == reserved);
  run.crashes();
  run.crashes();
  CHECK(run->tally.cost_pico <= 30'000);
  CHECK(run.in<AwaitingBudget>());
}

TEST_CASE("spending more than a threshold asks first") {
  RunStarted start = with_budget(0);
  start.limits.ask_cost_pico = 500;
  TestRun run(start);
  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(100, 50);
  run.takes(reply);
  run.finishes(kC1, "ok");
  CHECK(run.in<AwaitingBudget>());
  run.takes(BudgetRaised{500, "boss"});
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a run that has spent exactly what it may spend unasked asks") {
  for (const std::uint64_t spent : {499U, 500U}) {
    CAPTURE(spent);
    RunStarted start = with_budget(0);
    start.limits.ask_cost_pico = 500;
    TestRun run(start);
    ModelReplied reply = run.reply({calls("pure")});
    reply.usage = tokens(spent);
    run.takes(reply);
    run.finishes(kC1, "ok");
    CHECK(run->tally.cost_pico == spent);
    CHECK(run.in<AwaitingBudget>() == (spent == 500));
  }
}

TEST_CASE("a budget of tokens makes the run wait, and a raise lets it go on without a repeat") {
  RunStarted start = with_budget(0);
  start.limits.budget_tokens = 2'500;
  TestRun run(start);
  const CallModel* first = call_in(run.last());
  REQUIRE(first != nullptr);
  CHECK(total_tokens(first->reserved) <= 2'500);
  ModelReplied reply = run.reply({calls("once")});
  reply.usage = tokens(1'500, 800);
  run.takes(reply);
  run.finishes(kC1, "paid");
  REQUIRE(run.in<AwaitingBudget>());
  CHECK(std::get<AwaitingBudget>(run.instance().phase).unit == BudgetUnit::tokens);
  CHECK(waits_for(run.state()) == WaitFor::budget);
  CHECK(wake_wall_at(run.state()) == std::nullopt);
  run.parks();
  run.takes(BudgetRaised{1'000, "boss", 0, 0});  // money is not what it waits for
  CHECK(run.in<AwaitingBudget>());
  run.takes(BudgetRaised{0, "boss", 10'000, 0});
  CHECK(run.in<AwaitingModel>());
  CHECK(run->limits.budget_tokens == 12'500);
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("a budget of time makes the run wait before its next call") {
  RunStarted start = with_budget(0);
  start.limits.budget_ms = 1'000;
  TestRun run(start);
  run.later(5'000);
  run.replies({calls("pure")});
  run.finishes(kC1, "ok");
  REQUIRE(run.in<AwaitingBudget>());
  CHECK(std::get<AwaitingBudget>(run.instance().phase).unit == BudgetUnit::time);
  run.takes(BudgetRaised{0, "boss", 0, 1'000});
  CHECK(run.in<AwaitingModel>());
  CHECK(run->limits.budget_ms > 5'000);
}

ModelFailed window_full(const TestRun& run, std::uint64_t again_ms) {
  ModelFailed failed;
  failed.effect = run.effect_of(EffectKind::model);
  failed.category = ErrorCategory::quota_exceeded;
  failed.kind = FailureKind::budget;
  failed.retry_after_ms = again_ms;
  return failed;
}

// Large requests cost twice as much, and caches more than other input.
RunStarted with_tiers(std::uint64_t cap) {
  RunStarted start = with_budget(cap);
  Prices& prices = start.targets.front().prices;
  prices = Prices{"USD", 4, 10, 1, 5, 8, {}};
  prices.tiers = {{2'000, {8, 15, 2, 10, 16}}, {6'000, {12, 20, 3, 15, 24}}};
  start.compaction.ratio_percent = 0;
  start.limits.steps = 1'000;
  start.limits.tokens = ~0ULL;
  start.guards = {0, 0, 0};
  return start;
}

TEST_CASE("a run that waits for its tenant's budget makes no model call") {
  TestRun run(with_budget(1'000'000));
  const std::uint64_t before = run->tally.model_calls;
  run.takes(window_full(run, 5'000));
  CHECK(run->tally.model_calls == before - 1);
}

TEST_CASE("a request that may be beyond a threshold is set aside at its price") {
  TestRun run(with_tiers(1'000'000));
  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(1'500, 10);
  run.takes(reply);
  run.finishes(kC1, "ok");
  const CallModel* call = call_in(run.last());
  REQUIRE(call != nullptr);
  const std::uint64_t input = input_tokens_of(call->reserved);
  CHECK(input < 2'000);
  // As the dearest kind of input: written to a cache for an hour.
  CHECK(call->reserved.cache_creation_1h_tokens == input);
  const std::uint64_t spent = run->tally.cost_pico;
  run.crashes();
  CHECK(run->tally.cost_pico == spent + input * 16 + call->reserved.output_tokens * 15);
}

// What the estimate of the input missed is the declared margin; nothing else goes beyond the cap.
TEST_CASE("whatever is used, what is spent by the list stays within the cap and the margin") {
  Rng rng(7);
  std::size_t crossed = 0;
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t cap = 20'000 + rng.below(2'000'000);
    TestRun run(with_tiers(cap));
    std::uint64_t spent = 0;
    std::uint64_t margin = 0;
    for (int step = 0; step < 12 && run.in<AwaitingModel>(); ++step) {
      const CallModel* call = call_in(run.last());
      REQUIRE(call != nullptr);
      const std::uint64_t estimate = input_tokens_of(call->reserved);
      const std::uint64_t input = estimate / 2 + rng.below(estimate * 3 / 2);
      Usage used;
      used.cache_read_tokens = rng.below(input + 1);
      used.cache_creation_tokens = rng.below(input - used.cache_read_tokens + 1);
      used.cache_creation_1h_tokens =
          rng.below(input - used.cache_read_tokens - used.cache_creation_tokens + 1);
      used.input_tokens = input - input_tokens_of(used);
      used.output_tokens = rng.below(call->output_tokens + 1);
      // By hand, from the list above.
      const std::uint64_t tier = input > 6'000 ? 3 : input > 2'000 ? 2 : 1;
      const std::uint64_t output_price = tier == 3 ? 20 : tier == 2 ? 15 : 10;
      crossed += tier > 1;
      spent += tier * (used.input_tokens * 4 + used.cache_read_tokens +
                       used.cache_creation_tokens * 5 + used.cache_creation_1h_tokens * 8) +
               used.output_tokens * output_price;
      if (input > estimate) margin += (input - estimate) * 24;
      ModelReplied reply = run.reply({calls("pure")});
      reply.usage = used;
      run.takes(reply);
      REQUIRE(run->tally.cost_pico == spent);
      REQUIRE(spent <= cap + margin);
      if (run->calls.empty()) break;
      run.finishes(run->calls.front().id, std::string(rng.below(8'000), 'x'));
    }
  }
  CHECK(crossed > 100);
}

TEST_CASE("a full window of the tenant's holds the run until it has moved on") {
  TestRun run(with_budget(0));
  run.takes(window_full(run, 90'000));
  REQUIRE(run.in<AwaitingBudget>());
  CHECK(waits_for(run.state()) == WaitFor::budget);
  CHECK(wake_wall_at(run.state()) == run->at_ms + 90'000);
  CHECK(run.instance().failures.empty());
  run.parks();
  CHECK(run.started<CallModel>() == 1);
  // Whoever takes it up asks again, and may be told the same.
  run.crashes();
  REQUIRE(run.in<AwaitingModel>());
  run.takes(window_full(run, 60'000));
  REQUIRE(run.in<AwaitingBudget>());
  // A pause holds it, and the resume asks again.
  run.pauses();
  CHECK(!run.in<AwaitingBudget>());
  run.resumes();
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a full window is asked again no sooner than in a second, and within a month") {
  TestRun soon(with_budget(0));
  soon.takes(window_full(soon, 0));
  CHECK(wake_wall_at(soon.state()) == soon->at_ms + 1'000);
  TestRun late(with_budget(0));
  late.takes(window_full(late, ~0ULL));
  CHECK(wake_wall_at(late.state()) == late->at_ms + 31LL * 86'400'000);
}

TEST_CASE("of windows that are full, the first to move on wakes the run") {
  TestRun run(with_budget(0));
  run.spawns("worker");
  const InstanceId worker{2};
  ModelFailed root = window_full(run, 90'000);
  ModelFailed branch = root;
  branch.instance = worker;
  branch.effect = run.model_effect(worker);
  branch.retry_after_ms = 60'000;
  const std::int64_t now = run->at_ms;
  for (const bool root_first : {true, false}) {
    TestRun one = run;
    one.takes(root_first ? root : branch);
    one.takes(root_first ? branch : root);
    CHECK(wake_wall_at(one.state()) == now + 60'000);
  }
}

TEST_CASE("a full window wakes its branch also while another one works") {
  TestRun run(with_budget(0));
  run.spawns("worker");
  run.takes(window_full(run, 60'000));
  REQUIRE(run.in<AwaitingBudget>());
  REQUIRE(run.in<AwaitingModel>(InstanceId{2}));
  CHECK(wake_at(run.state()) == run->elapsed_ms + 60'000);
}

TEST_CASE("a raise under a pause is used when the pause is over") {
  TestRun run(with_budget(100));
  run.pauses();
  run.takes(BudgetRaised{100'000, "boss"});
  CHECK(run.started<CallModel>() == 0);
  run.resumes();
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a raise of what a run may spend unasked counts from what it has spent") {
  RunStarted start = with_budget(0);
  start.limits.ask_cost_pico = 100;
  TestRun run(start);
  ModelReplied reply = run.reply({calls("pure")});
  reply.usage = tokens(100, 50);  // 600
  run.takes(reply);
  run.finishes(kC1, "ok");
  REQUIRE(run.in<AwaitingBudget>());
  run.takes(BudgetRaised{50, "boss"});
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a pause and a resume do not get around the budget") {
  TestRun run(with_budget(100));
  run.pauses();
  run.resumes();
  CHECK(run.started<CallModel>() == 0);
}

}  // namespace
}  // namespace pawl::testing
