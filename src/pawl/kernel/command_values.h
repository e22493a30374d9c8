// Values in the actions of a command that are taken from its input.
#pragma once

#include <string_view>

#include "pawl/base/json.h"

namespace pawl {

// The value at a JSON Pointer (RFC 6901); nullptr: there is none.
const Json* find_at(const Json& value, std::string_view pointer);

// `value` with the value at POINTER of `input` in the place of each { "$input": POINTER }. What is
// put there is not searched again. invalid_argument: the input has nothing at a pointer.
Result<Json> with_input(const Json& value, const Json& input);

}  // namespace pawl
