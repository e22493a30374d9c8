#include "pawl/port/http.h"

#include <array>

namespace pawl {

const std::string* HttpResponseHead::find(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return &header.value;
  }
  return nullptr;
}

std::string_view name(HttpFailure value) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "none",   "aborted",  "connect",   "tls",     "timeout",
      "broken", "protocol", "too_large", "invalid", "overloaded"};
  return kNames[static_cast<std::size_t>(value)];
}

}  // namespace pawl
