// The options of `pawl resume` and `pawl fork` that give a run more room: higher limits, other
// guards.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "pawl/kernel/run.h"
#include "pawl/surface/cli/arguments.h"
#include "pawl/surface/cli/command_table.h"

namespace pawl {

struct Room {
  std::optional<Limits> limits;  // in place of the run's
  std::optional<Guards> guards;  // likewise
};

// "+20" gives twenty more than the limit, or than what was used where that is more; "70" sets it.
// invalid_argument: not a number of that kind, less than the run has, a bound that it has not.
Result<Room> room_of(const Arguments& arguments, const RunState& state);

// For another turn: what `allowed` allows, beside what was used; of money no more than there is.
Limits limits_of_turn(const Limits& allowed, const RunState& state);

// Whether any of them is given.
bool asks_for_room(const Arguments& arguments);
bool asks_for_more_than_cost(const Arguments& arguments);

// `own` and these.
std::vector<OptionSpec> with_room_options(std::vector<OptionSpec> own);

}  // namespace pawl
