// Work items with their gate, and discovered steps: rules M22 and M23.
#include "pawl/kernel/flow_stage_test.h"

namespace pawl::testing {
namespace {

Block adds(std::string title) {
  return calls("work_item_add", R"({"title":")" + title + "\"}");
}

Block finishes(std::string id) {
  return calls("work_item_done", R"({"id":")" + id + "\"}");
}

RunStarted with_gate(RunStarted start, std::uint32_t blocks = 5) {
  start.gate = GateSpec{blocks};
  return start;
}

RunStarted a_gated_node(std::uint32_t blocks = 5) {
  RunStarted start = with_gate(a_machine({a_node("main")}, "main"), blocks);
  start.guards = {0, 0, 0};
  return start;
}

// --- M22 -----------------------------------------------------------------------------------------

TEST_CASE("M22: work items are kept with a gate, and answered with their ids") {
  TestRun run(a_gated_node());
  run.replies({adds("tidy up"), adds("test"), finishes("w1"), finishes("w9"), finishes("w1"),
               calls("work_item_escalate", R"({"id":"w2","reason":"no key"})"),
               calls("work_item_escalate", R"({"id":"w2"})")});
  CHECK(run->work.items == std::vector<WorkItem>{{"w1", "tidy up", WorkStatus::done, ""},
                                                 {"w2", "test", WorkStatus::escalated, "no key"}});
  CHECK(run.decided<CallAnswered>().at(0).text == R"({"id":"w1"})");
  const auto refused = run.decided<CallRefused>();
  REQUIRE(refused.size() == 3);
  CHECK(refused[0].text == "not done: there is no work item w9");
  CHECK(refused[1].text == "not done: w1 is not open: it is done");
  CHECK(refused[2].because == RefusedBecause::invalid_input);
}

TEST_CASE("M22: without a gate the tools are not there") {
  TestRun run(a_machine({a_node("main")}, "main"));
  run.replies({adds("tidy up")});
  CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::unknown_tool);
}

TEST_CASE("M22: a run with open items does not end; the root is asked again with their names") {
  TestRun run(a_gated_node());
  run.replies({adds("tidy up"), adds("test")});
  run.replies({says("done")});
  CHECK(!run.ending());
  CHECK(run.transcript().back().text.bytes()->find("w1 (tidy up), w2 (test)") != std::string::npos);
  run.replies({finishes("w1"), finishes("w2")});
  run.replies({says("really done")});
  run.ends();
  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "really done");
}

TEST_CASE("M22: after `blocks` times in a row without a change the run fails and names them") {
  TestRun run(a_gated_node(2));
  run.replies({adds("tidy up")});
  run.replies({says("a")});
  run.replies({adds("test")});  // a change: the count begins anew
  run.replies({says("b")});
  run.replies({says("c")});
  CHECK(!run.ending());
  run.replies({says("d")});
  CHECK(run.reason() == StopReason::work_items);
  CHECK(detail_of(run) ==
        "open work items, asked about 2 times without a change: w1 (tidy up), w2 (test)");
  run.ends();
  CHECK(run.status() == RunStatus::failed);
}

TEST_CASE("M22: a flow asks the instance with which it would end") {
  TestRun run(with_gate(a_flow({a_phase("a", "n"), a_phase("b", "n", {"a"})})));
  run.replies_as(kI2, {adds("tidy up")});
  run.replies_as(kI2, {says("one")});
  CHECK(status_in(run, "a") == PhaseStatus::done);  // not the last
  run.replies_as(kI3, {says("two")});
  CHECK(status_in(run, "b") == PhaseStatus::running);
  run.replies_as(kI3, {finishes("w1")});
  run.replies_as(kI3, {says("three")});
  run.ends();
  CHECK(run.output() == "three");
}

TEST_CASE("M22: behind a checkpoint an instance of the last node is asked, and output stays") {
  TestRun run(with_gate(a_flow({a_phase("a", "n"), a_checkpoint("sign", {"a"})}), 1));
  run.replies_as(kI2, {adds("tidy up")});
  run.replies_as(kI2, {says("one")});
  decides(run, InterruptDecision::approve);
  CHECK(run.dialogue(kI3).find("w1 (tidy up)") != std::string::npos);
  TestRun stubborn = run;
  run.replies_as(kI3, {finishes("w1")});
  run.replies_as(kI3, {says("so be it")});
  run.ends();
  CHECK(run.output() == "one");

  stubborn.replies_as(kI3, {says("no")});
  CHECK(stubborn.reason() == StopReason::work_items);
}

