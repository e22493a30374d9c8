// Questions about the source around a token, for mistakes that yaml-cpp 0.7 lets pass: it closes an
// open quote at the end of the text, and takes a last line without a colon for a key. `at` is the
// offset of the token. Private to this adapter.
#pragma once

#include <cstddef>
#include <string_view>

namespace pawl {

// For a scalar that begins with a quote: there is a closing one and nothing is glued to it. True
// for all other scalars.
bool quote_is_closed(std::string_view text, std::size_t at);

// For the key of a block map: a colon follows it or a "?" introduces it. True when `at` is the end
// of the text, for keys that are not in it.
bool is_marked_as_key(std::string_view text, std::size_t at, std::string_view key);

// For the start of a document: a "---" is there, or a "..." before it.
bool is_marked_as_document(std::string_view text, std::size_t at);

}  // namespace pawl
