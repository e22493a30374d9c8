// The smallest bytes that become the most: a gzip stream in which every zero byte stands for
// kBombRatio zeros, so that it can be sent for as long as somebody decompresses it.
#pragma once

#include <cstdint>
#include <string>

namespace pawl::fake {

inline constexpr std::uint64_t kBombRatio = 1032;  // four matches of 258 bytes, two bits each

// The gzip header, the deflate block's header and its first literal. Zero bytes follow, any number.
std::string gzip_bomb_opening();

}  // namespace pawl::fake
