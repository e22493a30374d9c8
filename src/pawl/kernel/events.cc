#include "pawl/kernel/events.h"

namespace pawl {

Event::Event() = default;
Event::Event(const Event& other) = default;
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(const Event& other) = default;
Event& Event::operator=(Event&& other) noexcept = default;
Event::~Event() = default;
bool Event::operator==(const Event& other) const {
  return static_cast<const AnyEvent&>(*this) == static_cast<const AnyEvent&>(other);
}

std::string_view name(const Event& event) {
  return std::visit([](const auto& fact) { return std::decay_t<decltype(fact)>::kName; }, event);
}

InstanceId instance_of(const Event& event) {
  return std::visit(
      [](const auto& fact) {
        if constexpr (requires { fact.instance; }) {
          return fact.instance;
        } else {
          return kRootInstance;
        }
      },
      event);
}

InboxRank inbox_rank(const Event& event) {
  if (std::holds_alternative<CancelRequested>(event)) return InboxRank::cancel;
  if (std::holds_alternative<PauseRequested>(event)) return InboxRank::pause;
  if (std::holds_alternative<ResumeRequested>(event)) return InboxRank::resume;
  if (std::holds_alternative<DoubtResolved>(event)) return InboxRank::resolve;
  if (std::holds_alternative<InstanceResumed>(event)) return InboxRank::resolve;
  if (std::holds_alternative<BudgetRaised>(event)) return InboxRank::resolve;
  if (std::holds_alternative<CallDecided>(event)) return InboxRank::resolve;
  if (std::holds_alternative<StateSet>(event)) return InboxRank::resolve;
  if (std::holds_alternative<CommandGiven>(event)) return InboxRank::resolve;
  const bool of_tree = std::holds_alternative<ChildAsked>(event) ||
                       std::holds_alternative<ChildReported>(event) ||
                       std::holds_alternative<ParentAnswered>(event);
  if (of_tree) return InboxRank::resolve;
  if (std::holds_alternative<PhaseControlled>(event)) return InboxRank::resolve;
  if (std::holds_alternative<EventReceived>(event)) return InboxRank::turn;
  if (std::holds_alternative<ExternalTurnPushed>(event)) return InboxRank::turn;
  if (std::holds_alternative<MessageReceived>(event)) return InboxRank::message;
  return InboxRank::refused;
}

std::string_view name(Speaker value) {
  return value == Speaker::user ? "user" : "assistant";
}

std::string_view name(Presence value) {
  return value == Presence::present ? "present" : "absent";
}

std::string_view name(Approvers value) {
  if (value == Approvers::listed) return "listed";
  return value == Approvers::others ? "others" : "anyone";
}

std::string_view name(ToolEnd value) {
  switch (value) {
    case ToolEnd::succeeded:
      return "succeeded";
    case ToolEnd::failed:
      return "failed";
    case ToolEnd::timed_out:
      return "timed_out";
    case ToolEnd::aborted:
      return "aborted";
    case ToolEnd::denied:
      return "denied";
  }
  return "failed";
}

std::string_view name(StatusAnswer value) {
  switch (value) {
    case StatusAnswer::done:
      return "done";
    case StatusAnswer::absent:
      return "absent";
    case StatusAnswer::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name(DoubtVerdict value) {
  return value == DoubtVerdict::happened ? "happened" : "did_not_happen";
}

std::string_view name(Delivery value) {
  if (value == Delivery::silent) return "silent";
  return value == Delivery::urgent ? "urgent" : "next_step";
}

}  // namespace pawl
