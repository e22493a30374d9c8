// What runs want of people: reading it, and answering.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/run.h"
#include "pawl/port/journal.h"

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
  RunId parent = {};               // that started the run; empty: none did
  std::string agent = {};          // as which it did
};

// In the order they were asked for.
Result<std::vector<PendingApproval>> pending_approvals(JournalReader& reader,
                                                       const RunState& state);

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

// A name for an answer, by which whoever gave it finds it among the records. Never 0.
std::uint64_t make_answer();

// conflict, not_found, limit_exceeded: with the remedy.
Result<Event> decision_about(const RunState& state, CallId call, Decided decided);

// conflict, invalid_argument: the run would refuse it, by whoever gave it, what was asked, or the
// time. To be asked before it is stored: the first answer that is stored keeps all others out.
Status check_decision(const RunState& state, const Event& decision, std::int64_t now_ms);

}  // namespace pawl
