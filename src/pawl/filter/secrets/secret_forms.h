// How a secret value may be written in a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// Shorter texts stand in any other by chance.
inline constexpr std::size_t kSecretFormBytesMin = 8;

// The value as it is, in hexadecimal, and in base64: of both alphabets, with and without padding,
// and wherever the value begins inside of what was encoded (then without the characters that it
// shares with its neighbours). Escapes and line ends are not forms: a TextView takes them away,
// from the text and, here, from the value. Distinct, each of kSecretFormBytesMin at least.
std::vector<std::string> secret_forms(std::string_view value);

}  // namespace pawl
