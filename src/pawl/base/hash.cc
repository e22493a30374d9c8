// A hash of a few hundred bytes is made several times for every record. The interface that names an
// algorithm costs a third more than SHA-256 itself then; the older one is still OpenSSL's own.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "pawl/ids.h"

#include <openssl/sha.h>

#include <algorithm>
#include <new>
#include <type_traits>

namespace pawl {
namespace {

template <class Room>
SHA256_CTX* state(Room& context) {
  static_assert(sizeof(Room) >= sizeof(SHA256_CTX));
  static_assert(std::is_trivially_copyable_v<SHA256_CTX>);
  return reinterpret_cast<SHA256_CTX*>(context.data());
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  SHA256_CTX context;
  Digest digest;
  PAWL_ASSERT(SHA256_Init(&context) == 1);
  PAWL_ASSERT(SHA256_Update(&context, bytes.data(), bytes.size()) == 1);
  PAWL_ASSERT(SHA256_Final(digest.bytes.data(), &context) == 1);
  return digest;
}

Sha256::Sha256() {
  new (context_.data()) SHA256_CTX;
  PAWL_ASSERT(SHA256_Init(state(context_)) == 1);
}

Sha256& Sha256::add(std::string_view bytes) {
  PAWL_ASSERT(SHA256_Update(state(context_), bytes.data(), bytes.size()) == 1);
  return *this;
}

Digest Sha256::finish() {
  Digest digest;
  PAWL_ASSERT(SHA256_Final(digest.bytes.data(), state(context_)) == 1);
  return digest;
}

std::string to_hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(digest.bytes.size() * 2, '0');
  auto digit = text.begin();
  for (const std::uint8_t byte : digest.bytes) {
    *digit++ = kDigits[byte >> 4U];
    *digit++ = kDigits[byte & 15U];
  }
  return text;
}

Result<Digest> digest_from_hex(std::string_view text) {
  Digest digest;
  if (text.size() != digest.bytes.size() * 2) {
    return Error{ErrorCode::invalid_argument, "a digest has 64 hexadecimal digits"};
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return Error{ErrorCode::invalid_argument, "a digest has 64 hexadecimal digits"};
    }
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

Result<Digest> digest_from_raw(std::string_view raw) {
  Digest digest;
  if (raw.size() != digest.bytes.size()) {
    return Error{ErrorCode::corrupt, "a digest has 32 bytes"};
  }
  std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(digest.bytes.data()));
  return digest;
}

}  // namespace pawl
