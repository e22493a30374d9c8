// A directory beneath the system's temporary one that goes with its owner, also one that was
// killed.
//
// Its owner holds a lock on it for as long as it lives, so that whoever comes next can tell what
// was left from what is in use, in whatever process.
#pragma once

#include <string>
#include <string_view>

#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::sandbox {

inline constexpr std::string_view kSandboxDirectory = "pawl-sandbox-";
inline constexpr std::string_view kBundleDirectory = "pawl-bundle-";

class OwnDirectory {
 public:
  OwnDirectory() = default;
  // Only for its owner, mode 0700.
  static Result<OwnDirectory> make(std::string_view prefix);
  OwnDirectory(OwnDirectory&&) = default;
  OwnDirectory& operator=(OwnDirectory&&) = default;
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  ~OwnDirectory();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor lock_;
};

// Removes those that nobody holds any more.
void sweep_directories(std::string_view prefix);

}  // namespace pawl::sandbox
