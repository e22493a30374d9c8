// What changed between two texts, line by line, for somebody who decides about it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl {

// Where the lines that differ are more than this many pairs, all old ones come before all new ones.
inline constexpr std::size_t kDiffPairsMax = 4'000'000;
inline constexpr std::size_t kDiffContextLines = 3;

// Lines that begin with "-", "+" or " " (some around each change), and "@@ line N" where lines were
// left out. Every character is shown as an approval shows it: nothing moves the terminal, nothing
// is invisible.
std::string shown_diff(std::string_view before, std::string_view after);

}  // namespace pawl
