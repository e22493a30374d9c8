// The type of a plain (unquoted) scalar: YAML 1.2.2, section 10.3.2, without null, which the parser
// reports by itself.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/document.h"

namespace pawl {

// A scalar that has a type but no usable value (.nan, 1e999) is a fault, and a null node.
Node resolve_plain(std::string text, Mark mark, std::vector<Fault>& faults);

}  // namespace pawl
