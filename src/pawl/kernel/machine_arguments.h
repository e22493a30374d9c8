// The arguments of calls of the kernel's own tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/content.h"
#include "pawl/json.h"

namespace pawl {

// Those of a call, which has no member but these.
Result<JsonObject> arguments_of(const CallBlock& call, std::vector<std::string_view> names);
// Text as it is, anything else as JSON.
Result<std::string> required_text(const JsonObject& arguments, std::string_view name);

}  // namespace pawl
