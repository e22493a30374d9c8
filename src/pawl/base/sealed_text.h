// A small file that Pawl writes, reads back and acts on begins with the digest of its text: a bit
// that flipped, or a part that was never written, is noticed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl {

// "sha256 DIGEST LENGTH\n", then the text.
std::string sealed(std::string_view text);
// The text, or nothing where it is damaged. What follows it is ignored: of a longer text that stood
// there before.
std::optional<std::string_view> unsealed(std::string_view bytes);

}  // namespace pawl
