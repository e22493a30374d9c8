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

namespace pawl {

namespace {

constexpr std::size_t kDescriptionBytesMax = 64U << 10U;
constexpr std::array<std::string_view, 9> kLater = {
    "mcp", "workers", "next", "state", "policies", "lanes", "skills", "agents", "schedules",
};
constexpr std::array<std::string_view, 5> kLaterInNode = {"next", "workers", "state", "transitions",
                                                          "sandbox"};

// The charter so far, and what the rest of it needs to know about the document.
struct Sheet {
  Charter charter = {};
  CharterTools tools = {};
  const Node* instructions = nullptr;  // wherever they stand
  const Node* model = nullptr;         // likewise
  const Node* output = nullptr;        // likewise
};

// Lower case letters, digits, '_' and '-', the first a letter or digit.
bool is_name(std::string_view text) {
  const auto leads = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto accepted = [&leads](char c) { return leads(c) || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= kCharterNameBytesMax && leads(text.front()) &&
         std::all_of(text.begin(), text.end(), accepted);
}

void check_name(MapReader& reader, Mark mark, std::string_view key, std::string_view text) {
  if (is_name(text)) return;
  reader.fault(mark, quoted(text) + " is not a " + std::string(key),
               "lower case letters, digits, '_' and '-', at most " +
                   std::to_string(kCharterNameBytesMax) + ", the first a letter or digit");
}

void check_bytes(MapReader& reader, const Node* at, std::string_view key, std::size_t bytes_max) {
  if (at == nullptr || at->text().size() <= bytes_max) return;
  reader.fault(at->mark(), quoted(key) + " has " + std::to_string(at->text().size()) +
                               " bytes and may have " + std::to_string(bytes_max));
}

// A key that may stand at the top or in the node, but not in both.
void take_once(MapReader& reader, std::string_view key, const Node*& out) {
  const Node* node = reader.take(key);
  if (node == nullptr) return;
  if (out != nullptr) {
    return reader.fault(node->mark(), quoted(key) + " stands at the top and in the node",
                        "keep one of them");
  }
  out = node;
}

void read_node(const Node& node, std::vector<Fault>& faults, Sheet& sheet) {
  MapReader reader(node, faults, "nodes." + sheet.charter.node);
  refuse_later(reader, node, kLaterInNode);
  take_once(reader, "instructions", sheet.instructions);
  take_once(reader, "model", sheet.model);
  take_once(reader, "output", sheet.output);
  read_sampling(reader, sheet.charter.sampling);  // what the charter says of all its nodes is read
  keep_listed(reader, "tools", sheet.tools);
  reader.finish();
}

void check_start(MapReader& reader, const Node& nodes, const Node* start) {
  if (start == nullptr) return;
  const auto text = start->as_string();
  if (text && nodes.find(*text) != nullptr) return;
  reader.fault(start->mark(), "\"start\" must name a node, found " + describe_kind(*start),
               nodes.members().empty() ? "" : "write " + nodes.members().front().key);
}

void read_nodes(MapReader& reader, std::vector<Fault>& faults, Sheet& sheet) {
  const Node* start = reader.take("start");
  const Node* present = reader.take("nodes");
  const Node* nodes = reader.take_map("nodes");
  if (present == nullptr && start != nullptr) {
    reader.fault(start->mark(), "\"start\" needs \"nodes\"",
                 "leave both out: a charter of one node has its instructions at the top");
  }
  if (nodes == nullptr) return;
  check_start(reader, *nodes, start);
  if (nodes->members().empty()) {
    return reader.fault(nodes->mark(), "\"nodes\" must have a node");
  }
  if (nodes->members().size() > 1) {
    reader.fault(nodes->members()[1].key_mark,
                 "charters with several nodes are not part of this version", "keep one node");
  }
  const Member& node = nodes->members().front();
  check_name(reader, node.key_mark, "name of a node", node.key);
  sheet.charter.node = node.key;
  read_node(node.value, faults, sheet);
}

void read_head(MapReader& reader, const Node& root, Sheet& sheet) {
  Charter& charter = sheet.charter;
  if (reader.require_string("name", charter.name)) {
    check_name(reader, root.find("name")->mark(), "name of a charter", charter.name);
  }
  reader.take_string("description", charter.description);
  check_bytes(reader, root.find("description"), "description", kDescriptionBytesMax);
}

void read_sections(MapReader& reader, std::vector<Fault>& faults, Sheet& sheet) {
  Charter& charter = sheet.charter;
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
    sheet.tools = read_tools(*node, faults, permissions);
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

void read_model(MapReader& reader, std::vector<Fault>& faults, Sheet& sheet) {
  read_charter_models(reader, sheet.model, faults, sheet.charter);
  if (const Node* node = reader.take("providers")) {
    sheet.charter.providers = read_providers(*node, faults);
  }
  read_conversation(reader, faults, sheet.charter);
  if (sheet.output != nullptr) read_output(*sheet.output, faults, sheet.charter.output_schema);
}

void read_instructions(MapReader& reader, const Node& root, Sheet& sheet) {
  const Node* node = sheet.instructions;
  if (node == nullptr) {
    return reader.fault(root.mark(), "\"instructions\" is missing",
                        "add instructions: with what the model is to do");
  }
  const auto text = node->as_string();
  if (!text || text->find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return reader.fault(node->mark(),
                        "\"instructions\" must be a text, found " + describe_kind(*node));
  }
  check_bytes(reader, node, "instructions", kInstructionsBytesMax);
  for (const std::string& name : variables_used(*text)) {
    if (sheet.charter.variables.contains(name)) continue;
    reader.fault(node->mark(),
                 "the instructions use the variable " + quoted(name) + ", which is not declared",
                 "add vars: { " + name + ": \"\" }");
  }
  sheet.charter.instructions = *text;
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
  Sheet sheet;
  refuse_later(reader, root, kLater);
  read_head(reader, root, sheet);
  sheet.instructions = reader.take("instructions");
  sheet.model = reader.take("model");
  sheet.output = reader.take("output");
  read_sections(reader, reading.faults, sheet);
  read_sampling(reader, sheet.charter.sampling);
  read_nodes(reader, reading.faults, sheet);
  read_model(reader, reading.faults, sheet);
  read_instructions(reader, root, sheet);
  reader.finish();
  in_document_order(reading.faults);
  if (!reading.faults.empty()) return reading;
  sheet.charter.commands = std::move(sheet.tools.commands);
  sheet.charter.common_tools = std::move(sheet.tools.common);
  sheet.charter.text = std::move(text);
  sheet.charter.directory = std::move(directory);
  reading.charter = std::move(sheet.charter);
  return reading;
}

}  // namespace pawl
