#include "pawl/library/prepare.h"

#include <doctest/doctest.h>

#include "pawl/filter/processors/processors_reader.h"

namespace pawl {
namespace {

// One that has no default in any field.
AgentCharter full_charter() {
  AgentCharter charter;
  charter.name = "full";
  charter.instructions = "Go.";
  charter.model = "a/b";
  charter.sampling.max_output_tokens = 7;
  charter.output_schema = "{}";
  charter.compaction.ratio_percent = 1;
  charter.limits.steps = 2;
  charter.guards.tool_errors = 9;
  charter.retry.attempts_max = 8;
  charter.variables["k"] = "v";
  charter.directory = "/srv";
  charter.approvers = Approvers::others;
  charter.signers = {{"ann", {"key"}}};
  return charter;
}

TEST_CASE("all that a host says of an agent reaches the driver") {
  RunnableAgent agent;
  agent.charter = full_charter();
  agent.subagents = {{"helper", "", "", "", {}}};
  agent.processors = std::make_shared<const Processors>();
  agent.tools = {nullptr};
  agent.release = [](const RunId&) {};

  const PreparedAgent prepared = prepare(agent);

  const Charter& charter = prepared.charter;
  CHECK(charter.name == "full");
  CHECK(charter.instructions == "Go.");
  CHECK(charter.model == "a/b");
  CHECK(charter.sampling == agent.charter.sampling);
  CHECK(charter.output_schema == "{}");
  CHECK(charter.compaction == agent.charter.compaction);
  CHECK(charter.limits == agent.charter.limits);
  CHECK(charter.guards == agent.charter.guards);
  CHECK(charter.retry == agent.charter.retry);
  CHECK(charter.variables == agent.charter.variables);
  CHECK(charter.directory == "/srv");
  CHECK(charter.permissions.approvers == Approvers::others);
  CHECK(charter.permissions.signers == agent.charter.signers);
  CHECK(charter.processors == agent.processors);
  CHECK(prepared.tools == agent.tools);
  CHECK(prepared.subagents.front().name == "helper");
  CHECK(prepared.release);
}

}  // namespace
}  // namespace pawl
