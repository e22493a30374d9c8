// The values of the keyword "format" that can be checked.
#pragma once

#include <string_view>

namespace pawl::schema {

using FormatCheck = bool (*)(std::string_view text);

// Null for a format that is unknown, or known and not checked (docs/json-schema.md lists them).
FormatCheck find_format(std::string_view name);

}  // namespace pawl::schema
