// A hash of a few hundred bytes is made several times for every record. The interface that names an
// algorithm costs a third more than SHA-256 itself then; the older one is still OpenSSL's own.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "pawl/base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <new>

namespace pawl {
namespace {

// As when `new` gets none: the process's handler is called, and std::bad_alloc thrown if it
// returns.
[[noreturn]] void out_of_memory() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

// Fetched once: EVP_sha256() looks the algorithm up again on every init, which costs more than
// hashing a short message.
const EVP_MD* algorithm() {
  static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (fetched == nullptr) out_of_memory();  // Every OpenSSL has SHA-256.
  return fetched;
}

EVP_MD_CTX* new_context() {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  if (context == nullptr) out_of_memory();
  return context;
}

void begin(EVP_MD_CTX* context) {
  if (EVP_DigestInit_ex2(context, algorithm(), nullptr) != 1) out_of_memory();
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

Sha256::Sha256() : context_(new_context()) {
  begin(static_cast<EVP_MD_CTX*>(context_));
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
}

Sha256& Sha256::add(std::string_view bytes) {
  PAWL_ASSERT(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), bytes.data(), bytes.size()) ==
              1);
  return *this;
}

Digest Sha256::finish() {
  Digest digest;
  PAWL_ASSERT(
      EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), digest.bytes.data(), nullptr) == 1);
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
