// A workspace of a test's own: root/ is a write root and the working directory, reference/ a read
// root, and outside/ nobody's.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "pawl/adapter/backend/files/rooted_files.h"
#include "tests/support/temp_directory.h"

namespace pawl::backend {

constexpr std::uint64_t kTestOutputBytes = 64U << 10U;

class Workspace {
 public:
  Workspace() {
    for (const char* name : {"root", "reference", "outside"}) {
      std::filesystem::create_directory(directory_ / name);
    }
    put(outside("secret"), "outside\n");
  }

  FileRoots roots() const {
    return {directory_ / "root",
            {directory_ / "root"},
            {directory_ / "reference"},
            {".git/hooks", ".git/config", ".pawl", ".mcp.json"}};
  }
  std::shared_ptr<RootedFiles> open() const {
    auto files = RootedFiles::open(roots());
    REQUIRE(files);
    return *files;
  }

  std::string root(const std::string& name) const { return directory_ / ("root/" + name); }
  std::string reference(const std::string& name) const {
    return directory_ / ("reference/" + name);
  }
  std::string outside(const std::string& name) const { return directory_ / ("outside/" + name); }

  static void put(const std::string& path, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static std::string get(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Names in a directory and below it, temporary files and all.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "root")) {
      found.push_back(entry.path().lexically_relative(directory_ / "root").string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  TempDirectory directory_;
};

inline bool succeeded(const BackendOutcome& outcome) {
  return outcome.kind == BackendOutcome::Kind::ok;
}
inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace pawl::backend
