#include "pawl/words.h"

#include <string>

namespace pawl {
namespace {

template <class E, std::size_t N>
std::string_view look_up(E value, const std::array<std::string_view, N>& names) {
  static_assert(N == kCount<E>);
  const auto index = static_cast<std::size_t>(value);
  PAWL_ASSERT(index < N);
  return names[index];
}

constexpr std::array<std::string_view, 8> kYieldReasons = {
    "end_turn", "tool_use", "max_tokens",      "cede",
    "command",  "suspend",  "awaiting_resume", "external"};
constexpr std::array<std::string_view, 8> kErrorCategories = {
    "llm_error",      "tool_error",      "policy_violation", "timeout",
    "quota_exceeded", "kernel_internal", "validation_error", "network_error"};
constexpr std::array<std::string_view, 8> kReplyStops = {
    "end_turn", "tool_use", "max_tokens", "refusal", "cede", "suspend", "external", "pause_turn"};
constexpr std::array<std::string_view, 10> kFailureKinds = {
    "transient",   "rate_limited", "overloaded",   "permanent",    "model_not_found",
    "unsupported", "empty",        "circuit_open", "session_lost", "budget"};
constexpr std::array<std::string_view, 5> kBudgetUnits = {"money", "tokens", "time", "tenant",
                                                          "parent"};
constexpr std::array<std::string_view, 6> kReasoningEfforts = {"unset",  "minimal", "low",
                                                               "medium", "high",    "max"};
constexpr std::array<std::string_view, 2> kStreamings = {"auto", "off"};
constexpr std::array<std::string_view, 8> kRunStatuses = {
    "queued", "running", "waiting", "done", "stopped", "failed", "cancelled", "quarantined"};
constexpr std::array<std::string_view, 10> kWaitFors = {
    "",       "approval", "input",    "event", "rate_limit",
    "budget", "in_doubt", "children", "time",  "paused"};
constexpr std::array<std::string_view, 28> kStopReasons = {
    "end_turn",      "cede",           "steps",           "model_calls",      "tool_calls",
    "time",          "tokens",         "bytes_in",        "bytes_out",        "branches",
    "repeated_call", "repeated_step",  "tool_errors",     "max_tokens",       "refusal",
    "callback",      "cancelled",      "llm_error",       "tool_error",       "policy_violation",
    "timeout",       "quota_exceeded", "kernel_internal", "validation_error", "network_error",
    "context",       "phase",          "work_items"};
constexpr std::array<std::string_view, 6> kHookPoints = {
    "before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool"};
constexpr std::array<std::string_view, 3> kHookVerdicts = {"proceed", "replace", "stop"};
constexpr std::array<std::string_view, 5> kOrigins = {"executor", "callback", "host", "reconciled",
                                                      "person"};

// "LlmError", "llm_error" and "llm-error" read alike.
std::string letters_only(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') letters.push_back(static_cast<char>(c - 'A' + 'a'));
    if (c >= 'a' && c <= 'z') letters.push_back(c);
  }
  return letters;
}

}  // namespace

std::string_view name(YieldReason value) {
  return look_up(value, kYieldReasons);
}
std::string_view name(ErrorCategory value) {
  return look_up(value, kErrorCategories);
}
std::string_view name(FailureKind value) {
  return look_up(value, kFailureKinds);
}

std::string_view name(BudgetUnit value) {
  return look_up(value, kBudgetUnits);
}
std::string_view name(ReasoningEffort value) {
  return look_up(value, kReasoningEfforts);
}
std::string_view name(Streaming value) {
  return look_up(value, kStreamings);
}
std::string_view name(ReplyStop value) {
  return look_up(value, kReplyStops);
}
std::string_view name(RunStatus value) {
  return look_up(value, kRunStatuses);
}
std::string_view name(WaitFor value) {
  return look_up(value, kWaitFors);
}
std::string_view name(StopReason value) {
  return look_up(value, kStopReasons);
}
std::string_view name(HookPoint value) {
  return look_up(value, kHookPoints);
}
std::string_view name(HookVerdict value) {
  return look_up(value, kHookVerdicts);
}
std::string_view name(Origin value) {
  return look_up(value, kOrigins);
}

Result<ErrorCategory> parse_error_category(std::string_view text) {
  const std::string wanted = letters_only(text);
  for (std::size_t i = 0; i < kErrorCategories.size(); ++i) {
    if (letters_only(kErrorCategories[i]) == wanted) return static_cast<ErrorCategory>(i);
  }
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(text) +
                   "' is not an error category: llm_error, tool_error, policy_violation, timeout, "
                   "quota_exceeded, kernel_internal, validation_error or network_error"};
}

Result<ReasoningEffort> parse_reasoning_effort(std::string_view text) {
  for (std::size_t i = 1; i < kReasoningEfforts.size(); ++i) {
    if (kReasoningEfforts[i] == text) return static_cast<ReasoningEffort>(i);
  }
  return Error{ErrorCode::invalid_argument, "'" + std::string(text) +
                                                "' is not an effort: minimal, low, medium, high or "
                                                "max"};
}

Result<ReplyStop> parse_reply_stop(std::string_view text) {
  for (std::size_t i = 0; i < kReplyStops.size(); ++i) {
    if (kReplyStops[i] == text) return static_cast<ReplyStop>(i);
  }
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(text) +
                   "' is not a stop: end_turn, tool_use, max_tokens, refusal, cede, suspend, "
                   "external or pause_turn"};
}

bool is_terminal(RunStatus status) {
  switch (status) {
    case RunStatus::queued:
    case RunStatus::running:
    case RunStatus::waiting:
      return false;
    case RunStatus::done:
    case RunStatus::stopped:
    case RunStatus::failed:
    case RunStatus::cancelled:
    case RunStatus::quarantined:
      return true;
  }
  return false;
}

bool is_terminal(std::string_view status) {
  for (std::size_t i = 0; i < kRunStatuses.size(); ++i) {
    if (kRunStatuses[i] == status) return is_terminal(static_cast<RunStatus>(i));
  }
  return false;
}

StopReason stop_reason_of(ErrorCategory category) {
  constexpr auto kFirst = static_cast<std::uint8_t>(StopReason::llm_error);
  return static_cast<StopReason>(kFirst + static_cast<std::uint8_t>(category));
}

}  // namespace pawl
