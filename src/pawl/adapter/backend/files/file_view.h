// What view() shows of a file or a directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/files/roots.h"
#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::size_t kListedMax = 2000;
inline constexpr std::size_t kListedLevels = 2;

// "     7\ttext\n"
void append_numbered(std::string& out, std::size_t number, std::string_view line);

// Numbered lines of a text, an image's or a binary file's description. At most `bytes_max` bytes.
BackendOutcome view_bytes(const Place& place, std::string_view bytes,
                          const std::optional<ViewRange>& range, std::uint64_t bytes_max);
// Two levels, sorted; hidden entries and node_modules are left out.
BackendOutcome view_directory(const Place& place, std::uint64_t bytes_max);

// At most `bytes_max` bytes of lines, with `mark` behind them where some did not fit.
std::string join_within(const std::vector<std::string>& lines, std::uint64_t bytes_max,
                        std::string_view mark);

}  // namespace pawl::backend
