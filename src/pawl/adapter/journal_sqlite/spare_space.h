// The last part of a disk is kept for small records. A run that writes much waits for space before
// the disk is full, so that the others, messages, ends of runs and the notes of sessions go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pawl::sqlite {

// An append of more bytes waits while the disk has no more than what is spared.
inline constexpr std::size_t kLargeJobBytes = std::size_t{16} << 10U;
inline constexpr std::uint64_t kSparedBytesMin = std::uint64_t{16} << 20U;
inline constexpr std::uint64_t kSparedBytesMax = std::uint64_t{256} << 20U;

// Of a disk of `disk_bytes`: a fortieth, at least kSparedBytesMin but no more than an eighth, and
// at most kSparedBytesMax.
std::uint64_t spared_bytes(std::uint64_t disk_bytes);

// Whether the disk of `directory` has `bytes` beyond what is spared. A disk that cannot be asked
// has: what is written there says whether it was right.
bool has_space_beyond_spared(const std::string& directory, std::uint64_t bytes);

}  // namespace pawl::sqlite
