// The files that a run began with, beside its charter: what its policy, its scripts, the host's
// programs and the scripts of its models were.
#pragma once

#include <vector>

#include "pawl/kernel/events.h"
#include "pawl/port/file_trust.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kPinnedFilesMax = 1024;

// As the run's journal keeps them. limit_exceeded: they are more than a record has room for. One
// that was left out would not be noticed when it changes.
Result<std::vector<PinnedFile>> pinned_of(const std::vector<HostFile>& files);
// Without texts.
std::vector<HostFile> host_files_of(const std::vector<PinnedFile>& pinned);

}  // namespace pawl
