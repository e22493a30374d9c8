#include "pawl/base/ed25519.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// RFC 8032, 7.1, test 2.
constexpr std::string_view kSeed =
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
constexpr std::string_view kPublic =
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
constexpr std::string_view kSignature =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

TEST_CASE("a signature as in RFC 8032") {
  const auto key = SigningKey::of_seed(from_hex(kSeed));
  REQUIRE(key);
  CHECK(key->public_key() == from_hex(kPublic));
  CHECK(key->sign("\x72") == from_hex(kSignature));
  CHECK(verify_ed25519(from_hex(kPublic), "\x72", from_hex(kSignature)));
  CHECK_FALSE(verify_ed25519(from_hex(kPublic), "\x73", from_hex(kSignature)));
  CHECK_FALSE(verify_ed25519(from_hex(kPublic), "\x72", "short"));
  CHECK_FALSE(verify_ed25519("short", "\x72", from_hex(kSignature)));
  CHECK_FALSE(SigningKey::of_seed("short"));
}

TEST_CASE("a key goes into a file and comes back") {
  const auto key = SigningKey::make();
  REQUIRE(key);
  const auto pem = key->to_pem(SigningKey::Passphrase::none);
  REQUIRE(pem);
  const auto again = SigningKey::of_pem(*pem);
  REQUIRE(again);
  CHECK(again->public_key() == key->public_key());
  CHECK(SigningKey::make()->public_key() != key->public_key());
  CHECK_FALSE(SigningKey::of_pem("x"));
  CHECK_FALSE(SigningKey::of_pem(""));
}

TEST_CASE("public keys as text") {
  const std::string key = from_hex(kPublic);
  const auto read = parse_public_key(public_key_text(key));
  REQUIRE(read);
  CHECK(*read == key);
  CHECK_FALSE(parse_public_key("rsa:abc"));
  CHECK_FALSE(parse_public_key("ed25519:abc"));
  CHECK_FALSE(parse_public_key("ed25519:" + std::string(44, 'A')));
}

}  // namespace
}  // namespace pawl
