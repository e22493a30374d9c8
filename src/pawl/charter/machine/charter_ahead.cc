#include "pawl/charter/machine/charter_ahead.h"

#include <algorithm>
#include <array>
#include <optional>

namespace pawl {
namespace {

using Place = std::optional<Mark>;

template <class Holds>
Place node_that(const CharterMachine& machine, Holds holds) {
  const auto found = std::ranges::find_if(
      machine.nodes, [&](const CharterNode& node) { return holds(node.spec); });
  return found == machine.nodes.end() ? Place() : Place(found->mark);
}

// The first of them in the order of the charter's text.
Place first_mark(const std::map<std::string, Mark>& marks) {
  Place first;
  for (const auto& [name, mark] : marks) {
    if (!first || mark.line < first->line) first = mark;
  }
  return first;
}

struct Feature {
  const char* name;
  Place (*place)(const Charter& charter);
};

template <auto Member>
Place node_that_has(const Charter& charter) {
  return node_that(charter.machine,
                   [](const NodeSpec& node) { return (node.*Member).has_value(); });
}

Place first_phase(const Charter& charter) {
  return first_mark(charter.machine.phase_marks);
}

Place gate_of(const Charter& charter) {
  return charter.machine.gate ? Place(Mark{}) : Place();
}

// A line is deleted when the kernel decides the feature and the runner performs it.
constexpr std::array<Feature, 3> kAhead = {{
    {"discover", node_that_has<&NodeSpec::discover>},
    {"a flow", first_phase},
    {"a gate", gate_of},
}};

}  // namespace

std::vector<Fault> features_ahead(const Charter& charter) {
  std::vector<Fault> ahead;
  for (const Feature& feature : kAhead) {
    const Place place = feature.place(charter);
    if (!place) continue;
    ahead.push_back({*place,
                     "this version checks charters with " + std::string(feature.name) +
                         ", and cannot run them yet",
                     ""});
  }
  return ahead;
}

}  // namespace pawl
