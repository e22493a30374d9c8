// What can be said of a level and a place before there is a session.
#pragma once

#include "pawl/backend.h"
#include "pawl/result.h"

namespace pawl::backend {

enum class HasProxy : std::uint8_t { no, yes };

// unavailable: a session there cannot be had, with the reason and the remedy.
Status check_level(const ExecutionContext& context, IsolationLevel level, HasProxy proxy);

}  // namespace pawl::backend
