// Why a run is where it is, in sentences: the bound, guard, policy or error, and the step.
#pragma once

#include <string>

#include "pawl/kernel/run.h"
#include "pawl/port/journal.h"

namespace pawl {

enum class Driven : std::uint8_t { no, yes };  // by any process

Result<std::string> explain_run(JournalReader& reader, const RunSummary& summary,
                                const RunState& state, Driven driven,
                                const std::string& quarantine);

}  // namespace pawl
