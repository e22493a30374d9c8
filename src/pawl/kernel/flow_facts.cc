#include "pawl/kernel/flow_facts.h"

#include <algorithm>
#include <array>

namespace pawl {
namespace {

constexpr std::array<std::string_view, 5> kActions = {"skip", "rerun", "cancel", "abandon",
                                                      "start"};
constexpr std::array<std::string_view, 9> kStatuses = {"pending",  "running",   "waiting",
                                                       "done",     "failed",    "skipped",
                                                       "left_out", "cancelled", "abandoned"};
constexpr std::array<std::string_view, 6> kSources = {"nothing", "own",    "before",
                                                      "answer",  "events", "fallback"};
constexpr std::array<std::string_view, 4> kRoles = {"own", "item", "found", "asked"};
constexpr std::array<std::string_view, 3> kSeatEnds = {"not_yet", "done", "failed"};
constexpr std::array<std::string_view, 2> kOutputKinds = {"text", "json"};
constexpr std::array<std::string_view, 3> kWork = {"open", "done", "escalated"};

template <class E, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, E value) {
  static_assert(N == kCount<E>);
  return words[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view name(PhaseAction value) {
  return word(kActions, value);
}

Result<PhaseAction> parse_phase_action(std::string_view text) {
  const auto found = std::find(kActions.begin(), kActions.end(), text);
  if (found != kActions.end()) return static_cast<PhaseAction>(found - kActions.begin());
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(text) +
                   "' is nothing that can be done to a phase: skip, rerun, cancel, abandon, start"};
}

std::string_view name(PhaseStatus value) {
  return word(kStatuses, value);
}

std::string_view name(OutputFrom value) {
  return word(kSources, value);
}

std::string_view name(SeatRole value) {
  return word(kRoles, value);
}

std::string_view name(SeatEnd value) {
  return word(kSeatEnds, value);
}

std::string_view name(OutputKind value) {
  return word(kOutputKinds, value);
}

std::string_view name(WorkStatus value) {
  return word(kWork, value);
}

}  // namespace pawl
