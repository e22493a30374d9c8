// What a session says of its own to whoever reads a call's output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/session/running_process.h"
#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::string_view kFreshShell =
    "[This is a new shell: variables, functions and background jobs of earlier calls are gone.]\n";
inline constexpr std::string_view kNotRun =
    "[It was made since the last command. All background jobs were ended, and this call was not "
    "run.]\n";

// Why the host has ended a call; empty for kinds that are the call's own.
std::string describe_limit(BackendOutcome::Kind kind, const PumpLimits& limits);
// Likewise of what ran on in the background.
std::string describe_end_of_jobs(BackendOutcome::Kind kind, const PumpLimits& limits);
// Of the sentences of WorkspaceGuard::take_paths().
std::string describe_denial(const std::vector<std::string>& said);
// Of those of git::SessionGit.
std::string describe_git(const std::vector<std::string>& said);

inline constexpr std::size_t kNotedOutputBytesMax = std::size_t{64} << 10U;

// Why a write to a protected name has failed: programs say no more than that the file system is
// read-only. Empty: the output speaks of no protected name. A line of its own otherwise.
std::string protected_note(std::string_view output, const ExecutionContext& context);

}  // namespace pawl::backend
