#include "pawl/kernel/agent_facts.h"

#include <array>

namespace pawl {

std::string_view name(PlaceUse value) {
  return value == PlaceUse::rests ? "rests" : "acts";
}

std::string_view name(AskKind value) {
  return value == AskKind::place ? "place" : "money";
}

std::string_view name(AskVerdict value) {
  return value == AskVerdict::refused ? "refused" : "given";
}

std::string_view name(Steer value) {
  static constexpr std::array<std::string_view, 3> kNames = {"pause", "resume", "cancel"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view name(ChildLife value) {
  return value == ChildLife::over ? "over" : "goes_on";
}

std::string_view name(ChildLeave value) {
  return value == ChildLeave::given_up ? "given_up" : "detached";
}

}  // namespace pawl
