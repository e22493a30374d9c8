// The system's words for an errno, in English whatever the locale.
#pragma once

#include <cstring>
#include <string>

namespace pawl {

inline std::string describe_errno(int number) {
  const char* text = ::strerrordesc_np(number);
  return text == nullptr ? "error " + std::to_string(number) : text;
}

}  // namespace pawl
