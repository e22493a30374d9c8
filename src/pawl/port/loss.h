// What a store may have lost: how runs are held back until a person has looked.
#pragma once

#include <string_view>

namespace pawl {

// Who paused a run whose newest records may be missing. Such a pause is lifted only by somebody who
// has seen it: not by whoever carries runs on after a crash.
inline constexpr std::string_view kPausedAfterLoss =
    "pawl: its newest records may be lost, and calls that they told of may have been made";

}  // namespace pawl
