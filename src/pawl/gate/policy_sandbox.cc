#include "pawl/gate/policy_sandbox.h"

#include <fmt/format.h>

#include <array>

namespace pawl {
namespace {

constexpr std::array<IsolationLevel, 3> kDemanded = {
    IsolationLevel::landlock, IsolationLevel::container, IsolationLevel::namespaces};
constexpr std::array<std::string_view, 3> kDemandedNames = {"landlock", "container", "namespace"};

// -1: no demand accepts it.
int strength(IsolationLevel level) {
  for (std::size_t i = 0; i < kDemanded.size(); ++i) {
    if (kDemanded[i] == level) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

SandboxDemand read_sandbox_demand(const Node& node, std::vector<Fault>& faults,
                                  const std::string& where) {
  SandboxDemand demand;
  MapReader reader(node, faults, where);
  if (node.kind() != Node::Kind::map) return demand;
  if (const auto level = reader.take_choice("level", kDemandedNames)) {
    demand.level = kDemanded[*level];
  }
  reader.take_int("landlock", {1, kPolicyLandlockMax}, demand.landlock);
  reader.finish();
  return demand;
}

std::string sandbox_objection(const SandboxDemand& demand, const SandboxReach& reach) {
  if (demand.level && strength(reach.level) < strength(*demand.level)) {
    return fmt::format("demands the level {} for every tool, and this is the level {}",
                       name(*demand.level), name(reach.level));
  }
  if (reach.landlock < demand.landlock) {
    return fmt::format("demands version {} of Landlock behind every sandbox, and here it is {}",
                       demand.landlock,
                       reach.landlock == 0 ? "not used" : fmt::format("{}", reach.landlock));
  }
  return "";
}

}  // namespace pawl
