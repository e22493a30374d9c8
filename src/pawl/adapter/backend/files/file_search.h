// grep and glob over a tree.
#pragma once

#include <cstdint>

#include "pawl/adapter/backend/files/roots.h"
#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::size_t kGrepMatchesMax = 1000;
inline constexpr std::size_t kGrepLineBytesMax = 500;           // shown of one line
inline constexpr std::uint64_t kGrepFileBytesMax = 16U << 20U;  // larger files are passed by
inline constexpr std::uint64_t kGrepBytesMax = 512ULL << 20U;   // read by one search
inline constexpr std::size_t kGrepMatchedBytesMax = 1U << 20U;  // of one line
inline constexpr std::uint32_t kGrepContextMax = 20;
inline constexpr std::size_t kGrepPatternBytesMax = 4096;
inline constexpr std::int64_t kGrepPatternMemoryMax = 8 << 20;
inline constexpr std::size_t kGlobMatchesMax = 1000;

// "path:line:text", context as "path-line-text". Binary files, .git and node_modules are passed by.
BackendOutcome grep_files(const Place& start, const GrepQuery& query, std::uint64_t bytes_max);
// Files, one a line, sorted.
BackendOutcome glob_files(const Place& start, const GlobQuery& query, std::uint64_t bytes_max);

}  // namespace pawl::backend
