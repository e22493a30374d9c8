// Text from models, tools and journals made harmless for a terminal: what would move the cursor,
// change the colour, reorder or hide characters is shown instead of done.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// Line breaks and tabs stay; everything else that is not plain text becomes \x1b or \u202e. Bytes
// that are not UTF-8 become U+FFFD.
std::string safe_text(std::string_view text);
// Likewise, on one line: line breaks become \n, tabs \t. At most `columns_max` columns, then "…".
std::string safe_line(std::string_view text, std::size_t columns_max);

// The columns of text that is safe already; wide characters count two.
std::size_t columns_of(std::string_view safe);
// As much of safe text as fits into `columns_max` columns.
std::string_view cut_columns(std::string_view safe, std::size_t columns_max);

// Safe text of one line as several lines of `columns_max` columns, broken between words where that
// can be done.
std::vector<std::string> broken_line(std::string_view safe, std::size_t columns_max);

}  // namespace pawl
