#include "pawl/adapter/backend/files/image_kind.h"

namespace pawl::backend {
namespace {

using namespace std::string_view_literals;

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8U | byte_at(bytes, at + i);
  return value;
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = count; i > 0; --i) value = value << 8U | byte_at(bytes, at + i - 1);
  return value;
}

ImageKind jpeg(std::string_view bytes) {
  ImageKind kind{"image/jpeg", 0, 0};
  std::size_t at = 2;
  while (at + 9 < bytes.size() && byte_at(bytes, at) == 0xff) {
    const std::uint32_t marker = byte_at(bytes, at + 1);
    const bool is_frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame) {
      kind.height = big_endian(bytes, at + 5, 2);
      kind.width = big_endian(bytes, at + 7, 2);
      break;
    }
    at += 2 + std::size_t{big_endian(bytes, at + 2, 2)};  // moves on by two at least
  }
  return kind;
}

ImageKind webp(std::string_view bytes) {
  constexpr std::uint32_t kSizeMask = 0x3fff;
  const std::string_view chunk = bytes.substr(12, 4);
  if (chunk == "VP8X") {
    return {"image/webp", little_endian(bytes, 24, 3) + 1, little_endian(bytes, 27, 3) + 1};
  }
  if (chunk == "VP8 ") {
    return {"image/webp", little_endian(bytes, 26, 2) & kSizeMask,
            little_endian(bytes, 28, 2) & kSizeMask};
  }
  const std::uint32_t bits = little_endian(bytes, 21, 4);
  return {"image/webp", (bits & kSizeMask) + 1, (bits >> 14U & kSizeMask) + 1};
}

}  // namespace

std::optional<ImageKind> image_kind(std::string_view bytes) {
  constexpr std::size_t kHeadMin = 30;  // the longest head that is read; no real image is shorter
  if (bytes.size() < kHeadMin) return std::nullopt;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv) && bytes.substr(12, 4) == "IHDR") {
    return ImageKind{"image/png", big_endian(bytes, 16, 4), big_endian(bytes, 20, 4)};
  }
  if (bytes.starts_with("\xff\xd8\xff"sv)) return jpeg(bytes);
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) {
    return ImageKind{"image/gif", little_endian(bytes, 6, 2), little_endian(bytes, 8, 2)};
  }
  if (bytes.starts_with("RIFF"sv) && bytes.substr(8, 4) == "WEBP" && bytes.substr(12, 3) == "VP8") {
    return webp(bytes);
  }
  return std::nullopt;
}

}  // namespace pawl::backend
