#include "pawl/library/prepare.h"

namespace pawl {
namespace {

Charter charter_of(const AgentCharter& given) {
  Charter charter;
  charter.name = given.name;
  charter.instructions = given.instructions;
  charter.model = given.model;
  charter.sampling = given.sampling;
  charter.output_schema = given.output_schema;
  charter.compaction = given.compaction;
  charter.limits = given.limits;
  charter.guards = given.guards;
  charter.retry = given.retry;
  charter.variables = given.variables;
  charter.directory = given.directory;
  charter.permissions.approvers = given.approvers;
  charter.permissions.signers = given.signers;
  return charter;
}

}  // namespace

PreparedAgent prepare(const RunnableAgent& agent) {
  PreparedAgent prepared;
  if (agent.machine) {
    prepared = *agent.machine;
  } else {
    prepared.charter = charter_of(agent.charter);
  }
  prepared.charter.processors = agent.processors;
  prepared.executor = agent.executor;
  prepared.tools = agent.tools;
  prepared.subagents = agent.subagents;
  prepared.compactor = agent.compactor;
  prepared.gate = agent.gate;
  prepared.release = agent.release;
  prepared.commands = agent.commands;
  return prepared;
}

}  // namespace pawl
