// Whether something is there: a word of the journal in the place of a flag.
#pragma once

#include <cstdint>
#include <string_view>

#include "pawl/words.h"

namespace pawl {

enum class Presence : std::uint8_t { absent, present };
template <>
inline constexpr std::uint8_t kCount<Presence> = 2;
std::string_view name(Presence value);

}  // namespace pawl
