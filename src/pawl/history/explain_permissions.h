// Explains the verdicts about the calls of a run: which stage and rule gave them.
#pragma once

#include <string>

#include "pawl/kernel/run.h"
#include "pawl/store.h"

namespace pawl {

// At most so many denials are listed, the newest ones.
inline constexpr std::size_t kDenialsExplainedMax = 20;

// What waits for a person, with what to type. Empty: nothing does.
std::string explain_approvals(JournalReader& reader, const RunState& state);

// How many calls were permitted, asked about and denied, and every denial with its rule. Reads the
// journal from the beginning. Empty: no call was judged.
std::string explain_permissions(JournalReader& reader, const RunId& run);

}  // namespace pawl
