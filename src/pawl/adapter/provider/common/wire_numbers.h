// Numbers of wires: counts that providers claim, and decimals without binary floating point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/base/flat_json.h"

namespace pawl::provider {

// The largest count that is believed: what every JSON reader holds exactly.
inline constexpr std::uint64_t kTokenCountMax = 1ULL << 53U;

// nullopt: absent, negative, a fraction, or more than anybody can have used.
std::optional<std::uint64_t> token_count(const FlatValue& value);
// Counters of a response never fall: what is no count, or less than before, changes nothing.
void raise_count(std::uint64_t& counter, const FlatValue& value);

// "0.7" of 700.
std::string milli_text(std::uint32_t milli);

}  // namespace pawl::provider
