// Bounds on what people are asked: so many questions of a run wait at once, and what a person has
// denied is not put before them again and again.
#pragma once

#include <vector>

#include "pawl/kernel/run.h"
#include "pawl/port/journal.h"

namespace pawl {

inline constexpr std::size_t kOpenApprovalsMax = 64;
// Exactly the same call, in the same circumstances, is asked about until it was denied so often.
inline constexpr std::size_t kDenialsOfSameMax = 2;

// Judgements of one reply, in order: those that would ask too much deny instead. Reads the journal,
// but only when one of them asks. What cannot be read denies.
void bound_questions(JournalReader& reader, const RunState& state,
                     std::vector<CallJudgement>& judgements);

}  // namespace pawl
