// Why a run is where it is, in sentences: the bound, guard, policy or error, and the step.
#pragma once

#include <string>

#include "pawl/kernel/run.h"
#include "pawl/port/journal.h"

namespace pawl {

Result<std::string> explain_run(JournalReader& reader, const RunSummary& summary,
                                const RunState& state, const std::string& quarantine);

}  // namespace pawl
