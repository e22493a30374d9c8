// A private copy of a store that cannot be written (a read-only mount, missing permission), so that
// it can be looked at: SQLite needs to write beside a database to read its log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::uint64_t kPrivateCopyBytesMax = std::uint64_t{4} << 30U;  // database and log

// The directory, or a file of the store in it, that is there and may not be written; else empty.
std::string unwritable_part(const std::string& data);

// In a directory of its own (0700) beneath the system's for temporary files; removed with this.
class PrivateCopy {
 public:
  // limit_exceeded: more than `bytes_max`. not_found: there is no store. unavailable: it cannot be
  // read, or is written so fast that no two looks at its log agree.
  static Result<std::unique_ptr<PrivateCopy>> make(const std::string& data,
                                                   std::uint64_t bytes_max = kPrivateCopyBytesMax);
  ~PrivateCopy();
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  const std::string& path() const { return path_; }

 private:
  PrivateCopy() = default;

  std::string path_;
};

}  // namespace pawl
