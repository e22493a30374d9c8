// Amounts of money as they are written in charters: "2.00 USD".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"

namespace pawl {

inline constexpr std::uint64_t kMoneyUnitsMax = 1'000'000;

struct Money {
  std::uint64_t pico = 0;  // 10^-12 units
  std::string currency;

  friend bool operator==(const Money&, const Money&) = default;
};

// A decimal number with at most twelve decimals, a space, three capital letters; above nothing and
// at most kMoneyUnitsMax.
std::optional<Money> parse_money(std::string_view text);

// The amount under `key`; one that is none is a fault.
std::optional<Money> take_money(MapReader& reader, std::string_view key);

// The keys `cost` and `ask_cost` of the section `limits` or `budget`, which `reader` reads.
void read_spending(MapReader& reader, const Node& limits, Spending& spending);

}  // namespace pawl
