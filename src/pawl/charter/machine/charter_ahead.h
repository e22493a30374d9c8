// What a charter may say by now, and a run cannot do yet. It loads, so that it can be checked and
// drawn; a run of it is refused.
#pragma once

#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"

namespace pawl {

// Each feature that the charter needs, where it first stands; empty: a run can do it all.
std::vector<Fault> features_ahead(const Charter& charter);

}  // namespace pawl
