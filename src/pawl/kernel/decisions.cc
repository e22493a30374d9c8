#include "pawl/kernel/decisions.h"

namespace pawl {

std::string_view name(RefusedBecause value) {
  switch (value) {
    case RefusedBecause::unknown_tool:
      return "unknown_tool";
    case RefusedBecause::invalid_input:
      return "invalid_input";
    case RefusedBecause::truncated:
      return "truncated";
    case RefusedBecause::yielded:
      return "yielded";
    case RefusedBecause::denied:
      return "denied";
    case RefusedBecause::not_done:
      return "not_done";
  }
  return "unknown_tool";
}

std::string_view name(HeldFor value) {
  static constexpr std::array<std::string_view, 5> kNames = {"run", "status", "judgement", "place",
                                                             "child"};
  return kNames[static_cast<std::size_t>(value)];
}

bool counts(const CallRefused& decision) {
  return decision.because == RefusedBecause::unknown_tool ||
         decision.because == RefusedBecause::invalid_input ||
         decision.because == RefusedBecause::denied || decision.because == RefusedBecause::not_done;
}

std::string_view name(CutBy value) {
  return value == CutBy::summary ? "summary" : "trim";
}

std::string_view name(Note value) {
  static constexpr std::array<std::string_view, 4> kNames = {"wrap_up", "repair", "entered",
                                                             "work_items"};
  return kNames[static_cast<std::size_t>(value)];
}

Decision::Decision() = default;
Decision::Decision(const Decision& other) = default;
Decision::Decision(Decision&& other) noexcept = default;
Decision& Decision::operator=(const Decision& other) = default;
Decision& Decision::operator=(Decision&& other) noexcept = default;
Decision::~Decision() = default;
bool Decision::operator==(const Decision& other) const {
  return static_cast<const AnyDecision&>(*this) == static_cast<const AnyDecision&>(other);
}

std::string_view name(const Decision& decision) {
  return std::visit([](const auto& one) { return std::decay_t<decltype(one)>::kName; }, decision);
}

Effect::Effect() = default;
Effect::Effect(const Effect& other) = default;
Effect::Effect(Effect&& other) noexcept = default;
Effect& Effect::operator=(const Effect& other) = default;
Effect& Effect::operator=(Effect&& other) noexcept = default;
Effect::~Effect() = default;
bool Effect::operator==(const Effect& other) const {
  return static_cast<const AnyEffect&>(*this) == static_cast<const AnyEffect&>(other);
}

std::string_view name(const Effect& effect) {
  return std::visit([](const auto& one) { return std::decay_t<decltype(one)>::kName; }, effect);
}

}  // namespace pawl
