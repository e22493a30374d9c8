// Runs with flows, for the tests of rules M16 to M24.
#pragma once

#include "pawl/kernel/flow_values.h"
#include "pawl/kernel/machine_stage_test.h"

namespace pawl::testing {

inline PhaseSpec a_phase(std::string name, std::string node, std::vector<std::string> after = {},
                         std::string prompt = "") {
  PhaseSpec phase;
  phase.name = std::move(name);
  phase.node = std::move(node);
  phase.after = std::move(after);
  phase.prompt = std::move(prompt);
  return phase;
}

inline PhaseSpec a_checkpoint(std::string name, std::vector<std::string> after) {
  PhaseSpec phase;
  phase.name = std::move(name);
  phase.checkpoint = "Is it good?";
  phase.after = std::move(after);
  return phase;
}

inline PhaseSpec an_await(std::string name, std::string event,
                          std::vector<std::string> after = {}) {
  PhaseSpec phase;
  phase.name = std::move(name);
  phase.await = AwaitSpec{std::move(event)};
  phase.after = std::move(after);
  return phase;
}

inline NodeSpec a_json_node(std::string name) {
  NodeSpec node = a_node(std::move(name));
  node.output_schema = R"({"type":["object","array"]})";
  return node;
}

// By the agent that a_flow() has.
inline PhaseSpec an_agent_phase(std::string name, std::vector<std::string> after = {}) {
  PhaseSpec phase;
  phase.name = std::move(name);
  phase.agent = "crew";
  phase.after = std::move(after);
  return phase;
}

inline PhaseSpec an_agent_map(std::string name, std::uint32_t max = 4) {
  PhaseSpec phase = an_agent_phase(std::move(name));
  phase.prompt = "do {{item}}";
  phase.map = MapSpec{"/input", max};
  return phase;
}

// Nodes "n" (text) and "v" (JSON), and "w" that no phase need have.
inline RunStarted a_flow(std::vector<PhaseSpec> phases) {
  RunStarted start = a_machine({a_node("n"), a_json_node("v"), a_node("w")}, "");
  start.phases = std::move(phases);
  start.limits.branches = 100;
  start.limits.steps = 1000;
  start.guards = {0, 0, 0};
  const bool agents = std::any_of(start.phases.begin(), start.phases.end(),
                                  [](const PhaseSpec& one) { return !one.agent.empty(); });
  if (!agents) return start;
  AgentSpec crew{"crew"};
  crew.digest = sha256("crew");
  start.agents = {crew};
  start.tools.push_back(PinnedTool{"agent__crew", EffectClass::reconcilable, OnDoubt::wait, {}});
  return start;
}

// A map over the input, which must be a list.
inline PhaseSpec a_map(std::string name, std::uint32_t max = 4) {
  PhaseSpec phase = a_phase(std::move(name), "n", {}, "do {{item}}");
  phase.map = MapSpec{"/input", max};
  return phase;
}

inline RunStarted a_flow_over(std::string input, std::vector<PhaseSpec> phases) {
  RunStarted start = a_flow(std::move(phases));
  start.input = Content(std::move(input));
  return start;
}

inline const PhaseRun& phase_in(const TestRun& run, std::string_view name) {
  return run->flow.runs.at(*place_of(run->flow, name));
}

inline PhaseStatus status_in(const TestRun& run, std::string_view name) {
  return phase_in(run, name).status;
}

inline std::string output_in(const TestRun& run, std::string_view name) {
  return output_json(run->flow, *place_of(run->flow, name));
}

inline std::string detail_of(const TestRun& run) {
  return std::get<Ending>(run->course).detail;
}

inline ModelFailed a_failure(const TestRun& run, InstanceId instance) {
  ModelFailed failed;
  failed.instance = instance;
  failed.effect = run.model_effect(instance);
  failed.kind = FailureKind::permanent;
  failed.message = "no such key";
  return failed;
}

inline PhaseControlled a_control(std::string phase, PhaseAction action) {
  return {std::move(phase), action, "u"};
}

inline const Record& decides(TestRun& run, InterruptDecision decision, std::string text = "") {
  for (const Call& call : run->calls) {
    const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
    if (asked == nullptr) continue;
    CallDecided decided;
    decided.instance = call.instance;
    decided.call = call.id;
    decided.decision = decision;
    decided.binding = asked->binding;
    decided.by = "u";
    decided.text = Content(std::move(text));
    return run.takes(decided);
  }
  FAIL("nothing waits for a decision");
  return run.last();
}

}  // namespace pawl::testing
