// The files that a run began with, beside its charter: what its policy, its scripts, the host's
// programs and the scripts of its models were. Kept as a line of the charter that only Pawl writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/app/file_trust.h"

namespace pawl {

inline constexpr std::size_t kPinnedFilesMax = 1024;

struct PinnedFiles {
  std::vector<HostFile> files = {};  // without texts
  // Whether sessions of the run may write files. Then the user's notes know the files, and where
  // they do not, these digests count.
  enum class Sessions : std::uint8_t { none, some } sessions = Sessions::none;
};
std::string with_files(std::string charter, const PinnedFiles& pinned);
bool names_files(std::string_view charter);
// corrupt: the line is damaged.
Result<PinnedFiles> files_within(std::string_view charter);

}  // namespace pawl
