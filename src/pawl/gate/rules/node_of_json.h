// A JSON value as a document, so that one reader serves both; the places in it are unknown.
#pragma once

#include "pawl/base/document.h"
#include "pawl/json.h"

namespace pawl {

// Recurses: the depth is bounded by whoever parsed the value.
Node node_of_json(const Json& value);

}  // namespace pawl
