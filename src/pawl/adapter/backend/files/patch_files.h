// A patch applied to the files beneath the roots: all of them change, or none does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/files/roots.h"
#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::uint64_t kPatchedFileBytesMax = 4U << 20U;
inline constexpr std::uint64_t kPatchedBytesMax = 128U << 20U;  // of all files of one patch

struct PatchedFile {
  Place place;                 // as it is now
  std::string what;            // "A path", "M path", "D path", "R from -> to"
  std::optional<FileRef> ref;  // empty: it is gone
};

// `scratch`: a directory for temporary files, or -1.
Result<std::vector<PatchedFile>> patch_files(const Roots& roots, std::string_view text,
                                             int scratch = -1);

}  // namespace pawl::backend
