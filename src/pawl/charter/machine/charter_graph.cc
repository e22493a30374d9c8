// The nodes of a charter as a graph: which of them an instance can come to, and how.
#include <algorithm>
#include <unordered_map>

#include "pawl/charter/machine/machine_reading.h"

namespace pawl {
namespace {

using Index = std::unordered_map<std::string_view, std::size_t>;

class NodeGraph {
 public:
  explicit NodeGraph(const std::vector<CharterNode>& nodes) : nodes_(nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) index_.emplace(nodes[i].spec.name, i);
  }

  enum class Follow : std::uint8_t { everything, transitions };

  // Those that can be come to from `starts`, which count.
  std::vector<bool> reached(const std::vector<std::string>& starts, Follow follow) const {
    std::vector<bool> seen(nodes_.size(), false);
    std::vector<std::size_t> way;
    const auto visit = [&](const std::string& name) {
      const auto found = index_.find(name);
      if (found == index_.end() || seen[found->second]) return;
      seen[found->second] = true;
      way.push_back(found->second);
    };
    for (const std::string& start : starts) visit(start);
    while (!way.empty()) {
      const NodeSpec& node = nodes_[way.back()].spec;
      way.pop_back();
      for (const NextSpec& next : node.next) visit(next.to);
      if (follow == Follow::transitions) continue;
      for (const std::string& child : children_of(node)) visit(child);
    }
    return seen;
  }

  // Nodes of instances that have a parent.
  std::vector<std::string> below() const {
    std::vector<std::string> names;
    for (const CharterNode& node : nodes_) {
      for (std::string& child : children_of(node.spec)) names.push_back(std::move(child));
    }
    return names;
  }

  // A node that starts itself, by way of the children that start with their nodes; or none.
  const CharterNode* starts_itself() const {
    std::vector<std::uint8_t> state(nodes_.size(), 0);  // 1: on the way, 2: done
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      std::vector<std::pair<std::size_t, std::size_t>> way = {{i, 0}};
      while (!way.empty()) {
        auto& [at, next] = way.back();
        if (state[at] == 2 || (next == 0 && state[at] == 1)) {
          if (state[at] == 1) return &nodes_[at];
          way.pop_back();
          continue;
        }
        state[at] = 1;
        const std::vector<std::size_t> started = started_with(nodes_[at].spec);
        if (next == started.size()) {
          state[at] = 2;
          way.pop_back();
        } else {
          way.emplace_back(started[next++], 0);
        }
      }
    }
    return nullptr;
  }

 private:
  static std::vector<std::string> children_of(const NodeSpec& node) {
    std::vector<std::string> names;
    for (const auto* list : {&node.workers, &node.children}) {
      for (const ChildSpec& child : *list) names.push_back(child.node);
    }
    if (node.discover) {
      names.insert(names.end(), node.discover->nodes.begin(), node.discover->nodes.end());
    }
    return names;
  }

  std::vector<std::size_t> started_with(const NodeSpec& node) const {
    std::vector<std::size_t> places;
    for (const auto* list : {&node.workers, &node.children}) {
      for (const ChildSpec& child : *list) {
        const auto found = index_.find(child.node);
        const bool with_node = child.start == ChildStart::with_node;
        if (with_node && found != index_.end()) places.push_back(found->second);
      }
    }
    return places;
  }

  const std::vector<CharterNode>& nodes_;
  Index index_;
};

const Node* under(const Node& nodes, const std::string& node, std::string_view key) {
  const Node* found = nodes.find(node);
  return found == nullptr ? nullptr : found->find(key);
}

}  // namespace

void check_graph(const Node& nodes, const std::vector<std::string>& starts,
                 MachineReading& reading) {
  const std::vector<CharterNode>& all = reading.machine().nodes;
  const NodeGraph graph(all);
  const auto fault = [&](const CharterNode& node, Mark mark, const std::string& message,
                         std::string remedy) {
    add_fault(reading.faults,
              {mark, "nodes." + node.spec.name + ": " + message, std::move(remedy)});
  };
  const std::vector<bool> reached = graph.reached(starts, NodeGraph::Follow::everything);
  std::vector<std::string> below = graph.below();
  if (!reading.machine().phases.empty()) below.insert(below.end(), starts.begin(), starts.end());
  const std::vector<bool> inner = graph.reached(below, NodeGraph::Follow::transitions);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const CharterNode& node = all[i];
    if (!reached[i] && !starts.empty()) {
      fault(node, node.mark, "nothing leads to this node",
            "name it in a next, workers or children of a node that is used, or remove it");
    }
    if (inner[i] && node.spec.workers_on_end == WorkersOnEnd::detach) {
      const Node* value = under(nodes, node.spec.name, "workers_on_end");
      fault(node, value == nullptr ? node.mark : value->mark(),
            "workers_on_end: detach is for the root instance, and this node is also a child's",
            "write wait or cancel");
    }
  }
  if (const CharterNode* circle = graph.starts_itself()) {
    fault(*circle, circle->mark,
          "this node starts itself: its children with start: with_node lead "
          "back to it",
          "let one of them start on_call");
  }
}

}  // namespace pawl
