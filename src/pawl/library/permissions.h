// What a host says about calls, in process: short forms for hooks, policies and processors, and
// answers to what waits for somebody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "pawl/filter/processors/processors_reader.h"
#include "pawl/gate/approvals/approvals.h"
#include "pawl/gate/policy_gate.h"
#include "pawl/run/agent/agent.h"
#include "pawl/service/service.h"

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

// Asks the host on behalf of runs that wait. Lives on the loop thread; the engine outlives it.
class PermissionDesk {
 public:
  PermissionDesk(Engine& engine, PermissionPort port);
  ~PermissionDesk();
  PermissionDesk(const PermissionDesk&) = delete;
  PermissionDesk& operator=(const PermissionDesk&) = delete;

  // True: the host is asked, and the run is taken up when all is answered; `failed` hears when that
  // is not possible. False: nobody is to be asked, or nothing waits.
  bool ask(const RunId& run, std::function<void(const Status&)> failed);
  // conflict: it does not wait. `done` when it is durable; the run is not taken up.
  void decide(const RunId& run, CallId call, Decided decided, StatusCallback done);

 private:
  struct Open;
  bool asked_too_often(const std::vector<PendingApproval>& pending);
  void settle(RunId run, CallId call, Decided decided);
  void ask_one(const PendingApproval& pending);

  Engine& engine_;
  Service service_;
  PermissionPort port_;
  std::map<RunId, Open> open_;
  std::map<std::pair<RunId, CallId>, std::uint32_t> times_asked_;  // of calls that wait
  std::shared_ptr<PermissionDesk*> self_;                          // null when the desk is gone
};

}  // namespace pawl
