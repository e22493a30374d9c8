#include "pawl/service/run_tree.h"

#include <algorithm>
#include <map>

#include "pawl/journal/run_loader.h"
#include "pawl/json.h"
#include "pawl/kernel/flow_values.h"
#include "pawl/service/service.h"

namespace pawl {
namespace {

// What of the run's books a record adds to its instance.
struct Books {
  std::uint64_t tokens = 0;
  std::uint64_t cost_pico = 0;
};

Books books_of(const RunState& state) {
  return {total_tokens(state.tally.usage), state.tally.cost_pico};
}

// Steps that were discovered stand behind their phase.
std::vector<TreePhase> phases_of(const FlowState& flow) {
  std::vector<TreePhase> phases;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    const PhaseRun& run = flow.runs[i];
    const std::string& name = flow.specs[i].name;
    phases.push_back({name, std::string(pawl::name(run.status)), output_json(flow, i), run.why});
    for (std::size_t n = 0; n < run.found.size(); ++n) {
      phases.push_back({name + "/" + std::to_string(n + 1),
                        std::string(pawl::name(run.found[n].status)), run.found[n].output, ""});
    }
  }
  return phases;
}

// Follows a journal, and keeps what is known of each instance when it was seen last.
class TreeReader {
 public:
  void take(const Record& record, const RunState& state) {
    for (const Decision& decision : record.decisions) {
      if (const auto* step = std::get_if<StepBegan>(&decision)) ++all_[step->instance].steps;
      const auto* child = std::get_if<ChildAdmitted>(&decision);
      if (child != nullptr) children_[child->call] = {child->run.text, child->call, child->agent};
    }
    const Books now = books_of(state);
    TreeInstance& about = all_[record.instance];
    about.tokens += now.tokens - std::min(now.tokens, before_.tokens);
    about.cost_pico += now.cost_pico - std::min(now.cost_pico, before_.cost_pico);
    before_ = now;
    for (const Instance& one : state.instances) note(one);
  }

  RunTree tree(const RunState& state) const {
    RunTree tree;
    tree.currency = state.prices.currency;
    const bool over = std::holds_alternative<Finished>(state.life);
    for (const auto& [id, one] : all_) {
      const Instance* now = find_instance(state, id);
      if (over || (now != nullptr && is_live(*now))) tree.instances.push_back(one);
    }
    for (const auto& [call, child] : children_) tree.children.push_back(child);
    tree.phases = phases_of(state.flow);
    tree.work_items = state.work.items;
    return tree;
  }

 private:
  void note(const Instance& one) {
    TreeInstance& known = all_[one.id];
    known.id = one.id;
    if (one.id != kRootInstance) known.parent = one.parent;
    known.phase = std::visit([](const auto& phase) { return std::string(phase.kName); }, one.phase);
    if (!is_live(one)) return;  // What it had last is kept.
    known.node = one.node;
    known.worker = one.kind == NodeKind::worker;
    known.state = one.state;
    const Suspended* suspended = std::get_if<Suspended>(&one.phase);
    known.suspend_id = suspended == nullptr ? "" : suspended->suspend_id;
  }

