// Values in the actions of a command that are taken from its input.
#pragma once

#include <string>
#include <string_view>

#include "pawl/json.h"

namespace pawl {

// The value at a JSON Pointer (RFC 6901); nullptr: there is none.
const Json* find_at(const Json& value, std::string_view pointer);

// Why an input does not fit the schema of a command (JSON; empty: any input does); or empty.
std::string fault_of_input(const std::string& schema, const Json& input);

// `value` with the value at POINTER of `input` in the place of each { "$input": POINTER }. What is
// put there is not searched again. invalid_argument: the input has nothing at a pointer.
Result<Json> with_input(const Json& value, const Json& input);

}  // namespace pawl
