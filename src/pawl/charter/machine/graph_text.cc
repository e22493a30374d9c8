#include "pawl/charter/machine/graph_text.h"

#include <algorithm>
#include <vector>

namespace pawl {
namespace {

// What leads from a node to another.
struct Way {
  std::string kind;
  std::string name;
  std::string to;
  std::string remark;  // may be empty
};

std::vector<Way> ways_from(const NodeSpec& node) {
  std::vector<Way> ways;
  for (const NextSpec& next : node.next) {
    std::string remark = next.when == NextWhen::end_turn ? "when the turn ends" : "";
    if (next.context != NextContext::keep) {
      remark += (remark.empty() ? "" : ", ") + std::string(name(next.context));
    }
    ways.push_back({"transition", next.name, next.to, std::move(remark)});
  }
  for (const auto& [kind, list] :
       {std::pair("worker", &node.workers), std::pair("child", &node.children)}) {
    for (const ChildSpec& child : *list) {
      const bool with_node = child.start == ChildStart::with_node;
      ways.push_back({kind, child.name, child.node, with_node ? "starts with the node" : ""});
    }
  }
  if (!node.discover) return ways;
  for (const std::string& to : node.discover->nodes) ways.push_back({"discovers", "", to, ""});
  return ways;
}

// The start first, the others in the order of their names.
std::vector<const CharterNode*> nodes_in_order(const Charter& charter) {
  std::vector<const CharterNode*> nodes;
  for (const CharterNode& node : charter.machine.nodes) nodes.push_back(&node);
  std::ranges::stable_partition(
      nodes, [&](const CharterNode* node) { return node->spec.name == charter.node; });
  return nodes;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& one : names) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string work_of(const PhaseSpec& phase) {
  if (!phase.node.empty()) return "node " + phase.node;
  if (!phase.agent.empty()) return "agent " + phase.agent;
  if (phase.await) return "await " + phase.await->event;
  return "checkpoint";
}

void add_nodes(const Charter& charter, std::string& out) {
  for (const CharterNode* node : nodes_in_order(charter)) {
    const NodeSpec& spec = node->spec;
    out += "node " + spec.name;
    if (spec.kind == NodeKind::worker) out += " (worker)";
    if (spec.name == charter.node) out += " (start)";
    out += '\n';
    for (const Way& way : ways_from(spec)) {
      out += "  " + way.kind + (way.name.empty() ? "" : " " + way.name) + " -> " + way.to;
      out += way.remark.empty() ? "\n" : " (" + way.remark + ")\n";
    }
    if (!spec.packs.empty()) out += "  packs " + listed(spec.packs) + "\n";
    for (const NodeCommand& command : spec.commands) out += "  command " + command.name + "\n";
  }
}

void add_phases(const CharterMachine& machine, std::string& out) {
  for (const PhaseSpec& phase : machine.phases) {
    out += "phase " + phase.name + ": " + work_of(phase);
    if (phase.map) out += " for each of " + phase.map->over;
    if (!phase.after.empty()) out += ", after " + listed(phase.after);
    if (phase.need == PhaseNeed::optional) out += " (optional)";
    out += '\n';
  }
}

// A string of the language of Graphviz. Names have no other characters that it minds; questions
// and files may.
std::string dot_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

void add_edge(const std::string& from, const std::string& to, const std::string& attributes,
              std::string& out) {
  out += "  " + dot_string(from) + " -> " + dot_string(to);
  out += attributes.empty() ? ";\n" : " [" + attributes + "];\n";
}

void add_dot_nodes(const Charter& charter, std::string& out) {
  for (const CharterNode* node : nodes_in_order(charter)) {
    const NodeSpec& spec = node->spec;
    const char* shape = spec.kind == NodeKind::worker ? "ellipse" : "box";
    out += "  " + dot_string(spec.name) + " [shape=" + shape;
    out += spec.name == charter.node ? ", peripheries=2];\n" : "];\n";
    for (const Way& way : ways_from(spec)) {
      const std::string label = "label=" + dot_string(way.name.empty() ? way.kind : way.name);
      const bool moves = way.kind == "transition";
      add_edge(spec.name, way.to, moves ? label : label + ", style=dashed", out);
    }
  }
}

void add_dot_phases(const CharterMachine& machine, std::string& out) {
  for (const PhaseSpec& phase : machine.phases) {
    const std::string id = "phase " + phase.name;
    out += "  " + dot_string(id) +
           " [shape=component, label=" + dot_string(phase.name + ": " + work_of(phase)) + "];\n";
    for (const std::string& before : phase.after) add_edge("phase " + before, id, "", out);
    if (!phase.node.empty()) add_edge(id, phase.node, "style=dotted", out);
    if (!phase.agent.empty()) add_edge(id, "agent " + phase.agent, "style=dotted", out);
  }
}

}  // namespace

std::string graph_text(const Charter& charter) {
  const CharterMachine& machine = charter.machine;
  std::string out = "charter " + charter.name + "\n";
  if (machine.nodes.empty() && machine.phases.empty()) out += "node " + charter.node + " (start)\n";
  add_nodes(charter, out);
  add_phases(machine, out);
  for (const CharterAgent& agent : machine.agents) {
    out += "agent " + agent.name + ": " + (agent.file.empty() ? "in place" : agent.file) + "\n";
  }
  if (machine.gate) out += "gate " + std::to_string(machine.gate->blocks) + "\n";
  return out;
}

std::string graph_dot(const Charter& charter) {
  const CharterMachine& machine = charter.machine;
  std::string out = "digraph " + dot_string(charter.name) + " {\n  rankdir=LR;\n";
  if (machine.nodes.empty() && machine.phases.empty()) {
    out += "  " + dot_string(charter.node) + " [shape=box, peripheries=2];\n";
  }
  add_dot_nodes(charter, out);
  add_dot_phases(machine, out);
  for (const CharterAgent& agent : machine.agents) {
    out += "  " + dot_string("agent " + agent.name) + " [shape=folder];\n";
  }
  return out + "}\n";
}

}  // namespace pawl
