// Questions about files that an agent may have written: asked at a terminal, refused elsewhere.
#pragma once

#include <functional>
#include <vector>

#include "pawl/surface/cli/context.h"

namespace pawl {

// After this many rounds of questions something keeps changing the files.
inline constexpr int kTrustRoundsMax = 8;

// True: a person has looked at each file and trusts it. Unattended nobody has.
bool person_trusts(const CliContext& context, const std::vector<FileQuestion>& questions);

// As the environment reads it; a person at the terminal is asked about its files.
AgentReading read_trusted_agent(const CliContext& context, const std::string& path);

// Likewise, for what takes up a run.
Status resume_trusted(const CliContext& context, const std::function<Status()>& resume);

}  // namespace pawl
