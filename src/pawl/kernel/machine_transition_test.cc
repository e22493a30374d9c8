// Instances that go from node to node: rule M3 of docs/charter.md, "Several nodes".
#include "pawl/kernel/machine_stage_test.h"

namespace pawl::testing {
namespace {

RunStarted triage_and_fix() {
  RunStarted start = a_machine({a_node("fix"), a_node("triage")}, "triage");
  next_of(start, "triage", "escalate", "fix");
  return start;
}

TEST_CASE("a call of transition_NAME takes the instance to the next node, and is answered") {
  TestRun run(triage_and_fix());
  run.replies({calls("transition_escalate")});

  CHECK(run.instance().node == "fix");
  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue() ==
        "user: hello | assistant: [transition_escalate] | c1: You go on in the node fix when the "
        "calls of this reply have ended.");
  CHECK(run.started<RunTool>() == 0);
  CHECK(run.yields() == Names{"tool_use"});
}

TEST_CASE("other calls of the reply end before the instance leaves") {
  TestRun run(triage_and_fix());
  run.replies({calls("pure"), calls("transition_escalate")});
  CHECK(run.instance().node == "triage");

  run.finishes(kC1, "ok");

  CHECK(run.instance().node == "fix");
}

TEST_CASE("a reply has one transition: a second one is refused in words") {
  TestRun run(triage_and_fix());
  run.replies({calls("transition_escalate"), calls("transition_escalate", R"({"message":"x"})")});

  CHECK(run.decided<NodeEntered>().size() == 1);
  CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::not_done);
  CHECK(run.decided<CallRefused>().at(0).text.find("one in a reply") != std::string::npos);
}

TEST_CASE("a transition that the node does not have is an unknown tool, and the tools are named") {
  TestRun run(triage_and_fix());
  run.replies({calls("transition_escalate")});
  run.replies({calls("transition_escalate", R"({"message":"again"})")});

  CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::unknown_tool);
  CHECK(run.decided<CallRefused>().at(0).text ==
        "unknown tool; the tools are: pure, idem, recon, once, tell, suspend");
}

TEST_CASE("arguments that are not what the tool takes are refused, and nothing changes") {
  TestRun run(triage_and_fix());
  run.replies({calls("transition_escalate", R"({"massage":"x"})")});

  CHECK(run.instance().node == "triage");
  CHECK(run.decided<CallRefused>().at(0).text ==
        "not run, the arguments are invalid: there is no \"massage\"");
}

// --- The conversation ----------------------------------------------------------------------------

TEST_CASE("a fresh conversation starts with the message of the call") {
  RunStarted start = triage_and_fix();
  start.nodes[1].next[0].context = NextContext::fresh;
  TestRun run(start);
  run.replies({says("it is bad"), calls("transition_escalate", R"({"message":"Mend i1."})")});

  CHECK(run.dialogue() == "user: Mend i1.");
}

TEST_CASE("without a message a fresh conversation starts with the last text") {
  RunStarted start = triage_and_fix();
  start.nodes[1].next[0].context = NextContext::fresh;
  TestRun run(start);
  run.replies({says("it is bad"), calls("transition_escalate")});

  CHECK(run.dialogue() == "user: it is bad");
}

TEST_CASE("a conversation that is to be summed up is, before the next node begins") {
  RunStarted start = triage_and_fix();
  start.nodes[1].next[0].context = NextContext::summary;
  TestRun run(start);
  run.replies({says("it is bad"), calls("transition_escalate")});
  CHECK(run.in<Compacting>());
  CHECK(run.instance().node == "triage");

  ContextCompacted summary;
  summary.effect = run.effect_of(EffectKind::compact);
  summary.summary = Content("bad, in short");
  run.takes(summary);

  CHECK(run.instance().node == "fix");
  CHECK(run.dialogue() == "user: bad, in short");
}

