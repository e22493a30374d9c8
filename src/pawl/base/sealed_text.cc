#include "pawl/base/sealed_text.h"

#include <charconv>
#include <cstddef>

#include "pawl/ids.h"

namespace pawl {
namespace {

constexpr std::string_view kSealWord = "sha256 ";

// Over the length, too: a shorter text must not pass by a digit that flipped.
std::string seal_of(std::string_view text) {
  const std::string length = std::to_string(text.size());
  const Digest digest = Sha256().add(length).add("\n").add(text).finish();
  return std::string(kSealWord) + to_hex(digest) + " " + length + "\n";
}

}  // namespace

std::string sealed(std::string_view text) {
  return seal_of(text).append(text);
}

std::optional<std::string_view> unsealed(std::string_view bytes) {
  constexpr std::size_t kBeforeLength = kSealWord.size() + 2 * sizeof(Digest::bytes) + 1;
  const std::size_t end = bytes.substr(0, kBeforeLength + 20).find('\n');
  if (end == std::string_view::npos || end <= kBeforeLength) return std::nullopt;
  std::size_t length = 0;
  const char* last = bytes.data() + end;
  const auto read = std::from_chars(bytes.data() + kBeforeLength, last, length);
  if (read.ec != std::errc{} || read.ptr != last) return std::nullopt;
  const std::string_view text = bytes.substr(end + 1, length);
  if (text.size() != length || bytes.substr(0, end + 1) != seal_of(text)) return std::nullopt;
  return text;
}

}  // namespace pawl
