#include "pawl/filter/secrets/secret_forms.h"

#include <algorithm>
#include <cstdint>

#include "pawl/base/base64.h"
#include "pawl/filter/secrets/text_view.h"

namespace pawl {
namespace {

std::string to_hex(std::string_view value, std::string_view digits) {
  std::string text;
  text.reserve(2 * value.size());
  for (const char c : value) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += {digits[byte >> 4U], digits[byte & 15U]};
  }
  return text;
}

std::string to_url_alphabet(std::string text) {
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

// The characters of a base64 text that depend on the value alone, when it begins `offset` bytes
// behind a group of three.
std::string base64_core(std::string_view value, std::size_t offset) {
  constexpr std::size_t kBitsOfByte = 8;
  constexpr std::size_t kBitsOfCharacter = 6;
  const std::string text = to_base64(std::string(offset, '\0') + std::string(value));
  const std::size_t first = (kBitsOfByte * offset + kBitsOfCharacter - 1) / kBitsOfCharacter;
  const std::size_t end = kBitsOfByte * (offset + value.size()) / kBitsOfCharacter;
  return text.substr(first, end - first);
}

}  // namespace

std::vector<std::string> secret_forms(std::string_view value) {
  std::vector<std::string> forms;
  const auto add = [&forms](std::string form) {
    if (form.size() < kSecretFormBytesMin) return;
    if (std::find(forms.begin(), forms.end(), form) != forms.end()) return;
    forms.push_back(std::move(form));
  };
  add(std::string(plain_view(value).text()));
  const TextView decoded = decoded_view(value);
  if (decoded.unfinished() == value.size()) add(std::string(decoded.text()));
  add(to_hex(value, "0123456789abcdef"));
  add(to_hex(value, "0123456789ABCDEF"));
  const std::string padded = to_base64(value);
  std::string bare = padded;
  while (!bare.empty() && bare.back() == '=') bare.pop_back();
  for (const std::string& text :
       {padded, bare, base64_core(value, 0), base64_core(value, 1), base64_core(value, 2)}) {
    add(text);
    add(to_url_alphabet(text));
  }
  return forms;
}

}  // namespace pawl
