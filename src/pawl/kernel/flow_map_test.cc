// A phase for each item of a list: rule M19.
#include "pawl/kernel/flow_stage_test.h"

namespace pawl::testing {
namespace {

PhaseSpec with_keys(PhaseSpec phase, std::uint32_t per_key_max = 1) {
  phase.map->per_key = "/d";
  phase.map->per_key_max = per_key_max;
  return phase;
}

std::uint32_t running(const TestRun& run) {
  return phase_in(run, "m").map->running;
}

TEST_CASE("M19: the phase runs once per item, max at a time, and outputs are in their order") {
  TestRun run(a_flow_over(R"(["a","b",{"c":1}])", {a_map("m", 2), a_phase("z", "n", {"m"})}));
  CHECK(live_count(run.state()) == 3);
  CHECK(run.dialogue(kI2) == "user: do a");
  run.replies_as(kI3, {says("B")});
  CHECK(run.dialogue(kI4) == R"(user: do {"c":1})");
  run.replies_as(kI4, {says("C")});
  run.replies_as(kI2, {says("A")});
  CHECK(output_in(run, "m") == R"(["A","B","C"])");
  CHECK(run.dialogue(InstanceId{5}) == R"(user: ["A","B","C"])");
}

TEST_CASE("M19: a map without a prompt tells each instance its item") {
  PhaseSpec phase = a_map("m");
  phase.prompt.clear();
  TestRun run(a_flow_over(R"(["a"])", {phase}));
  CHECK(run.dialogue(kI2) == "user: a");
}

TEST_CASE("M19: of the items with one key per_key_max run at a time, the first of the list first") {
  TestRun run(a_flow_over(
      R"([{"d":"x","n":1},{"d":"x","n":2},{"d":"y","n":3},{"n":4},{"n":5},{"d":"x","n":6}])",
      {with_keys(a_map("m", 10))}));
  CHECK(running(run) == 4);  // 1, 3, 4, 5
  CHECK(run.dialogue(kI3) == R"(user: do {"d":"y","n":3})");
  run.replies_as(kI3, {says("3")});
  CHECK(running(run) == 3);
  run.replies_as(kI2, {says("1")});
  CHECK(run.dialogue(InstanceId{6}) == R"(user: do {"d":"x","n":2})");
  CHECK(running(run) == 3);

  TestRun two(a_flow_over(R"([{"d":1},{"d":1},{"d":1}])", {with_keys(a_map("m", 10), 2)}));
  CHECK(running(two) == 2);
}

TEST_CASE("M19: a failed item is an error in its place; more than tolerate fail the phase") {
  PhaseSpec phase = a_map("m", 1);
  phase.map->tolerate = 1;
  TestRun run(a_flow_over("[1,2,3]", {phase}));
  run.takes(a_failure(run, kI2));
  run.replies_as(kI3, {says("two")});
  CHECK(!run.ending());
  TestRun fails = run;
  run.replies_as(kI4, {says("three")});
  const Json output = *parse_json(output_in(run, "m"));
  CHECK(output.array().at(0).find_string("error")->find("no such key") != std::string::npos);
  CHECK(output.array().at(1).string() == "two");
  CHECK(run.reason() == StopReason::end_turn);

  fails.takes(a_failure(fails, kI4));
  CHECK(status_in(fails, "m") == PhaseStatus::failed);
  CHECK(fails.reason() == StopReason::phase);
}

TEST_CASE("M19: when too many have failed no item begins, and those in flight end") {
  TestRun run(a_flow_over("[1,2,3,4]", {a_map("m", 2)}));
  run.takes(a_failure(run, kI2));
  CHECK(!run.ending());
  CHECK(running(run) == 1);
  run.replies_as(kI3, {says("two")});
  CHECK(run->instances_minted == 3);
  CHECK(run.reason() == StopReason::phase);
}

TEST_CASE("M19: what is not a list fails the phase, and an empty list gives []") {
  TestRun text(a_flow_over(R"({"a":1})", {a_map("m")}));
  CHECK(detail_of(text) == "phase m: /input is object, and a map is over a list");

  PhaseSpec missing = a_map("m");
  missing.map->over = "/phases/z/output/list";
  missing.need = PhaseNeed::optional;
  missing.fallback = "[7]";
  missing.after = {"z"};
  TestRun none(a_flow({a_phase("z", "v"), missing}));
  none.replies_as(kI2, {says("{}")});
  none.ends();
  CHECK(none.output() == "[7]");

  TestRun empty(a_flow_over("[]", {a_map("m")}));
  empty.ends();
  CHECK(empty.output() == "[]");
  CHECK(empty.status() == RunStatus::done);
}

TEST_CASE("M19: items wait for room in limits.branches") {
  RunStarted start = a_flow_over("[1,2,3]", {a_map("m", 3)});
  start.limits.branches = 1;
  TestRun run(start);
  for (std::uint32_t id = 2; id < 5; ++id) {
    CHECK(running(run) == 1);
    run.replies_as(InstanceId{id}, {says("x")});
  }
  CHECK(run.reason() == StopReason::end_turn);
}

TEST_CASE("M19: outputs that are too long together fail the phase when they are, not at its end") {
  const std::string long_text(200U << 10U, 'x');
  for (const bool last : {true, false}) {
    std::vector<PhaseSpec> phases = {a_map("m", 1)};
    if (!last) phases.push_back(a_phase("z", "n", {"m"}, "go on"));
    RunStarted start = a_flow_over("[1,2,3,4,5,6]", phases);
    start.limits.bytes_out = start.limits.tokens = 1ULL << 40U;
    TestRun run(start);
    for (std::uint32_t id = 2; id < 8 && !run.ending(); ++id) {
      run.replies_as(InstanceId{id}, {says(long_text)});
    }
    CHECK(run.ending() == last);
    if (!last) {
      CHECK(status_in(run, "m") == PhaseStatus::done);
      continue;
    }
    CHECK(run->instances_minted == 4);  // Two outputs fit, and the third item is the last to begin.
    CHECK(detail_of(run).find("more than the 458752 bytes") != std::string::npos);
  }
}

std::string numbers(std::uint32_t count) {
  std::string list = "[";
  for (std::uint32_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + std::to_string(i);
  return list + "]";
}

TEST_CASE("M19: more births than a record has room for go on with the next one, at once") {
  RunStarted start = a_flow_over(numbers(600), {a_map("m", 600)});
  start.limits.branches = 1'000;
  TestRun run(start);
  CHECK(running(run) == kFlowBirthsPerRecord);
  CHECK(wake_at(run.state()) == run->elapsed_ms);
  run.ticks();
  run.ticks();
  CHECK(running(run) == 600);
  CHECK(wake_at(run.state()) > run->elapsed_ms);
}

// A scan of all items for each event would be a hundred million steps.
TEST_CASE("M19: 10,000 items at 64 take as many records as they have replies") {
  RunStarted start = a_flow_over(numbers(10'000), {with_keys(a_map("m", 64))});
  start.limits.steps = start.limits.model_calls = 100'000;
  start.limits.bytes_in = start.limits.bytes_out = start.limits.tokens = 1ULL << 40U;
  Run run;
  REQUIRE(advance(run, start, {1, 0, 0}));
  std::uint64_t records = 1;
  std::size_t most = 0;
  while (!std::holds_alternative<Ending>(run->course)) {
    const OpenEffect effect = run->open.front();
    ModelReplied reply;
    reply.instance = effect.instance;
    reply.effect = effect.id;
    reply.blocks = {says("done")};
    REQUIRE(advance(run, reply, {1, 0, 0}));
    ++records;
    most = std::max(most, run->instances.size());
  }
  CHECK(records == 10'001);
  CHECK(most < 200);
  CHECK(run->flow.runs[0].status == PhaseStatus::done);
  CHECK(parse_json(output_json(run->flow, 0))->array().size() == 10'000);
}

TEST_CASE("M19: a map that crashes after every record loses no item and doubles none") {
  TestRun run(a_flow_over("[1,2,3,4,5]", {a_map("m", 2)}));
  for (std::uint32_t id = 2; id < 7; ++id) {
    run.crashes();
    run.replies_as(InstanceId{id}, {says("o" + std::to_string(id))});
  }
  run.ends();
  CHECK(run.output() == R"(["o2","o3","o4","o5","o6"])");
}

}  // namespace
}  // namespace pawl::testing
