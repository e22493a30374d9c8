#include "pawl/base/sha1.h"

#include <openssl/evp.h>

namespace pawl {

std::string sha1_bytes(std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha1(), nullptr);
  digest.resize(done == 1 ? size : 0);
  return digest;
}

}  // namespace pawl
