// What the machine offers that Pawl can use.
#pragma once

#include <vector>

#include "pawl/port/finding.h"

namespace pawl {

std::vector<Finding> examine_machine();

}  // namespace pawl
