// The closed vocabularies of runs, and how a value that is stored lists its fields.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pawl/result.h"

// Declares the name and the fields of a struct that is stored: an event, a decision, an effect, a
// phase, or a part of one. Fields are only appended, and the value that a field has by default is
// what it means where it is missing; see docs/journal-format.md, "Versions".
#define PAWL_FIELD(field) visit(#field, &Self::field);
#define PAWL_FACT(type, json_name, ...)                                               \
  static constexpr std::string_view kName = json_name;                                \
  template <class Visit>                                                              \
  static constexpr void members([[maybe_unused]] Visit&& visit) {                     \
    using Self [[maybe_unused]] = type;                                               \
    __VA_ARGS__                                                                       \
  }                                                                                   \
  template <class Value, class Visit>                                                 \
  static void fields([[maybe_unused]] Value& value, [[maybe_unused]] Visit&& visit) { \
    members([&](const char* name, auto member) { visit(name, value.*member); });      \
  }                                                                                   \
  friend bool operator==(const type&, const type&) = default

namespace pawl {

// --- The list of a struct's fields, from which codec, printer and redaction are made. codec.cc
// counts the fields: one that is missing from its list does not compile.

template <class T>
concept HasFields = requires(T& value) { T::fields(value, [](const char*, auto&) {}); };

// Why an executor gave control back: every step ends with one of these.
enum class YieldReason : std::uint8_t {
  end_turn,
  tool_use,
  max_tokens,
  cede,
  command,
  suspend,
  awaiting_resume,
  external,
};

// The eight kinds of failure a model call can report.
enum class ErrorCategory : std::uint8_t {
  llm_error,
  tool_error,
  policy_violation,
  timeout,
  quota_exceeded,
  kernel_internal,
  validation_error,
  network_error,
};

// What a failed model call says about trying again. The kernel's table of actions is in retry.h.
enum class FailureKind : std::uint8_t {
  transient,        // timeouts, connections, 5xx: the same request may succeed later
  rate_limited,     // 429: later, and the provider may have said when
  overloaded,       // 529, 503: as transient
  permanent,        // 400, 401, 403, 422: the same request fails the same way everywhere
  model_not_found,  // this target has no such model; another may
  unsupported,      // this target cannot do what is asked (images, context size); another may
  empty,            // it answered nothing
  circuit_open,     // not asked: skipped after recent failures
  session_lost,     // it does not know the session any more; the conversation can be replayed
  budget,           // not asked: what the tenant may spend in a time is spent
};

// What a budget is counted in; `tenant` is whatever a window of the tenant's counts, `parent` what
// the run that started this one has to give.
enum class BudgetUnit : std::uint8_t { money, tokens, time, tenant, parent };

enum class ReasoningEffort : std::uint8_t { unset, minimal, low, medium, high, max };

enum class Streaming : std::uint8_t { automatic, off };

// How a model's reply ended, in the words all providers share.
enum class ReplyStop : std::uint8_t {
  end_turn,
  tool_use,
  max_tokens,
  refusal,
  cede,
  suspend,
  external,
  pause_turn,  // the provider interrupted a long turn: sent as it is, the conversation goes on
};

enum class RunStatus : std::uint8_t {
  queued,
  running,
  waiting,
  done,
  stopped,
  failed,
  cancelled,
  quarantined,
};

enum class WaitFor : std::uint8_t {
  nothing,
  approval,
  input,
  event,
  rate_limit,
  budget,
  in_doubt,
  children,
  time,
  paused,
};

// Which bound, guard or failure ended a run.
enum class StopReason : std::uint8_t {
  end_turn,  // it said it was done
  cede,      // the root gave control back
  steps,
  model_calls,
  tool_calls,
  time,
  tokens,
  bytes_in,
  bytes_out,
  branches,
  repeated_call,
  repeated_step,
  tool_errors,
  max_tokens,
  refusal,
  callback,
  cancelled,
  llm_error,
  tool_error,
  policy_violation,
  timeout,
  quota_exceeded,
  kernel_internal,
  validation_error,
  network_error,
  context,     // the conversation is larger than any of its models takes
  phase,       // of a flow, has failed
  work_items,  // are open, whoever is asked
};

enum class HookPoint : std::uint8_t {
  before_agent,
  after_agent,
  before_model,
  after_model,
  before_tool,
  after_tool,
};

enum class HookVerdict : std::uint8_t { proceed, replace, stop };

// Who produced a reply or a result.
enum class Origin : std::uint8_t { executor, callback, host, reconciled, person };

// --- Of charters with several nodes: docs/charter.md

// What of the conversation the next node begins with.
enum class NextContext : std::uint8_t { keep, fresh, summary };
// What takes an instance to the next node: the model's call, or the end of its turn.
enum class NextWhen : std::uint8_t { called, end_turn };
// What becomes of the workers of an instance whose turn ends.
enum class WorkersOnEnd : std::uint8_t { wait, cancel, detach };
// Only a primary instance takes over from its parent; a worker acts beside it.
enum class NodeKind : std::uint8_t { primary, worker };
enum class ChildStart : std::uint8_t { on_call, with_node };
// Who changes a state: the model, or somebody outside to whom the model proposes.
enum class StateOwner : std::uint8_t { run, external };
// Where the definition of a tool stands.
enum class ToolScope : std::uint8_t { charter, node, pack };

std::string_view name(YieldReason value);
std::string_view name(ErrorCategory value);
std::string_view name(FailureKind value);
std::string_view name(BudgetUnit value);
std::string_view name(ReasoningEffort value);
std::string_view name(Streaming value);
std::string_view name(ReplyStop value);
std::string_view name(RunStatus value);
std::string_view name(WaitFor value);
std::string_view name(StopReason value);
std::string_view name(HookPoint value);
std::string_view name(HookVerdict value);
std::string_view name(Origin value);

// Both "llm_error" and "LlmError".
Result<ErrorCategory> parse_error_category(std::string_view text);
Result<ReasoningEffort> parse_reasoning_effort(std::string_view text);
Result<ReplyStop> parse_reply_stop(std::string_view text);
StopReason stop_reason_of(ErrorCategory category);

// Nothing happens to a run of this status any more. By name, as stores keep it: an unknown name is
// no terminal one.
bool is_terminal(RunStatus status);
bool is_terminal(std::string_view status);

// The number of values of each vocabulary: a stored number that is not below it is damage.
template <class E>
inline constexpr std::uint8_t kCount = 0;
template <>
inline constexpr std::uint8_t kCount<YieldReason> = 8;
template <>
inline constexpr std::uint8_t kCount<ErrorCategory> = 8;
template <>
inline constexpr std::uint8_t kCount<FailureKind> = 10;
template <>
inline constexpr std::uint8_t kCount<BudgetUnit> = 5;
template <>
inline constexpr std::uint8_t kCount<ReasoningEffort> = 6;
template <>
inline constexpr std::uint8_t kCount<Streaming> = 2;
template <>
inline constexpr std::uint8_t kCount<ReplyStop> = 8;
template <>
inline constexpr std::uint8_t kCount<RunStatus> = 8;
template <>
inline constexpr std::uint8_t kCount<WaitFor> = 10;
template <>
inline constexpr std::uint8_t kCount<StopReason> = 28;
template <>
inline constexpr std::uint8_t kCount<HookPoint> = 6;
template <>
inline constexpr std::uint8_t kCount<HookVerdict> = 3;
template <>
inline constexpr std::uint8_t kCount<Origin> = 5;

}  // namespace pawl
