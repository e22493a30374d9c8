// What a run keeps of a charter's flow: its phases and how they depend on each other. Pinned in
// RunStarted, as nodes are (node_spec.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/kernel/node_spec.h"
#include "pawl/words.h"

namespace pawl {

inline constexpr std::size_t kPhasesMax = 1024;
inline constexpr std::size_t kMapItemsMax = 1'000'000;

// A phase is carried out once for each item of a list.
struct MapSpec {
  std::string over;          // JSON Pointer to the list
  std::uint32_t max = 4;     // items at a time
  std::string per_key = {};  // JSON Pointer within an item; empty: items have no key
  std::uint32_t per_key_max = 1;
  std::uint32_t tolerate = 0;  // failed items that do not fail the phase

  PAWL_FACT(MapSpec, "map_spec",
            PAWL_FIELD(over) PAWL_FIELD(max) PAWL_FIELD(per_key) PAWL_FIELD(per_key_max)
                PAWL_FIELD(tolerate));
};

enum class Batch : std::uint8_t { one, all };  // of the events that wait

struct AwaitSpec {
  std::string event;
  Batch batch = Batch::one;
  std::uint64_t timeout_ms = 0;  // 0: none

  PAWL_FACT(AwaitSpec, "await_spec", PAWL_FIELD(event) PAWL_FIELD(batch) PAWL_FIELD(timeout_ms));
};

// The value at the pointer must be this one, or the phase is left out.
struct WhenSpec {
  std::string pointer;
  std::string value;  // JSON

  PAWL_FACT(WhenSpec, "when_spec", PAWL_FIELD(pointer) PAWL_FIELD(value));
};

enum class PhaseNeed : std::uint8_t { required, optional };

// What is carried out is exactly one of node, agent, checkpoint and await.
struct PhaseSpec {
  std::string name;
  std::string node = {};
  std::string agent = {};
  std::string checkpoint = {};  // the question
  std::optional<AwaitSpec> await = {};
  std::vector<std::string> after = {};
  std::vector<WhenSpec> when = {};
  std::string prompt = {};  // a template; empty: the input, or the outputs of `after`
  std::optional<MapSpec> map = {};
  PhaseNeed need = PhaseNeed::required;
  std::string fallback = {};  // JSON: the output of an optional phase that failed
  std::uint64_t steps = 0;    // of an instance of it; 0: as its node says

  PAWL_FACT(PhaseSpec, "phase_spec",
            PAWL_FIELD(name) PAWL_FIELD(node) PAWL_FIELD(agent) PAWL_FIELD(checkpoint)
                PAWL_FIELD(await) PAWL_FIELD(after) PAWL_FIELD(when) PAWL_FIELD(prompt)
                    PAWL_FIELD(map) PAWL_FIELD(need) PAWL_FIELD(fallback) PAWL_FIELD(steps));
};

// A run with open work items does not end.
struct GateSpec {
  std::uint32_t blocks = 5;  // times in a row without a change before the run fails

  PAWL_FACT(GateSpec, "gate_spec", PAWL_FIELD(blocks));
};

template <>
inline constexpr std::uint8_t kCount<Batch> = 2;
template <>
inline constexpr std::uint8_t kCount<PhaseNeed> = 2;

std::string_view name(Batch value);
std::string_view name(PhaseNeed value);

// nullptr: there is none. Phases are in the order of the charter.
const PhaseSpec* find_phase(const std::vector<PhaseSpec>& phases, std::string_view name);

// Whether one of them is carried out in this node.
bool has_phase_of(const std::vector<PhaseSpec>& phases, std::string_view node);

// Why the phases cannot be a flow: a name that leads nowhere or stands twice, a cycle, none or
// several things to carry out. Empty: they can.
std::string fault_of(const std::vector<PhaseSpec>& phases, const std::vector<NodeSpec>& nodes);

}  // namespace pawl
