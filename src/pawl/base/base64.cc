#include "pawl/base/base64.h"

#include <array>
#include <cstdint>

namespace pawl {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 255;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values) value = kNoDigit;
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<std::uint8_t>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

Error not_base64() {
  return Error{ErrorCode::invalid_argument, "not base64"};
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= count ? kDigits[group >> (18U - 6U * k) & 63U] : '=');
    }
  }
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return not_base64();
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint8_t value = k < digits ? kValues[static_cast<std::uint8_t>(text[i + k])] : 0;
      if (value == kNoDigit) return not_base64();
      group = group << 6U | value;
    }
    for (std::size_t k = 0; k + 1 < digits; ++k) {
      bytes.push_back(static_cast<char>(group >> (16U - 8U * k) & 255U));
    }
    // Bits beyond the last byte are zero, or there would be two texts for the same bytes.
    const std::uint32_t rest = digits == 4 ? 0 : group & (digits == 3 ? 0xFFU : 0xFFFFU);
    if (rest != 0) return not_base64();
  }
  return bytes;
}

}  // namespace pawl
