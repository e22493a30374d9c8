// Which kind of image some bytes are, by their content: a name says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pawl::backend {

struct ImageKind {
  std::string_view media_type;  // image/png, image/jpeg, image/gif, image/webp
  std::uint32_t width = 0;      // zero where it could not be read
  std::uint32_t height = 0;

  friend bool operator==(const ImageKind&, const ImageKind&) = default;
};

std::optional<ImageKind> image_kind(std::string_view bytes);

}  // namespace pawl::backend
