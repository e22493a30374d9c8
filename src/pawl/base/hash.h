// SHA-256, the one hash of Pawl: chain links, content addresses, call keys.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/base/result.h"

namespace pawl {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

Digest sha256(std::string_view bytes);

// The digest of several pieces as if they were one string.
class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  Digest finish();

 private:
  // OpenSSL's, which is not everybody's to see.
  alignas(std::uint64_t) std::array<std::byte, 112> context_;
};

std::string to_hex(const Digest& digest);
Result<Digest> digest_from_hex(std::string_view text);
// The digest whose 32 bytes are `raw`; any other length is an error.
Result<Digest> digest_from_raw(std::string_view raw);

}  // namespace pawl
