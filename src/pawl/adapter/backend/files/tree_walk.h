// A bounded walk over a directory and what lies below it, in order of names. No link is followed,
// no mount is entered, and temporary files of ours are not seen.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pawl/adapter/backend/files/roots.h"

namespace pawl::backend {

inline constexpr std::size_t kWalkDepthMax = 64;
inline constexpr std::size_t kWalkEntriesMax = 100'000;
inline constexpr std::int64_t kWalkTimeMaxMs = 20'000;  // names and patterns may be made to be slow

struct WalkEntry {
  int directory = -1;  // that holds it, open during the visit
  const std::string& name;
  const std::string& relative;  // from where the walk started
  struct stat status;
  std::size_t depth = 1;
};

enum class Visit : std::uint8_t {
  go_on,
  pass_by,  // do not look into this directory
  stop,
};

enum class WalkEnd : std::uint8_t {
  complete,
  stopped,  // the visitor said so
  bounded,  // there was more, or deeper, than a walk takes, or it took too long
};

struct WalkBounds {
  std::size_t depth_max = kWalkDepthMax;
  std::size_t entries_max = kWalkEntriesMax;
  std::int64_t time_ms_max = kWalkTimeMaxMs;
};

// When something that began now has taken too long.
class Deadline {
 public:
  explicit Deadline(std::int64_t time_ms)
      : end_(std::chrono::steady_clock::now() + std::chrono::milliseconds(time_ms)) {}
  bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

using Visitor = std::function<Visit(const WalkEntry&)>;

Result<WalkEnd> walk_tree(const Place& start, const WalkBounds& bounds, const Visitor& visitor);

// Directories that hold other people's files: searches and scans pass them by.
bool is_bulk_directory(std::string_view name);

}  // namespace pawl::backend
