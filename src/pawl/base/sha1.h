// SHA-1, which git writes at the end of its files: to notice damage, and for nothing else.
#pragma once

#include <string>
#include <string_view>

namespace pawl {

// 20 bytes. Empty: this machine's OpenSSL forbids it.
std::string sha1_bytes(std::string_view bytes);

}  // namespace pawl
