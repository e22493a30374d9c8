// Base64 of RFC 4648, section 4: with padding, and strictly one text for the same bytes.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

std::string to_base64(std::string_view bytes);
// invalid_argument: anything that to_base64() would not have written.
Result<std::string> from_base64(std::string_view text);

}  // namespace pawl
