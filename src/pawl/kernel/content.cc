#include "pawl/content.h"

namespace pawl {

std::uint64_t Content::length() const {
  if (const std::string* inline_bytes = bytes()) return inline_bytes->size();
  return blob()->length;
}

Digest Content::digest() const {
  if (const std::string* inline_bytes = bytes()) return sha256(*inline_bytes);
  return blob()->digest;
}

}  // namespace pawl
