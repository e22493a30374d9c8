#include "pawl/charter/charter_reader.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "pawl/charter/charter_budget.h"
#include "pawl/charter/charter_later.h"
#include "pawl/charter/charter_limits.h"
#include "pawl/charter/charter_models.h"
#include "pawl/charter/charter_tools.h"
#include "pawl/charter/charter_vars.h"
#include "pawl/charter/machine/machine_names.h"
#include "pawl/charter/machine/read_machine.h"

namespace pawl {

namespace {

constexpr std::size_t kDescriptionBytesMax = 64U << 10U;
constexpr std::array<std::string_view, 5> kLater = {"mcp", "policies", "lanes", "skills",
                                                    "schedules"};
// What belongs to a node, and where it is written.
constexpr std::array<std::string_view, 4> kOfNodes = {"next", "workers", "state", "commands"};

void refuse_of_nodes(MapReader& reader, const Node& root) {
  for (const std::string_view key : kOfNodes) {
    const auto is_it = [key](const Member& member) { return member.key == key; };
    const auto found = std::ranges::find_if(root.members(), is_it);
    if (found == root.members().end()) continue;
    reader.take(key);
    reader.fault(found->key_mark, quoted(key) + " stands in a node",
                 "write nodes: { main: { " + std::string(key) + ": ... } }");
  }
}

void read_head(MapReader& reader, const Node& root, Charter& charter) {
  if (reader.require_string("name", charter.name)) {
    check_charter_name(reader, root.find("name")->mark(), "name of a charter", charter.name);
  }
  reader.take_string("description", charter.description);
  check_bytes(reader, root.find("description"), "description", kDescriptionBytesMax);
}

void read_sections(MapReader& reader, std::vector<Fault>& faults, CharterTools& tools,
                   Charter& charter) {
  if (const Node* node = reader.take("limits")) {
    read_limits(*node, faults, charter.limits, charter.spending);
  }
  if (const Node* node = reader.take("budget")) {
    read_budget(*node, faults, charter.limits, charter.spending);
  }
  if (const Node* node = reader.take("guards")) read_guards(*node, faults, charter.guards);
  if (const Node* node = reader.take("retry")) read_attempts(*node, faults, charter.retry);
  if (const Node* node = reader.take("vars")) read_variables(*node, faults, charter.variables);
  CharterPermissions& permissions = charter.permissions;
  if (const Node* node = reader.take("tools")) {
    tools = read_tools(*node, faults, permissions, charter.machine.notes);
  }
  if (const Node* node = reader.take("approvals")) read_approvals(*node, faults, permissions);
  if (const Node* node = reader.take("permissions")) read_permissions(*node, faults, permissions);
  if (const Node* node = reader.take("guardrails")) {
    permissions.guardrails = read_rules(*node, faults, "guardrails");
  }
  if (const Node* node = reader.take("processors")) {
    charter.processors = std::make_shared<const Processors>(read_processors(*node, faults));
  }
  if (const Node* node = reader.take("sandbox")) read_sandbox(*node, faults, charter.sandbox);
}

// Every node has a model of its own.
bool nodes_choose(const Node& root) {
  const Node* nodes = root.find("nodes");
  if (nodes == nullptr || nodes->members().empty()) return false;
  return std::ranges::all_of(
      nodes->members(), [](const Member& member) { return member.value.find("model") != nullptr; });
}

// What holds for all nodes that do not say something else.
void read_model(MapReader& reader, const Node& root, std::vector<Fault>& faults, Charter& charter) {
  const Node* model = reader.take("model");
  read_charter_models(reader, model, nodes_choose(root) ? ModelOf::nodes : ModelOf::charter, faults,
                      charter);
  if (const Node* node = reader.take("providers"))
    charter.providers = read_providers(*node, faults);
  read_sampling(reader, charter.sampling);
  read_conversation(reader, faults, charter);
  if (const Node* node = reader.take("output")) {
    read_output(*node, faults, charter.output_schema, "output");
  }
}

// An insertion sort, because it is stable and there are at most kFaultsMax; clang warns about what
// libstdc++ 12 does inside std::stable_sort.
void in_document_order(std::vector<Fault>& faults) {
  const auto before = [](const Fault& a, const Fault& b) {
    return std::tie(a.mark.file, a.mark.line, a.mark.column) <
           std::tie(b.mark.file, b.mark.line, b.mark.column);
  };
  for (auto it = faults.begin(); it != faults.end(); ++it) {
    std::rotate(std::upper_bound(faults.begin(), it, *it, before), it, std::next(it));
  }
}

}  // namespace

CharterReading read_charter(const Node& root, std::string text, std::string directory) {
  CharterReading reading;
  MapReader reader(root, reading.faults, "charter");
  if (root.kind() != Node::Kind::map) return reading;
  Charter charter;
  CharterTools tools;
  refuse_later(reader, root, kLater);
  refuse_of_nodes(reader, root);
  read_head(reader, root, charter);
  const TopOfCharter top{reader.take("instructions"), root.mark()};
  read_sections(reader, reading.faults, tools, charter);
  read_model(reader, root, reading.faults, charter);
  read_machine(reader, root, top, reading.faults, tools, charter);
  reader.finish();
  in_document_order(reading.faults);
  if (!reading.faults.empty()) return reading;
  charter.commands = std::move(tools.commands);
  charter.common_tools = std::move(tools.common);
  charter.text = std::move(text);
  charter.directory = std::move(directory);
  reading.charter = std::move(charter);
  return reading;
}

}  // namespace pawl
