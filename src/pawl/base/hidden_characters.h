// Characters that are not seen, or that change how others are seen.
#pragma once

#include <string>
#include <string_view>

namespace pawl {

// C1 controls, format and private-use characters, separators of lines and paragraphs, surrogates,
// unassigned code points, and everything that Unicode lets a renderer ignore: variation selectors,
// tags, fillers. Combining marks and spaces are not among them.
bool is_hidden_character(char32_t point);

// A JSON text with such characters written as \u202e: the same value, and nothing that a terminal
// would obey. In valid JSON they can stand in strings only.
std::string with_hidden_escaped(std::string_view json);

}  // namespace pawl
