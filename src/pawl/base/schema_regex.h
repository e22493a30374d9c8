// The regular expressions of JSON Schema (ECMA-262 with the u flag) on RE2, which matches in linear
// time whatever the expression is.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::schema {

inline constexpr std::size_t kPatternBytesMax = 4096;
// What one schema's expressions may need together, by their max_mem().
inline constexpr std::size_t kPatternMemoryMax = 128U << 20U;

// The same expression in RE2's syntax. Lookaround and backreferences have none: an Error names
// them.
Result<std::string> to_re2(std::string_view pattern);

Result<std::shared_ptr<const re2::RE2>> compile_pattern(std::string_view pattern);

}  // namespace pawl::schema
