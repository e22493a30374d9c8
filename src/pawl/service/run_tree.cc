#include "pawl/service/run_tree.h"

#include <algorithm>
#include <map>

#include "pawl/journal/run_loader.h"
#include "pawl/json.h"
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
  json.field("node", one.node).field("worker", one.worker).field("phase", one.phase);
  json.key("state");
  one.state.empty() ? json.null() : json.raw(one.state);
  json.key("suspend_id");
  one.suspend_id.empty() ? json.null() : json.string(one.suspend_id);
  json.end_object();
}

void put_line(std::string& text, const RunTree& tree, const TreeInstance& one, std::size_t indent) {
  text += std::string(indent * 2, ' ') + to_string(one.id) + " " + one.node;
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
  json.end_array().key("phases").begin_array().end_array().key("children").begin_array();
  for (const TreeChild& child : tree.children) {
    json.begin_object().field("run", child.run).field("call", to_string(child.call));
    json.field("agent", child.agent).field("status", child.status).end_object();
  }
  json.end_array().key("work_items").begin_array().end_array();
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
  return text;
}

}  // namespace pawl
