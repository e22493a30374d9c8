// What a host says about calls, in process: short forms for hooks, policies and processors, and
// answers to what waits for somebody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "pawl/filter/processors/processor.h"
#include "pawl/gate/approvals/pending.h"
#include "pawl/gate/policy.h"
#include "pawl/library/agent.h"

namespace pawl {

// A hook that answers at once. One that throws denies.
PreToolUseHook pre_tool_use(std::string name,
                            std::function<PreToolUseAnswer(const ProposedCall& call)> judge);

// Puts the pipeline before the agent's tools. `known` says more of a tool than its name: trust,
// needs, risk. invalid_argument: a rule or policy that is none; then the agent has no tools left.
Status guard(RunnableAgent& agent, GatePolicy policy, Loop& loop,
             std::map<std::string, GatedTool> known = {});

// limit_exceeded: more than kProcessorsMax.
Status use_processors(RunnableAgent& agent, std::vector<ProcessorEntry> input,
                      std::vector<ProcessorEntry> output);

// A call waits for somebody.
struct PermissionRequest {
  static constexpr std::string_view kName = "permission_request";
  PendingApproval call;
};
// It waits no more.
struct PermissionResolved {
  static constexpr std::string_view kName = "permission_resolved";
  RunId run;
  CallId call{};
  InterruptDecision decision = InterruptDecision::reject;
  std::string by;
  std::string text;  // why, or the answer
};
using PermissionEvent = std::variant<PermissionRequest, PermissionResolved>;

// Who says no when nobody answers.
inline constexpr std::string_view kByTimeout = "timeout";
inline constexpr std::int64_t kPermissionTimeoutDefaultMs = 60'000;
// A call that still waits after so many answers, because none of them fitted, is left waiting.
inline constexpr std::uint32_t kPermissionAsksMax = 3;

struct PermissionPort {
  // Asked for each call that waits. It answers once, on the loop thread, at once or later; what
  // comes after the first answer, or too late, is not heard. Absent: the run waits.
  std::function<void(const PermissionRequest& request, std::function<void(Decided)> answer)> ask;
  std::function<void(const PermissionEvent& event)> events = {};
  std::int64_t timeout_ms = kPermissionTimeoutDefaultMs;  // then it is denied, by kByTimeout
};

}  // namespace pawl
