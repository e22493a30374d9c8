#include "pawl/kernel/tree_facts.h"

#include <array>

#include "pawl/kernel/command_facts.h"

namespace pawl {

std::string_view name(LeaveKind value) {
  static constexpr std::array<std::string_view, 3> kNames = {"transition", "cede", "suspend"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view name(LeaveBy value) {
  return value == LeaveBy::command ? "command" : "reply";
}

std::string_view name(CommandDrive value) {
  return value == CommandDrive::undriven ? "undriven" : "driven";
}

std::string_view name(EndedHow value) {
  static constexpr std::array<std::string_view, 4> kNames = {"ceded", "failed", "stopped",
                                                             "cancelled"};
  return kNames[static_cast<std::size_t>(value)];
}

}  // namespace pawl
