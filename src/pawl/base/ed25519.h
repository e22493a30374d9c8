// Signatures by Ed25519 (RFC 8032), by OpenSSL.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kEd25519KeyBytes = 32;
inline constexpr std::size_t kEd25519SignatureBytes = 64;

// "ed25519:" and the key in base64.
std::string public_key_text(std::string_view key);
// The 32 bytes; invalid_argument says what the text lacks.
Result<std::string> parse_public_key(std::string_view text);

bool verify_ed25519(std::string_view key, std::string_view message, std::string_view signature);

class SigningKey {
 public:
  enum class Passphrase : std::uint8_t { none, asked };  // OpenSSL asks for it at the terminal

  // A new one, from the system's random source.
  static Result<SigningKey> make();
  // From 32 bytes: the same key each time.
  static Result<SigningKey> of_seed(std::string_view seed);
  // PKCS #8. A key with a passphrase is asked for at the terminal.
  static Result<SigningKey> of_pem(const std::string& pem);
  SigningKey(SigningKey&&) noexcept;
  SigningKey& operator=(SigningKey&&) noexcept;
  ~SigningKey();

  Result<std::string> to_pem(Passphrase passphrase) const;
  std::string public_key() const;  // 32 bytes
  std::string sign(std::string_view message) const;

 private:
  struct Parts;
  explicit SigningKey(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace pawl
