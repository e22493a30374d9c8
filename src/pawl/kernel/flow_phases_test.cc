// Phases of a flow, their prompts and failures: rules M16, M17 and M18.
#include "pawl/kernel/flow_stage_test.h"

namespace pawl::testing {
namespace {

// --- M16 -----------------------------------------------------------------------------------------

TEST_CASE("M16: the root of a flow has no node and never acts; its phases are its workers") {
  TestRun run(a_flow({a_phase("a", "n"), a_phase("b", "w", {"a"})}));

  CHECK(run.in<Flowing>());
  CHECK(run.instance().node == "");
  CHECK(run.instance(kI2).kind == NodeKind::worker);
  CHECK(run.instance(kI2).node == "n");
  CHECK(run.dialogue(kI2) == "user: hello");
  CHECK(status_in(run, "b") == PhaseStatus::pending);
  CHECK(run.refuses(MessageReceived{kRootInstance, Content("m"), "u"}).find("reads nothing") !=
        std::string::npos);

  run.replies_as(kI2, {says("one")});
  CHECK(status_in(run, "a") == PhaseStatus::done);
  CHECK(run.dialogue(kI3) == "user: one");
  run.replies_as(kI3, {says("two")});
  run.ends();

  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "two");
}

TEST_CASE("M16: phases whose after is done run side by side") {
  TestRun run(a_flow({a_phase("a", "n"), a_phase("b", "n", {"a"}), a_phase("c", "w", {"a"}),
                      a_phase("d", "n", {"b", "c"})}));
  run.replies_as(kI2, {says("one")});
  CHECK(run.in<AwaitingModel>(kI3));
  CHECK(run.in<AwaitingModel>(kI4));
  run.replies_as(kI4, {says("from c")});
  CHECK(status_in(run, "d") == PhaseStatus::pending);
  run.replies_as(kI3, {says("from b")});
  CHECK(run.dialogue(InstanceId{5}) == "user: b:\nfrom b\n\nc:\nfrom c");
}

TEST_CASE("M16: when leaves a phase out, and what comes after it goes on with null") {
  PhaseSpec out = a_phase("out", "n", {"a"});
  out.when = {{"/phases/a/output", "\"yes\""}};
  PhaseSpec in = a_phase("in", "n", {"out"}, "[{{phases.out.output}}]");
  in.when = {{"/vars/mode", "true"}, {"/input", "\"hello\""}};
  RunStarted start = a_flow({a_phase("a", "n"), out, in});
  start.variables = {{"mode", "true"}};
  TestRun run(start);
  run.replies_as(kI2, {says("no")});
  CHECK(status_in(run, "out") == PhaseStatus::left_out);
  CHECK(output_in(run, "out") == "null");
  CHECK(run.dialogue(kI3) == "user: []");
}

TEST_CASE("M16: an output is JSON where the node has a schema, else text") {
  TestRun run(a_flow({a_phase("a", "v"), a_phase("b", "n", {"a"}, "{{phases.a.output/x/1}}")}));
  run.replies_as(kI2, {says(R"({"x": [1, {"y": "z"}]})")});
  CHECK(output_in(run, "a") == R"({"x":[1,{"y":"z"}]})");
  CHECK(run.dialogue(kI3) == R"(user: {"y":"z"})");
  run.replies_as(kI3, {says("5")});
  CHECK(output_in(run, "b") == R"("5")");
}

TEST_CASE("M16: what a phase cedes fits its node's schema, or is refused in words") {
  TestRun run(a_flow({a_phase("a", "v")}));
  run.replies_as(kI2, {calls("cede", R"({"content":7})")});
  CHECK(run.decided<CallRefused>().at(0).text.find("output schema") != std::string::npos);
  run.replies_as(kI2, {calls("cede", R"({"content":{"x":7}})")});
  run.ends();
  CHECK(run.output() == R"({"x":7})");
}

TEST_CASE("M16: packs reach the instances of phases") {
  RunStarted start = a_flow({a_phase("a", "n")});
  start.packs = {PackSpec{"notes", {}, a_state("", R"({"k":1})")}};
  node_in(start, "n").packs = {"notes"};
  TestRun run(start);
  run.replies_as(kI2, {calls("update_state", R"({"patch":{"k":2},"pack":"notes"})")});
  CHECK(run->pack_states.at(0).state == R"({"k":2})");
}

TEST_CASE("M16: before-agent callbacks come before the first phase") {
  RunStarted start = a_flow({a_phase("a", "n")});
  start.agent_callbacks = Presence::present;
  TestRun run(start);
  CHECK(run->instances.size() == 1);
  run.takes(AgentBegan{run.effect_of(EffectKind::begin_agent), HookVerdict::proceed, {}, ""});
  CHECK(run.in<AwaitingModel>(kI2));
}

TEST_CASE("M16: a flow that a callback has ended is not taken up by a message to its root") {
  RunStarted start = a_flow({a_phase("p", "n")});
  start.agent_callbacks = Presence::present;
  TestRun run(start);
  run.takes(AgentBegan{run.effect_of(EffectKind::begin_agent), HookVerdict::replace,
                       Content("instead"), ""});
  CHECK(run.ending());
  MessageReceived message;
  message.text = Content("go on");
  CHECK(run.refuses(message).find("the root of a flow") != std::string::npos);
  run.ends();
  CHECK(run.output() == "instead");
}

TEST_CASE("M16: a phase in a pause goes on when the run is resumed") {
  TestRun run(a_flow({a_phase("a", "n"), a_phase("b", "n", {"a"})}));
  run.pauses();
  run.takes(ModelAborted{kI2, run.model_effect(kI2), {}});
  CHECK(run.status() == RunStatus::waiting);
  run.resumes();
  run.replies_as(kI2, {says("one")});
  CHECK(run.in<AwaitingModel>(kI3));
}

TEST_CASE("M2: phases wait for room in limits.branches") {
  RunStarted start = a_flow({a_phase("a", "n"), a_phase("b", "n"), a_phase("c", "n")});
  start.limits.branches = 1;
  TestRun run(start);
  CHECK(live_count(run.state()) == 2);
  CHECK(status_in(run, "c") == PhaseStatus::running);
  run.replies_as(kI2, {says("one")});
  run.replies_as(kI3, {says("two")});
  run.replies_as(kI4, {says("three")});
  CHECK(run.reason() == StopReason::end_turn);
}

TEST_CASE("M16: a flow that cannot be is no run") {
  Run run;
  const auto refused = [&run](const RunStarted& start) {
    const auto record = advance(run, start, {1, 0, 0});
    return record ? std::string() : record.error().message;
  };
  CHECK(refused(a_flow({a_phase("a", "n", {"b"}), a_phase("b", "n", {"a"})})).find("itself") !=
        std::string::npos);
  CHECK(refused(a_flow({a_phase("a", "x")})).find("no node x") != std::string::npos);
  RunStarted both = a_flow({a_phase("a", "n")});
  both.node = "n";
  CHECK(refused(both).find("starts at no node") != std::string::npos);
  RunStarted narrow = a_flow({a_phase("a", "n")});
  narrow.limits.branches = 0;
  CHECK(refused(narrow).find("branches") != std::string::npos);
}

// --- M17 -----------------------------------------------------------------------------------------

TEST_CASE("M17: a prompt has the input, variables and outputs, inserted once") {
  RunStarted start = a_flow({a_phase("a", "n", {}, "{{vars.x}} {{x}} {{input}} {{gone.x}}"),
                             a_phase("b", "n", {"a"}, "<{{phases.a.output}}>")});
  start.variables = {{"x", "{{input}}"}};
  TestRun run(start);
  CHECK(run.dialogue(kI2) == "user: {{input}} {{input}} hello {{gone.x}}");
  run.replies_as(kI2, {says("{{input}}")});
  CHECK(run.dialogue(kI3) == "user: <{{input}}>");
}

TEST_CASE("M17: several last phases give an object by name") {
  TestRun run(a_flow({a_phase("a", "n"), a_phase("b", "v")}));
  run.replies_as(kI3, {says("[1]")});
  run.replies_as(kI2, {says("one")});
  run.ends();
  CHECK(run.output() == R"({"a":"one","b":[1]})");
}

TEST_CASE("M17: a prompt that becomes too long fails its phase") {
  PhaseSpec phase = a_phase("a", "n", {}, "");
  for (int i = 0; i < 300; ++i) phase.prompt += "{{x}}";
  RunStarted start = a_flow({phase});
  start.variables = {{"x", std::string(1024, 'x')}};
  TestRun run(start);
  CHECK(run.reason() == StopReason::phase);
  CHECK(detail_of(run).find("262144 bytes") != std::string::npos);
}

// --- M18 -----------------------------------------------------------------------------------------

TEST_CASE("M18: a failure ends the flow as failed once what is in flight has ended") {
  TestRun run(a_flow(
      {a_phase("a", "n"), a_phase("b", "n"), a_phase("c", "n", {"b"}), a_checkpoint("d", {})}));
  run.takes(a_failure(run, kI2));
  CHECK(run.in<Failing>());
  CHECK(status_in(run, "d") == PhaseStatus::cancelled);
  CHECK(!run.ending());

  run.replies_as(kI3, {says("two")});

  CHECK(status_in(run, "b") == PhaseStatus::done);
  CHECK(status_in(run, "c") == PhaseStatus::pending);
  CHECK(run.reason() == StopReason::phase);
  CHECK(detail_of(run).starts_with("phase a: "));
  run.ends();
  CHECK(run.status() == RunStatus::failed);
}

TEST_CASE("M18: an optional phase that fails, or reaches its own limit, gives its fallback") {
  PhaseSpec fails = a_phase("a", "n");
  fails.need = PhaseNeed::optional;
  fails.fallback = "\"none\"";
  PhaseSpec stops = a_phase("b", "n");
  stops.need = PhaseNeed::optional;
  stops.steps = 1;
  TestRun run(a_flow({fails, stops, a_phase("c", "n", {"a", "b"}, "{{phases.a.output}}!")}));
  run.takes(a_failure(run, kI2));
  run.replies_as(kI3, {says("half"), calls("pure")});
  run.finishes(kC1, "ok");

  CHECK(status_in(run, "a") == PhaseStatus::failed);
  CHECK(status_in(run, "b") == PhaseStatus::failed);
  CHECK(output_in(run, "b") == "null");
  CHECK(run.dialogue(kI4) == "user: none!");
}

TEST_CASE("M18: a phase that is stopped by its own limits hands on what it has") {
  PhaseSpec phase = a_phase("a", "n");
  phase.steps = 1;
  RunStarted start = a_flow({phase, a_phase("b", "w")});
  node_in(start, "w").steps = 1;
  TestRun run(start);
  for (std::uint64_t call = 1; call < 3; ++call) {
    run.replies_as(InstanceId{static_cast<std::uint32_t>(call) + 1},
                   {says("half " + std::to_string(call)), calls("pure")});
    run.finishes(CallId{call}, "ok");
  }
  CHECK(output_in(run, "a") == "\"half 1\"");
  CHECK(output_in(run, "b") == "\"half 2\"");
  CHECK(run.reason() == StopReason::end_turn);
}

TEST_CASE("M18: an output that is no JSON, or by reference, fails its phase") {
  TestRun run(a_flow({a_phase("a", "v")}));
  run.replies_as(kI2, {says("not JSON")});
  CHECK(detail_of(run).find("is not JSON") != std::string::npos);

  TestRun large(a_flow({a_phase("a", "n")}));
  large.replies_as(kI2, {TextBlock{Content(BlobRef{sha256("x"), 500'000})}});
  CHECK(detail_of(large).find("500000 bytes") != std::string::npos);
}

TEST_CASE("a flow that crashes anywhere goes on as it was") {
  TestRun run(a_flow({a_phase("a", "n"), a_phase("b", "n"), a_phase("c", "n", {"a", "b"})}));
  run.crashes();
  run.replies_as(kI3, {says("two")});
  run.crashes();
  run.replies_as(kI2, {says("one")});
  run.crashes();
  CHECK(run.dialogue(kI4) == "user: a:\none\n\nb:\ntwo");
  run.replies_as(kI4, {says("three")});
  run.ends();
  CHECK(run.output() == "three");
}

}  // namespace
}  // namespace pawl::testing
