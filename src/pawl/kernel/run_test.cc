#include "pawl/kernel/run.h"

#include <set>

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("a key depends on tenant, run and call number, and on nothing else") {
  TestRun run;
  const std::string key = key_of(run.state(), kC1);
  CHECK(key == to_hex(sha256("pawl-key-1:7:default:2:r1:1")));

  run.replies({calls("once", R"({"idempotency_key":"x"})"), calls("once", "2")});
  run.crashes();
  CHECK(key_of(run.state(), kC1) == key);
  CHECK(key_of(run.state(), kC2) != key);
}

TEST_CASE("no two of tenant, run and call number run into each other") {
  std::set<std::string> keys;
  for (const auto& [tenant, id] : std::vector<std::pair<std::string, std::string>>{
           {"a", "b"}, {"ab", ""}, {"", "ab"}, {"a:1", "b"}, {"a", "1:b"}, {"a:1:b", "b"}}) {
    for (const std::uint64_t call : {1U, 11U, 111U}) {
      RunState state;
      state.tenant = tenant;
      state.id = RunId{id};
      keys.insert(key_of(state, CallId{call}));
    }
  }
  CHECK(keys.size() == 18);
}

TEST_CASE("a run that has not started is queued, and waits for nobody") {
  const RunState state;
  CHECK(status_of(state) == RunStatus::queued);
  CHECK(!is_waiting(state));
  CHECK(wake_at(state) == std::nullopt);
}

TEST_CASE("a run is running while anything is under way or due, and waiting otherwise") {
  TestRun run;
  CHECK(run.status() == RunStatus::running);
  run.fails(ErrorCategory::timeout);
  CHECK(run.status() == RunStatus::running);
  run.later(500).ticks();
  run.replies({calls("once", "1"), calls("pure", "2")});
  run.finishes(kC1, "", ToolEnd::timed_out);
  CHECK(run.status() == RunStatus::running);
  CHECK(waits_for(run.state()) == WaitFor::nothing);
  run.finishes(kC2, "ok");
  CHECK(run.status() == RunStatus::waiting);
  CHECK(waits_for(run.state()) == WaitFor::in_doubt);
  CHECK(wake_at(run.state()) == std::nullopt);
}

TEST_CASE("a timer is due exactly when wake_at() says so") {
  TestRun run;
  run.later(10).fails(ErrorCategory::timeout);
  const auto due = wake_at(run.state());
  REQUIRE(due);
  run.later(*due - 10).ticks();
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("the deadline cannot overflow") {
  Limits limits;
  limits.time_ms = UINT64_MAX;
  TestRun run(with_limits(limits));
  run.later(1000).hears("x");
  CHECK(wake_at(run.state()) == UINT64_MAX);
}

TEST_CASE("things are found by id, and what is not there is nowhere") {
  TestRun run;
  run.replies({calls("once")});
  CHECK(find_call(run.state(), kC1)->tool == "once");
  CHECK(find_call(run.state(), kC2) == nullptr);
  CHECK(find_instance(run.state(), InstanceId{2}) == nullptr);
  CHECK(find_effect(run.state(), EffectId{2})->kind == EffectKind::tool);
  CHECK(find_tool(run.state(), "once")->effect == EffectClass::once);
  CHECK(find_tool(run.state(), "onc") == nullptr);
}

}  // namespace
}  // namespace pawl::testing