  std::map<InstanceId, TreeInstance> all_;
  std::map<CallId, TreeChild> children_;
  Books before_;
};

void put_instance(JsonWriter& json, const TreeInstance& one) {
  json.begin_object().field("id", to_string(one.id));
  json.key("parent");
  one.parent ? json.string(to_string(*one.parent)) : json.null();
  json.key("node");
  one.node.empty() ? json.null() : json.string(one.node);
  json.field("worker", one.worker).field("phase", one.phase);
  json.key("state");
  one.state.empty() ? json.null() : json.raw(one.state);
  json.key("suspend_id");
  one.suspend_id.empty() ? json.null() : json.string(one.suspend_id);
  json.end_object();
}

void put_phase(JsonWriter& json, const TreePhase& one) {
  json.begin_object().field("name", one.name).field("status", one.status).key("output");
  one.output.empty() ? json.null() : json.raw(one.output);
  json.end_object();
}

void put_child(JsonWriter& json, const TreeChild& one) {
  json.begin_object().field("run", one.run).field("call", to_string(one.call));
  json.field("agent", one.agent).field("status", one.status).end_object();
}

void put_work_item(JsonWriter& json, const WorkItem& one) {
  json.begin_object().field("id", one.id).field("title", one.title);
  json.field("status", name(one.status)).key("reason");
  one.reason.empty() ? json.null() : json.string(one.reason);
  json.end_object();
}

std::string in_a_line(std::string text) {
  constexpr std::size_t kShownMax = 120;
  if (text.size() <= kShownMax) return text;
  std::size_t end = kShownMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

void put_flow(std::string& text, const RunTree& tree) {
  for (const TreePhase& one : tree.phases) {
    text += "phase " + one.name + "  " + one.status;
    if (!one.why.empty()) text += "  " + in_a_line(one.why);
    const bool silent = one.output.empty() || one.output == "null";
    if (one.why.empty() && !silent) text += "  " + in_a_line(one.output);
    text += "\n";
  }
  for (const WorkItem& one : tree.work_items) {
    text += one.id + "  " + std::string(name(one.status)) + "  " + in_a_line(one.title);
    text += one.reason.empty() ? "\n" : "  (" + in_a_line(one.reason) + ")\n";
  }
}

void put_line(std::string& text, const RunTree& tree, const TreeInstance& one, std::size_t indent) {
  text += std::string(indent * 2, ' ') + to_string(one.id) + " " +
          (one.node.empty() ? "(flow)" : one.node);
  if (one.worker) text += " (worker)";
  text += "  " + one.phase;
  if (!one.suspend_id.empty()) text += " " + one.suspend_id;
  text += "  " + std::to_string(one.steps) + " steps, " + std::to_string(one.tokens) + " tokens, " +
          format_money(one.cost_pico, tree.currency) + "\n";
}

}  // namespace

Result<RunTree> Service::tree(const RunId& run) const {
  TreeReader reader;
  JournalWalker walker(*engine_.store().reader, run);
  PAWL_CHECK(walker.walk([&reader](const Record& record, const Run& after) {
    reader.take(record, after.state());
    return true;
  }));
  RunTree tree = reader.tree(walker.loaded().run.state());
  for (TreeChild& child : tree.children) {
    const auto summary = summary_of(RunId{child.run});
    child.status = summary ? summary->status : "unknown";  // removed, or not begun yet
  }
  return tree;
}

std::string tree_json(const std::string& run, const RunTree& tree) {
  JsonWriter json;
  json.begin_object().field("run", run).key("instances").begin_array();
  for (const TreeInstance& one : tree.instances) put_instance(json, one);
  json.end_array().key("phases").begin_array();
  for (const TreePhase& one : tree.phases) put_phase(json, one);
  json.end_array().key("children").begin_array();
  for (const TreeChild& child : tree.children) put_child(json, child);
  json.end_array().key("work_items").begin_array();
  for (const WorkItem& one : tree.work_items) put_work_item(json, one);
  json.end_array();
  return json.end_object().take();
}

// Depth first, from the root: parents have smaller numbers than their children.
std::string tree_text(const RunTree& tree) {
  std::map<InstanceId, std::vector<const TreeInstance*>> below;
  std::vector<std::pair<const TreeInstance*, std::size_t>> next;
  for (const TreeInstance& one : tree.instances) {
    if (one.parent) below[*one.parent].push_back(&one);
    if (!one.parent) next.emplace_back(&one, 0);
  }
  std::string text;
  while (!next.empty()) {
    const auto [one, indent] = next.back();
    next.pop_back();
    put_line(text, tree, *one, indent);
    std::vector<const TreeInstance*>& children = below[one->id];
    std::reverse(children.begin(), children.end());
    for (const TreeInstance* child : children) next.emplace_back(child, indent + 1);
  }
  for (const TreeChild& child : tree.children) {
    text += to_string(child.call) + " " + child.agent + "  run " + child.run + "  " + child.status +
            "\n";
  }
  put_flow(text, tree);
  return text;
}

}  // namespace pawl
