// Calls that wait for a person, and what the person decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pawl/base/hash.h"
#include "pawl/kernel/ids.h"
#include "pawl/kernel/permission.h"

namespace pawl {

// A call that waits for a person, with the exact bytes of its arguments.
struct PendingApproval {
  RunId run;
  InstanceId instance = kRootInstance;
  CallId call{};
  InterruptKind kind = InterruptKind::approval;
  std::string tool;
  std::string input;    // what an approval is for, byte for byte
  std::string prose;    // what the model wrote beside it: its word, and nobody else's
  std::string reason;   // why a person is asked
  std::string project;  // the directory of the run's charter
  std::string rule;
  GateStage stage = GateStage::none;
  Digest binding;
  std::int64_t asked_at_ms = 0;
  std::int64_t expires_at_ms = 0;  // 0: never
  std::string to_sign;             // the text of which an approver's signature approves it
};

// What somebody decided, about what they were shown.
struct Decided {
  InterruptDecision decision = InterruptDecision::reject;
  std::string by;
  std::string text = {};                             // reject: why; input: the answer
  std::optional<Digest> shown = std::nullopt;        // the binding of what they saw; absent: of now
  std::optional<std::string> edited = std::nullopt;  // approve: other arguments, JSON
  std::uint64_t answer = 0;                          // see CallDecided
  std::string signature = {};                        // base64; see approval_message()
  std::string signed_by = {};                        // whose it is, as the caller has verified it
};
inline constexpr std::size_t kDecisionBytesMax = 512U << 10U;

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
