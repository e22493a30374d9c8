// What every store says and refuses alike: its words for what is not there or was moved, and the
// maxima of port/journal.h.
#pragma once

#include <string>

#include "pawl/port/journal.h"

namespace pawl {

Error conflict(const RunId& run, const std::string& what);
Error no_such_run(const RunId& run);

// limit_exceeded: one of the maxima. Needs no store.
Status check_limits(const Append& append);
Status check_inbox_limits(const std::string& body);

}  // namespace pawl