TEST_CASE("a summary that was lost with its process is asked for again") {
  RunStarted start = triage_and_fix();
  start.nodes[1].next[0].context = NextContext::summary;
  TestRun run(start);
  run.replies({says("it is bad"), calls("transition_escalate")});
  run.crashes();
  CHECK(run.in<Compacting>());
  CHECK(run.started<CompactContext>() == 2);
}

TEST_CASE("where nobody writes the summary the next node starts with the last text") {
  RunStarted start = triage_and_fix();
  start.nodes[1].next[0].context = NextContext::summary;
  TestRun run(start);
  run.replies({says("it is bad"), calls("transition_escalate")});
  run.takes(CompactionFailed{kRootInstance, run.effect_of(EffectKind::compact), "no", {}});

  CHECK(run.dialogue() == "user: it is bad");
  CHECK(run.instance().node == "fix");
}

// --- The end of a turn ---------------------------------------------------------------------------

TEST_CASE("an entry with when: end_turn is taken when the turn ends, and is no tool") {
  RunStarted start = triage_and_fix();
  start.nodes[1].next[0].when = NextWhen::end_turn;
  TestRun run(start);
  run.replies({says("it is bad")});

  CHECK(run.instance().node == "fix");
  CHECK(run.dialogue() ==
        "user: hello | assistant: it is bad | user: You have new instructions. Go on by them.");
  run.replies({says("mended")});
  run.ends();
  CHECK(run.output() == "mended");
  CHECK(run.status() == RunStatus::done);
}

// --- The state -----------------------------------------------------------------------------------

RunStarted with_states() {
  RunStarted start = triage_and_fix();
  start.nodes[0].state = a_state(R"({"type":"object","required":["severity"]})");
  return start;
}

TEST_CASE("the new state is the argument, where the entry has none") {
  TestRun run(with_states());
  run.replies({calls("transition_escalate", R"({"state":{"severity":"high"}})")});
  CHECK(run.instance().state == R"({"severity":"high"})");
}

TEST_CASE("a state that is missing or does not fit keeps the instance where it is") {
  for (const char* arguments : {"{}", R"({"state":{"other":1}})"}) {
    TestRun run(with_states());
    run.replies({calls("transition_escalate", arguments)});
    CHECK(run.instance().node == "triage");
    CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::invalid_input);
  }
}

TEST_CASE("the entry's state comes before the argument, the argument before the initial one") {
  RunStarted start = with_states();
  start.nodes[0].state->initial = R"({"severity":"low"})";
  TestRun initial(start);
  initial.replies({calls("transition_escalate")});
  CHECK(initial.instance().state == R"({"severity":"low"})");

  start.nodes[1].next[0].state = R"({"severity":"mid"})";
  TestRun said(start);
  said.replies({calls("transition_escalate", R"({"state":{"severity":"high"}})")});
  CHECK(said.instance().state == R"({"severity":"mid"})");
}

// --- The model -----------------------------------------------------------------------------------

TEST_CASE("a node is asked of its own models, and its replies are counted anew") {
  RunStarted start = triage_and_fix();
  start.targets = {{"a/one", {}, 0, 0}, {"b/two", {}, 0, 0}};
  start.nodes[0].targets = {1};
  start.nodes[1].targets = {0};
  TestRun run(start);
  run.replies({calls("transition_escalate")});

  const auto& call = std::get<CallModel>(run.last().effects.at(0));
  CHECK(call.target == 1);
  CHECK(call.position == 0);
}

TEST_CASE("a model that fails is followed by the next one of the node, not of the run") {
  RunStarted start = triage_and_fix();
  start.targets = {{"a/one", {}, 0, 0}, {"b/two", {}, 0, 0}, {"c/three", {}, 0, 0}};
  start.nodes[1].targets = {2, 0};
  TestRun run(start);
  ModelFailed failed;
  failed.effect = run.model_effect();
  failed.kind = FailureKind::model_not_found;
  run.takes(failed);
  CHECK(std::get<AwaitingModel>(run.instance().phase).target == 0);
}

}  // namespace
}  // namespace pawl::testing
