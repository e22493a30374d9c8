// What runs want of people: reading it, and answering.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/run.h"
#include "pawl/permissions.h"
#include "pawl/store.h"

namespace pawl {

// In the order they were asked for.
Result<std::vector<PendingApproval>> pending_approvals(JournalReader& reader,
                                                       const RunState& state);

// A name for an answer, by which whoever gave it finds it among the records. Never 0.
std::uint64_t make_answer();

// conflict, not_found, limit_exceeded: with the remedy.
Result<Event> decision_about(const RunState& state, CallId call, Decided decided);

// conflict, invalid_argument: the run would refuse it, by whoever gave it, what was asked, or the
// time. To be asked before it is stored: the first answer that is stored keeps all others out.
Status check_decision(const RunState& state, const Event& decision, std::int64_t now_ms);

}  // namespace pawl
