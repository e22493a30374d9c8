// Charters as text, for the tests of their reader.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/charter/charter_reader.h"

namespace pawl {

inline CharterReading read_charter_text(std::string_view yaml) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  return read_charter(*document.root, std::string(yaml), "/dir");
}

inline Charter good_charter(std::string_view yaml) {
  const CharterReading reading = read_charter_text(yaml);
  REQUIRE_MESSAGE(reading.charter, to_string(reading.faults, "f"));
  CHECK(reading.faults.empty());
  return *reading.charter;
}

// The faults of a charter that must have some, a line each.
inline std::string charter_faults(std::string_view yaml) {
  const CharterReading reading = read_charter_text(yaml);
  CHECK_FALSE(reading.charter);
  return to_string(reading.faults, "f");
}

// A complete charter with `more` of its top level keys, from line 4 on.
inline std::string charter_with(std::string_view more) {
  return "name: t\ninstructions: Do it.\nmodels: { main: scripted/s.yaml }\n" + std::string(more);
}

// A charter with several nodes, whose `nodes` begin in line 4.
inline std::string nodes_with(std::string_view nodes) {
  return "name: t\nmodels: { main: scripted/s.yaml }\nstart: a\nnodes:\n" + std::string(nodes);
}

inline const CharterNode& node_of(const Charter& charter, std::string_view name) {
  for (const CharterNode& node : charter.machine.nodes) {
    if (node.spec.name == name) return node;
  }
  FAIL("no node " << name);
  return charter.machine.nodes.front();
}

// As machine.md writes it.
inline std::string_view release_charter() {
  return R"(name: release
models: { main: anthropic/claude-sonnet-5 }
start: triage                       # the node of the root instance, i1
nodes:
  triage:
    instructions: Find out how bad it is.
    tools: [view, bash]             # subset of the tools in scope; absent: all
    define: {}                      # tools of this node only, same grammar as tools.define
    state:
      schema: { type: object, properties: { severity: { enum: [low, high] } }, additionalProperties: false }
      initial: {}
      owner: run                    # or external, see M9
    next:
      escalate: { to: fix, description: It is severe., context: keep }   # offered to the model as tool transition_escalate
      close: report                                                      # short form
      done: { to: report, when: end_turn }                               # not offered as a tool: taken when the turn ends
    workers:
      watcher: { node: watch, start: with_node }   # or on_call (default): offered as tool spawn_watcher {input, state?}
    workers_on_end: wait            # or detach, cancel
    commands:
      set_severity:
        description: Says how bad it is.
        input: { type: object, required: [severity], properties: { severity: { enum: [low, high] } } }
        do: [{ patch: { severity: { $input: /severity } } }, { transition: escalate }]
    packs: [notes]
  watch: { worker: true, instructions: Watch the log and cede what you saw. }
  fix: { instructions: Mend it. }
  report: { instructions: Say what happened., output: { schema: { type: object, required: [summary] } } }
packs:
  notes:
    instructions: Take notes.
    state: { schema: { type: object }, initial: {} }
    define: { note: { command: [./note.sh], effect: idempotent } }
)";
}

}  // namespace pawl
