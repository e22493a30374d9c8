#include "pawl/adapter/backend/files/image_kind.h"

#include <doctest/doctest.h>

#include <string>

namespace pawl::backend {
namespace {

std::string padded(std::string head) {
  head.resize(64, '\0');
  return head;
}

TEST_CASE("images are known by their first bytes, with their size") {
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\x20", 24);
  const std::string gif("GIF89a\x10\0\x20\0", 10);
  const std::string jpeg("\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x11\x08\0\x20\0\x10", 17);
  const std::string extended("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0", 30);
  const std::string lossy("RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x10\0\x20\0", 30);
  const std::string lossless("RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x0f\xc0\x07\0", 25);

  CHECK(image_kind(padded(png)) == ImageKind{"image/png", 256, 32});
  CHECK(image_kind(padded(gif)) == ImageKind{"image/gif", 16, 32});
  CHECK(image_kind(padded(jpeg)) == ImageKind{"image/jpeg", 16, 32});
  CHECK(image_kind(padded(extended)) == ImageKind{"image/webp", 16, 32});
  CHECK(image_kind(padded(lossy)) == ImageKind{"image/webp", 16, 32});
  CHECK(image_kind(padded(lossless)) == ImageKind{"image/webp", 16, 32});
}

TEST_CASE("text, short heads and broken images are no images, or have no size") {
  CHECK_FALSE(image_kind(""));
  CHECK_FALSE(image_kind("GIF89a"));
  CHECK_FALSE(image_kind(padded("plain text")));
  CHECK_FALSE(image_kind(padded("RIFF....WAVE")));
  CHECK(image_kind(padded("\xff\xd8\xff\xe0")) == ImageKind{"image/jpeg", 0, 0});
  CHECK(image_kind("\xff\xd8" + std::string(1000, '\xff')) == ImageKind{"image/jpeg", 0, 0});
}

}  // namespace
}  // namespace pawl::backend
