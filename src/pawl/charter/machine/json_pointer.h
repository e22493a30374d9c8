// JSON Pointers (RFC 6901) as charters write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl {

inline constexpr std::size_t kPointerBytesMax = 4096;

// Why the text is no pointer; empty: it is one. "" is the whole value.
std::string pointer_fault(std::string_view text);
// Its steps, unescaped; the text must be a pointer.
std::vector<std::string> pointer_steps(std::string_view text);

}  // namespace pawl
