// Finds the homes of this machine's accounts.
#pragma once

#include "pawl/port/sensitive_places.h"

namespace pawl {

SensitivePlaces sensitive_places();

}  // namespace pawl
