#include "pawl/base/ed25519.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "pawl/base/base64.h"
#include "pawl/result.h"

namespace pawl {
namespace {

constexpr std::string_view kPrefix = "ed25519:";

struct DigestDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, DigestDeleter>;
using Bio = std::unique_ptr<BIO, BioDeleter>;

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Error failed(const std::string& what) {
  return {ErrorCode::invalid_argument, what};
}

}  // namespace

struct SigningKey::Parts {
  struct KeyDeleter {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  std::unique_ptr<EVP_PKEY, KeyDeleter> key;
};

std::string public_key_text(std::string_view key) {
  return std::string(kPrefix) + to_base64(key);
}

Result<std::string> parse_public_key(std::string_view text) {
  if (!text.starts_with(kPrefix)) return failed("a public key begins with \"ed25519:\"");
  auto key = from_base64(text.substr(kPrefix.size()));
  if (!key || key->size() != kEd25519KeyBytes) {
    return failed("a public key is \"ed25519:\" and 32 bytes in base64, as pawl identity shows it");
  }
  return *std::move(key);
}

bool verify_ed25519(std::string_view key, std::string_view message, std::string_view signature) {
  if (key.size() != kEd25519KeyBytes || signature.size() != kEd25519SignatureBytes) return false;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> known(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(key), key.size()),
      &EVP_PKEY_free);
  const DigestContext context(EVP_MD_CTX_new());
  if (!known || !context) return false;
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, known.get()) != 1) {
    return false;
  }
  return EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(message),
                          message.size()) == 1;
}

SigningKey::SigningKey(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SigningKey::SigningKey(SigningKey&&) noexcept = default;
SigningKey& SigningKey::operator=(SigningKey&&) noexcept = default;
SigningKey::~SigningKey() = default;

Result<SigningKey> SigningKey::make() {
  auto parts = std::make_unique<Parts>();
  parts->key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!parts->key) return failed("OpenSSL cannot make an Ed25519 key");
  return SigningKey(std::move(parts));
}

Result<SigningKey> SigningKey::of_seed(std::string_view seed) {
  auto parts = std::make_unique<Parts>();
  parts->key.reset(
      seed.size() == kEd25519KeyBytes
          ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, octets(seed), seed.size())
          : nullptr);
  if (!parts->key) return failed("a seed has 32 bytes");
  return SigningKey(std::move(parts));
}

Result<SigningKey> SigningKey::of_pem(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  auto parts = std::make_unique<Parts>();
  parts->key.reset(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!parts->key || EVP_PKEY_id(parts->key.get()) != EVP_PKEY_ED25519) {
    return failed("not an Ed25519 key in PEM, or a wrong passphrase");
  }
  return SigningKey(std::move(parts));
}

Result<std::string> SigningKey::to_pem(Passphrase passphrase) const {
  const Bio bio(BIO_new(BIO_s_mem()));
  const EVP_CIPHER* cipher = passphrase == Passphrase::asked ? EVP_aes_256_cbc() : nullptr;
  if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), parts_->key.get(), cipher, nullptr, 0,
                                            nullptr, nullptr) != 1) {
    return failed("the key was not written: no passphrase was given");
  }
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(bytes));
}

std::string SigningKey::public_key() const {
  std::string key(kEd25519KeyBytes, '\0');
  std::size_t bytes = key.size();
  PAWL_ASSERT(EVP_PKEY_get_raw_public_key(
                  parts_->key.get(), reinterpret_cast<unsigned char*>(key.data()), &bytes) == 1);
  return key;
}

std::string SigningKey::sign(std::string_view message) const {
  std::string signature(kEd25519SignatureBytes, '\0');
  std::size_t bytes = signature.size();
  const DigestContext context(EVP_MD_CTX_new());
  PAWL_ASSERT(context &&
              EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, parts_->key.get()) == 1);
  PAWL_ASSERT(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                             &bytes, octets(message), message.size()) == 1);
  return signature;
}

}  // namespace pawl
