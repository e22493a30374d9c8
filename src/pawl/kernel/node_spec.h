// What a run keeps of a charter with several nodes: all that the kernel decides by. It is pinned in
// RunStarted, and whatever happens to the charter's file changes nothing about the run. What only a
// request needs (instructions, sampling, output schema) is read from the pinned charter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/ids.h"
#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

inline constexpr std::size_t kNodesMax = 1024;
inline constexpr std::size_t kPacksMax = 256;
inline constexpr std::size_t kNodeEntriesMax = 256;          // of each list of a node
inline constexpr std::size_t kStateBytesMax = 64U << 10U;    // JSON
inline constexpr std::size_t kSchemaBytesMax = 256U << 10U;  // JSON
inline constexpr std::uint32_t kDepthMax = 100;              // ancestors of an instance

// A state is a JSON value.
struct StateSpec {
  std::string schema = {};   // JSON Schema; empty: any value
  std::string initial = {};  // JSON; empty: there is none
  StateOwner owner = StateOwner::run;

  PAWL_FACT(StateSpec, "state_spec", PAWL_FIELD(schema) PAWL_FIELD(initial) PAWL_FIELD(owner));
};

struct NextSpec {
  std::string name;
  std::string to;
  std::string description = {};
  NextContext context = NextContext::keep;
  NextWhen when = NextWhen::called;
  std::string state = {};  // JSON, of the node it leads to; empty: not said

  PAWL_FACT(NextSpec, "next_spec",
            PAWL_FIELD(name) PAWL_FIELD(to) PAWL_FIELD(description) PAWL_FIELD(context)
                PAWL_FIELD(when) PAWL_FIELD(state));
};

// A worker or a primary child, by the list that it stands in.
struct ChildSpec {
  std::string name;
  std::string node;
  ChildStart start = ChildStart::on_call;
  std::string description = {};
  std::string input = {};  // with_node: what it is told; empty: what its parent was told

  PAWL_FACT(ChildSpec, "child_spec",
            PAWL_FIELD(name) PAWL_FIELD(node) PAWL_FIELD(start) PAWL_FIELD(description)
                PAWL_FIELD(input));
};

struct NodeCommand {
  std::string name;
  std::string description = {};
  std::string input_schema = {};  // JSON Schema; empty: any value
  std::string actions = {};  // JSON, the list under `do`; empty: the host has a function for it

  PAWL_FACT(NodeCommand, "node_command",
            PAWL_FIELD(name) PAWL_FIELD(description) PAWL_FIELD(input_schema) PAWL_FIELD(actions));
};

// Steps that an instance of a flow finds while it works, carried out behind its phase.
struct DiscoverSpec {
  std::vector<std::string> nodes;  // that they may enter
  std::uint32_t max = 50;          // of a phase
  std::uint32_t depth = 5;         // 1: found by the phase's own instance

  PAWL_FACT(DiscoverSpec, "discover_spec", PAWL_FIELD(nodes) PAWL_FIELD(max) PAWL_FIELD(depth));
};

struct NodeSpec {
  std::string name;
  NodeKind kind = NodeKind::primary;
  Digest definition = {};  // of all that the charter says of the node
  // The models it is asked of, in order: places in the run's list of targets; empty: the first of
  // that list and all behind it.
  std::vector<std::uint32_t> targets = {};
  std::uint64_t base_tokens = 0;    // of instructions and tools, by estimate
  std::uint64_t output_tokens = 0;  // that a reply may have; 0: as the model says
  std::uint64_t steps = 0;          // that an instance may take in it; 0: as many as the run may
  std::optional<CompactionPolicy> compaction = {};     // the run's
  std::optional<std::vector<std::string>> tools = {};  // of those in scope; nullopt: all
  std::optional<StateSpec> state = {};
  std::vector<NextSpec> next = {};
  std::vector<ChildSpec> workers = {};
  std::vector<ChildSpec> children = {};
  WorkersOnEnd workers_on_end = WorkersOnEnd::wait;
  std::vector<NodeCommand> commands = {};
  std::vector<std::string> packs = {};
  std::optional<DiscoverSpec> discover = {};
  std::string output_schema = {};  // JSON Schema of its answer; empty: it is text

  PAWL_FACT(NodeSpec, "node_spec",
            PAWL_FIELD(name) PAWL_FIELD(kind) PAWL_FIELD(definition) PAWL_FIELD(targets)
                PAWL_FIELD(base_tokens) PAWL_FIELD(output_tokens) PAWL_FIELD(steps)
                    PAWL_FIELD(compaction) PAWL_FIELD(tools) PAWL_FIELD(state) PAWL_FIELD(next)
                        PAWL_FIELD(workers) PAWL_FIELD(children) PAWL_FIELD(workers_on_end)
                            PAWL_FIELD(commands) PAWL_FIELD(packs) PAWL_FIELD(discover)
                                PAWL_FIELD(output_schema));
};

// Tools and a state that primary instances of several nodes share.
struct PackSpec {
  std::string name;
  std::vector<std::string> tools = {};  // of the charter's: in scope only where the pack is
  std::optional<StateSpec> state = {};

  PAWL_FACT(PackSpec, "pack_spec", PAWL_FIELD(name) PAWL_FIELD(tools) PAWL_FIELD(state));
};

// nullptr: there is none. The lists of nodes and packs are in the order of their names.
const NodeSpec* find_node(const std::vector<NodeSpec>& nodes, std::string_view name);
const PackSpec* find_pack(const std::vector<PackSpec>& packs, std::string_view name);
const NextSpec* find_next(const NodeSpec& node, std::string_view name);
// Among its workers and its children.
const ChildSpec* find_child(const NodeSpec& node, std::string_view name);
const NodeCommand* find_command(const NodeSpec& node, std::string_view name);
// The first that is taken when a turn ends; nullptr: the turn ends.
const NextSpec* next_at_end(const NodeSpec& node);

// Names of tools that the kernel answers itself, and that no other tool may have.
bool is_reserved_tool(std::string_view name);

// What of the lists cannot be: an order, a name that leads nowhere, a child of the wrong kind, more
// of something than there may be. Empty: nothing.
std::string fault_of(const std::vector<NodeSpec>& nodes, const std::vector<PackSpec>& packs,
                     std::string_view start, std::size_t targets);

template <>
inline constexpr std::uint8_t kCount<NodeKind> = 2;
template <>
inline constexpr std::uint8_t kCount<NextContext> = 3;
template <>
inline constexpr std::uint8_t kCount<NextWhen> = 2;
template <>
inline constexpr std::uint8_t kCount<WorkersOnEnd> = 3;
template <>
inline constexpr std::uint8_t kCount<ChildStart> = 2;
template <>
inline constexpr std::uint8_t kCount<StateOwner> = 2;
template <>
inline constexpr std::uint8_t kCount<ToolScope> = 3;

std::string_view name(NodeKind value);
std::string_view name(NextContext value);
std::string_view name(NextWhen value);
std::string_view name(WorkersOnEnd value);
std::string_view name(ChildStart value);
std::string_view name(StateOwner value);
std::string_view name(ToolScope value);
Result<NextContext> parse_next_context(std::string_view text);
Result<NextWhen> parse_next_when(std::string_view text);
Result<WorkersOnEnd> parse_workers_on_end(std::string_view text);
Result<ChildStart> parse_child_start(std::string_view text);
Result<StateOwner> parse_state_owner(std::string_view text);

}  // namespace pawl
