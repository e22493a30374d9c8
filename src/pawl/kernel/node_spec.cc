#include "pawl/kernel/node_spec.h"

#include <algorithm>
#include <array>
#include <map>

namespace pawl {
namespace {

constexpr std::array<std::string_view, 2> kNodeKinds = {"primary", "worker"};
constexpr std::array<std::string_view, 3> kContexts = {"keep", "fresh", "summary"};
constexpr std::array<std::string_view, 2> kWhens = {"called", "end_turn"};
constexpr std::array<std::string_view, 3> kOnEnds = {"wait", "cancel", "detach"};
constexpr std::array<std::string_view, 2> kStarts = {"on_call", "with_node"};
constexpr std::array<std::string_view, 2> kOwners = {"run", "external"};
constexpr std::array<std::string_view, 3> kScopes = {"charter", "node", "pack"};

template <class E, std::size_t N>
Result<E> parse(std::string_view what, std::string_view text,
                const std::array<std::string_view, N>& names) {
  static_assert(N == kCount<E>);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<E>(found - names.begin());
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    list += i == 0 ? "" : i + 1 == N ? " or " : ", ";
    list += names[i];
  }
  return Error{ErrorCode::invalid_argument,
               std::string(what) + " is " + list + ", not '" + std::string(text) + "'"};
}

template <class Item>
const Item* find_sorted(const std::vector<Item>& items, std::string_view name) {
  const auto found = std::lower_bound(
      items.begin(), items.end(), name,
      [](const Item& item, std::string_view wanted) { return item.name < wanted; });
  return found == items.end() || found->name != name ? nullptr : &*found;
}

template <class Item>
const Item* find_named(const std::vector<Item>& items, std::string_view name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [name](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

template <class Item>
bool ascends(const std::vector<Item>& items) {
  return std::adjacent_find(items.begin(), items.end(), [](const Item& a, const Item& b) {
           return a.name >= b.name;
         }) == items.end();
}

// Looks for faults of one node among all.
class NodeCheck {
 public:
  NodeCheck(const std::vector<NodeSpec>& nodes, const std::vector<PackSpec>& packs,
            std::size_t targets)
      : nodes_(nodes), packs_(packs), targets_(targets) {}

  std::string fault_of(const NodeSpec& node) const {
    if (is_too_long(node)) return "one of its lists is too long";
    std::string fault = fault_in_state(node.state);
    for (const NextSpec& next : node.next) {
      if (find_node(nodes_, next.to) == nullptr) fault = "next leads to no node " + next.to;
    }
    for (const ChildSpec& one : node.workers) {
      if (!is(one, NodeKind::worker)) fault = one.node + " is no node with worker: true";
    }
    std::size_t with_node = 0;
    for (const ChildSpec& one : node.children) {
      if (!is(one, NodeKind::primary)) fault = one.node + " is no node of a primary child";
      with_node += one.start == ChildStart::with_node ? 1U : 0U;
    }
    if (with_node > 1) fault = "more than one child starts with it";
    if (node.kind == NodeKind::worker && !node.children.empty()) fault = "a worker has no children";
    for (const std::string& pack : node.packs) {
      if (find_pack(packs_, pack) == nullptr) fault = "there is no pack " + pack;
    }
    for (const std::uint32_t target : node.targets) {
      if (target >= targets_) fault = "it is asked of a model that the run does not have";
    }
    return fault;
  }

  static std::string fault_in_state(const std::optional<StateSpec>& state) {
    if (!state) return "";
    const bool fits =
        state->schema.size() <= kSchemaBytesMax && state->initial.size() <= kStateBytesMax;
    return fits ? "" : "its state or the schema of it is too long";
  }

 private:
  static bool is_too_long(const NodeSpec& node) {
    const std::size_t tools = node.tools ? node.tools->size() : 0;
    const std::size_t most = std::max({node.targets.size(), tools, node.next.size(),
                                       node.workers.size() + node.children.size(),
                                       node.commands.size(), node.packs.size()});
    return most > kNodeEntriesMax;
  }

  bool is(const ChildSpec& child, NodeKind kind) const {
    const NodeSpec* node = find_node(nodes_, child.node);
    return node != nullptr && node->kind == kind;
  }

  const std::vector<NodeSpec>& nodes_;
  const std::vector<PackSpec>& packs_;
  std::size_t targets_;
};

// A node that starts itself with itself would never be there as a whole.
class StartCycle {
 public:
  explicit StartCycle(const std::vector<NodeSpec>& nodes) : nodes_(nodes) {}

  // The node that a way leads back to; nullptr: none.
  const NodeSpec* find() {
    for (const NodeSpec& node : nodes_) {
      if (const NodeSpec* found = walk(node)) return found;
    }
    return nullptr;
  }

 private:
  enum class Seen : std::uint8_t { no, on_the_way, whole };
  struct Place {
    const NodeSpec* node;
    std::size_t next = 0;
  };

  static const ChildSpec* started(const NodeSpec& node, std::size_t index) {
    std::size_t at = 0;
    for (const auto* list : {&node.workers, &node.children}) {
      for (const ChildSpec& child : *list) {
        if (child.start == ChildStart::with_node && at++ == index) return &child;
      }
    }
    return nullptr;
  }

  const NodeSpec* walk(const NodeSpec& from) {
    std::vector<Place> way = {{&from}};
    while (!way.empty()) {
      Place& place = way.back();
      Seen& seen = seen_[place.node];
      if (seen == Seen::whole) {
        way.pop_back();
        continue;
      }
      if (seen == Seen::on_the_way && place.next == 0) return place.node;
      seen = Seen::on_the_way;
      const ChildSpec* child = started(*place.node, place.next++);
      if (child == nullptr) {
        seen = Seen::whole;
        way.pop_back();
      } else if (const NodeSpec* node = find_node(nodes_, child->node)) {
        way.push_back({node});
      }
    }
    return nullptr;
  }

  const std::vector<NodeSpec>& nodes_;
  std::map<const NodeSpec*, Seen> seen_;
};

}  // namespace

const NodeSpec* find_node(const std::vector<NodeSpec>& nodes, std::string_view name) {
  return find_sorted(nodes, name);
}

const PackSpec* find_pack(const std::vector<PackSpec>& packs, std::string_view name) {
  return find_sorted(packs, name);
}

const NextSpec* find_next(const NodeSpec& node, std::string_view name) {
  return find_named(node.next, name);
}

const ChildSpec* find_child(const NodeSpec& node, std::string_view name) {
  const ChildSpec* worker = find_named(node.workers, name);
  return worker != nullptr ? worker : find_named(node.children, name);
}

const NodeCommand* find_command(const NodeSpec& node, std::string_view name) {
  return find_named(node.commands, name);
}

const NextSpec* next_at_end(const NodeSpec& node) {
  for (const NextSpec& next : node.next) {
    if (next.when == NextWhen::end_turn) return &next;
  }
  return nullptr;
}

bool is_reserved_tool(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames = {"update_state", "cede", "suspend",
                                                             "run_subagent", "discover_step"};
  static constexpr std::array<std::string_view, 4> kPrefixes = {"transition_", "spawn_", "agent__",
                                                                "work_item_"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string fault_of(const std::vector<NodeSpec>& nodes, const std::vector<PackSpec>& packs,
                     std::string_view start, std::size_t targets) {
  if (nodes.empty()) return packs.empty() ? "" : "packs without nodes";
  if (nodes.size() > kNodesMax || packs.size() > kPacksMax) return "too many nodes or packs";
  if (!ascends(nodes) || !ascends(packs)) {
    return "nodes and packs are not in the order of their names";
  }
  if (!start.empty() && find_node(nodes, start) == nullptr)
    return "it starts at no node of its own";
  const NodeCheck check(nodes, packs, targets);
  for (const NodeSpec& node : nodes) {
    const std::string fault = check.fault_of(node);
    if (!fault.empty()) return "node " + node.name + ": " + fault;
  }
  for (const PackSpec& pack : packs) {
    const std::string fault = NodeCheck::fault_in_state(pack.state);
    if (!fault.empty()) return "pack " + pack.name + ": " + fault;
  }
  const NodeSpec* circle = StartCycle(nodes).find();
  return circle == nullptr ? "" : "node " + circle->name + " starts itself with itself";
}

std::string_view name(NodeKind value) {
  return kNodeKinds[static_cast<std::size_t>(value)];
}

std::string_view name(NextContext value) {
  return kContexts[static_cast<std::size_t>(value)];
}

std::string_view name(NextWhen value) {
  return kWhens[static_cast<std::size_t>(value)];
}

std::string_view name(WorkersOnEnd value) {
  return kOnEnds[static_cast<std::size_t>(value)];
}

std::string_view name(ChildStart value) {
  return kStarts[static_cast<std::size_t>(value)];
}

std::string_view name(StateOwner value) {
  return kOwners[static_cast<std::size_t>(value)];
}

std::string_view name(ToolScope value) {
  return kScopes[static_cast<std::size_t>(value)];
}

Result<NextContext> parse_next_context(std::string_view text) {
  return parse<NextContext>("context", text, kContexts);
}

Result<NextWhen> parse_next_when(std::string_view text) {
  return parse<NextWhen>("when", text, kWhens);
}

Result<WorkersOnEnd> parse_workers_on_end(std::string_view text) {
  return parse<WorkersOnEnd>("workers_on_end", text, kOnEnds);
}

Result<ChildStart> parse_child_start(std::string_view text) {
  return parse<ChildStart>("start", text, kStarts);
}

Result<StateOwner> parse_state_owner(std::string_view text) {
  return parse<StateOwner>("owner", text, kOwners);
}

}  // namespace pawl
