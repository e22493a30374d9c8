// A directory of a test's own, gone with the test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "pawl/result.h"

namespace pawl {

class TempDirectory {
 public:
  TempDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "pawl-test-XXXXXX").string();
    PAWL_ASSERT(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TempDirectory() {
    std::error_code ignored;  // A test that failed may have left anything behind.
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace pawl
