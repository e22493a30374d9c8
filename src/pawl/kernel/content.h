// Bytes that came from outside: kept as received, and by reference once they are large.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "pawl/base/hash.h"

namespace pawl {

// Longer bytes go to the blob store before the kernel sees them.
inline constexpr std::size_t kInlineBytesMax = 4096;

struct BlobRef {
  Digest digest;
  std::uint64_t length = 0;

  friend bool operator==(const BlobRef&, const BlobRef&) = default;
};

struct Content {
  std::variant<std::string, BlobRef> held;

  Content() = default;
  explicit Content(std::string bytes) : held(std::move(bytes)) {}
  explicit Content(BlobRef ref) : held(ref) {}

  const std::string* bytes() const { return std::get_if<std::string>(&held); }
  const BlobRef* blob() const { return std::get_if<BlobRef>(&held); }
  std::uint64_t length() const;
  bool empty() const { return length() == 0; }
  // Inline bytes and a blob of the same bytes have the same digest.
  Digest digest() const;

  friend bool operator==(const Content&, const Content&) = default;
};

}  // namespace pawl
