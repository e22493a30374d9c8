// Where the public test suites are found. The repository does not contain them: a test says so and
// skips its cases when they are missing.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace pawl {

// PAWL_SHARED_DATA, or shared/data beside the source tree.
inline std::filesystem::path shared_data() {
  if (const char* const folder = std::getenv("PAWL_SHARED_DATA")) return folder;
  const char* const source = std::getenv("PAWL_SOURCE_DIR");
  return std::filesystem::path(source != nullptr ? source : ".") / "../shared/data";
}

inline std::string shared_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace pawl
