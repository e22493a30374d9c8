#include "pawl/content.h"

#include <array>

namespace pawl {

std::string_view name(CallVerdict value) {
  static constexpr std::array<std::string_view, 4> kNames = {"undecided", "allow", "ask", "deny"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view name(GateStage value) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "none", "allow_list",      "trust",  "rule",  "shell",
      "hook", "approval_policy", "person", "expiry"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view name(InterruptKind value) {
  static constexpr std::array<std::string_view, 3> kNames = {"approval", "input", "custom"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view name(InterruptDecision value) {
  static constexpr std::array<std::string_view, 3> kNames = {"approve", "reject", "input"};
  return kNames[static_cast<std::size_t>(value)];
}

}  // namespace pawl
