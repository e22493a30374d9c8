// JSON merge patches (RFC 7396).
#pragma once

#include "pawl/json.h"

namespace pawl {

// Members that the patch names are replaced, those it has as null are removed; a patch that is no
// object replaces all.
void merge_patch(Json& target, const Json& patch);

}  // namespace pawl