TEST_CASE("M22: a run has at most kWorkItemsMax items") {
  TestRun run(a_gated_node());
  for (std::size_t i = 0; i < kWorkItemsMax; i += 16) {
    std::vector<Block> blocks;
    for (int n = 0; n < 16; ++n) blocks.push_back(adds("x"));
    run.replies(blocks);
    if (i == 0) CHECK(run->work.open == 16);
    if (run.ending()) break;
  }
  CHECK(run->work.items.size() <= kWorkItemsMax);
}

// --- M23 -----------------------------------------------------------------------------------------

Block discovers(std::string node, std::string input = "look") {
  return calls("discover_step",
               R"({"node":")" + node + R"(","input":")" + input + R"(","reason":"r"})");
}

RunStarted a_discovery() {
  RunStarted start = a_flow({a_phase("a", "n"), a_phase("z", "w", {"a"})});
  node_in(start, "n").discover = DiscoverSpec{{"n"}, 3, 2};
  return start;
}

TEST_CASE("M23: discovered steps run one after another behind the phase that found them") {
  TestRun run(a_discovery());
  run.replies_as(kI2, {discovers("n", "first"), discovers("n", "second")});
  CHECK(run.decided<CallAnswered>().at(1).text == R"({"step":"a/2"})");
  CHECK(live_count(run.state()) == 2);
  run.replies_as(kI2, {says("mine")});
  CHECK(run.dialogue(kI3) == "user: first");
  CHECK(live_count(run.state()) == 2);
  CHECK(status_in(run, "z") == PhaseStatus::pending);
  run.replies_as(kI3, {says("1")});
  CHECK(run.dialogue(kI4) == "user: second");
  run.replies_as(kI4, {says("2")});
  CHECK(run.dialogue(InstanceId{5}) == "user: mine");
  CHECK(phase_in(run, "a").found.at(1).output == "\"2\"");
}

TEST_CASE("M23: depth counts from the phase's own instance, max counts for the phase") {
  TestRun run(a_discovery());
  run.replies_as(kI2, {discovers("n")});
  run.replies_as(kI2, {says("mine")});
  run.replies_as(kI3, {discovers("n")});  // depth 2
  run.replies_as(kI3, {says("1")});
  run.replies_as(kI4, {discovers("n")});  // depth 3
  CHECK(run.decided<CallRefused>().at(0).text == "not done: steps are discovered 2 deep at most");

  TestRun many(a_discovery());
  many.replies_as(kI2, {discovers("n"), discovers("n"), discovers("n"), discovers("n")});
  CHECK(many.decided<StepDiscovered>().size() == 3);
  CHECK(many.decided<CallRefused>().at(0).text.find("at most 3 steps") != std::string::npos);
}

TEST_CASE("M23: only nodes that are listed, and only where the node says so") {
  TestRun run(a_discovery());
  run.replies_as(kI2, {discovers("w")});
  CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::invalid_input);
  run.replies_as(kI2, {says("mine")});
  run.replies_as(kI3, {discovers("n")});  // z is in w, which has no discover
  CHECK(run.decided<CallRefused>().at(1).because == RefusedBecause::unknown_tool);
}

TEST_CASE("M23: a discovered step that fails fails its phase") {
  TestRun run(a_discovery());
  run.replies_as(kI2, {discovers("n")});
  run.replies_as(kI2, {says("mine")});
  run.takes(a_failure(run, kI3));
  CHECK(status_in(run, "a") == PhaseStatus::failed);
  CHECK(run.reason() == StopReason::phase);
}

TEST_CASE("M23: steps that items of a map discovered run behind the last item") {
  PhaseSpec phase = a_map("m", 2);
  RunStarted start = a_flow_over("[1,2]", {phase});
  node_in(start, "n").discover = DiscoverSpec{{"w"}};
  TestRun run(start);
  run.replies_as(kI2, {discovers("w", "more")});
  run.replies_as(kI2, {says("1")});
  CHECK(live_count(run.state()) == 2);
  run.replies_as(kI3, {says("2")});
  CHECK(run.dialogue(kI4) == "user: more");
  run.replies_as(kI4, {says("found")});
  run.ends();
  CHECK(run.output() == R"(["1","2"])");
}

}  // namespace
}  // namespace pawl::testing
