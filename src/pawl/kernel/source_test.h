// Where tests find files of this tree, and what the environment asks of them.
#pragma once

#include <cstdlib>
#include <string>

namespace pawl::testing {

inline std::string setting(const char* variable, const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

inline std::string source_directory() {
  return setting("PAWL_SOURCE_DIR", ".");
}

}  // namespace pawl::testing
