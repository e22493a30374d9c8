// Names and lines of files as they may be shown: what would move a cursor, reorder or hide
// characters is written out, and so are bytes that are not UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace pawl::backend {

// On one line: control and format characters become \n, \x1b, \u202e; other bytes \xff.
std::string shown_name(std::string_view name);
// As much of valid UTF-8 as fits into `bytes_max`, not in the middle of a character.
std::string_view cut_utf8(std::string_view valid, std::size_t bytes_max);

}  // namespace pawl::backend
