#include "pawl/base/schema_node.h"

namespace pawl::schema {
namespace {

// The nodes that a keyword always applies to the same value. What applies under a condition, or to
// a part of the value, cannot loop by itself or ends with the value.
struct SameValue {
  std::vector<NodeId>& nodes;

  void operator()(const Reference& keyword) const { nodes.push_back(keyword.node); }
  void operator()(const Not& keyword) const { nodes.push_back(keyword.node); }
  void operator()(const Conditional& keyword) const { nodes.push_back(keyword.condition); }
  void operator()(const AllOf& keyword) const { append(keyword.nodes); }
  void operator()(const AnyOf& keyword) const { append(keyword.nodes); }
  void operator()(const OneOf& keyword) const { append(keyword.nodes); }
  template <class T>
  void operator()(const T&) const {}

  void append(const std::vector<NodeId>& more) const {
    nodes.insert(nodes.end(), more.begin(), more.end());
  }
};

std::vector<NodeId> successors(const Node& node) {
  std::vector<NodeId> nodes;
  for (const Keyword& keyword : node.keywords) std::visit(SameValue{nodes}, keyword);
  return nodes;
}

enum class Mark : std::uint8_t { unseen, open, closed };

struct Visit {
  NodeId node;
  std::vector<NodeId> left;
};

// Depth first from `start`; meeting an open node again is a loop.
Status visit_from(const Compiled& compiled, NodeId start, std::vector<Mark>& marks) {
  std::vector<Visit> path = {{start, successors(compiled.nodes[start])}};
  marks[start] = Mark::open;
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.left.empty()) {
      marks[visit.node] = Mark::closed;
      path.pop_back();
      continue;
    }
    const NodeId next = visit.left.back();
    visit.left.pop_back();
    if (marks[next] == Mark::open) {
      return Error{ErrorCode::invalid_argument,
                   "schema at \"" + compiled.nodes[next].path + "\": refers to itself without end"};
    }
    if (marks[next] == Mark::closed) continue;
    marks[next] = Mark::open;
    path.push_back({next, successors(compiled.nodes[next])});
  }
  return ok();
}

}  // namespace

Status check_loops(const Compiled& compiled) {
  std::vector<Mark> marks(compiled.nodes.size(), Mark::unseen);
  for (NodeId node = 0; node < compiled.nodes.size(); ++node) {
    if (marks[node] == Mark::unseen) PAWL_CHECK(visit_from(compiled, node, marks));
  }
  return ok();
}

}  // namespace pawl::schema
