// What an event adds to a run's tally: a check looks ahead with it, and applying an event uses it.
#pragma once

#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

std::uint64_t bytes_of(const std::vector<Block>& blocks);

// The tally after `event`, before any decision. Time counts only while the run was not idle.
Tally tally_after(const RunState& state, const Event& event, const Stamp& stamp);

}  // namespace pawl
