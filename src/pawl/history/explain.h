// Explains in sentences why a run is where it is: the bound, guard, policy or error, and the step.
#pragma once

#include <string>

#include "pawl/kernel/run.h"
#include "pawl/store.h"

namespace pawl {

enum class Driven : std::uint8_t { no, yes };  // by any process

// The budget that a waiting run lacks, and the commands that help; empty: it waits for none.
std::string explain_budget_wait(const RunState& state);

Result<std::string> explain_run(JournalReader& reader, const RunSummary& summary,
                                const RunState& state, Driven driven,
                                const std::string& quarantine);

}  // namespace pawl
