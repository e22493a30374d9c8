// What sessions that are over have left of repositories.
#pragma once

#include <string>
#include <vector>

#include "pawl/port/finding.h"

namespace pawl {

// Of a data directory. What sessions have committed and the operator's repository has not got is
// named: the next session there publishes it.
std::vector<Finding> examine_git(const std::string& directory);

}  // namespace pawl
