// Patterns for names: '*' is any run of bytes (also none), '?' one byte, all else itself. There are
// no classes and no escapes, so that a pattern means what it looks like.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace pawl {

inline constexpr std::size_t kGlobBytesMax = 1024;

// The whole of `text`. At most |pattern| * |text| steps.
bool glob_matches(std::string_view pattern, std::string_view text);
bool any_glob_matches(std::span<const std::string> patterns, std::string_view text);

}  // namespace pawl
