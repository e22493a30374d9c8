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

struct Feature {
  const char* name;
  Place (*place)(const Charter& charter);
};

template <auto Member>
Place node_with(const Charter& charter) {
  return node_that(charter.machine, [](const NodeSpec& node) { return !(node.*Member).empty(); });
}

Place shadowed_tool(const Charter& charter) {
  return charter.machine.shadowed.empty() ? Place() : Place(Mark{});
}

// A line is deleted when the kernel decides the feature and the runner performs it.
constexpr std::array<Feature, 2> kAhead = {{
    {"commands", node_with<&NodeSpec::commands>},
    {"a tool that is defined in two scopes", shadowed_tool},
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
