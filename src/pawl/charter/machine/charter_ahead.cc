#include "pawl/charter/machine/charter_ahead.h"

#include <array>
#include <optional>

namespace pawl {
namespace {

using Place = std::optional<Mark>;

struct Feature {
  const char* name;
  Place (*place)(const Charter& charter);
};

// The run of an agent belongs to a call, and a phase makes none.
Place phase_of_agent(const Charter& charter) {
  for (const PhaseSpec& phase : charter.machine.phases) {
    if (!phase.agent.empty()) return charter.machine.phase_marks.at(phase.name);
  }
  return {};
}

// A line is deleted when the kernel decides the feature and the runner performs it.
constexpr std::array<Feature, 1> kAhead = {{
    {"a phase that an agent carries out", phase_of_agent},
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
