// Protected names that exist: each is mounted over itself inside, read-only or hidden.
//
// Nothing is made for a name that does not exist; what a command makes there is taken away when its
// call ends (session/name_watch.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::sandbox {

inline constexpr std::size_t kPlacesMax = 4096;

// What the mount of a place does, weakest first.
struct ProtectedPlace {
  std::string path;
  // `in_place` only keeps it from being renamed.
  enum class Hold : std::uint8_t { in_place, read_only, hidden } hold = Hold::read_only;
  bool is_directory = false;
  // What was found there. A file system may give the number of a file that was removed to the next
  // one at once, so the time at which it was made is a part of it.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t born_ns = 0;  // 0: the file system does not know

    friend bool operator==(const Identity&, const Identity&) = default;
  };
  Identity identity = {};

  // The path still leads to what was found.
  bool is_unchanged() const;
};

class ProtectedPlaces {
 public:
  // Refuses names that are symbolic links, or lead through one: what a link leads to cannot be
  // held.
  Status find(const SandboxPlan& plan);
  // Parents before what is in them.
  const std::vector<ProtectedPlace>& places() const { return places_; }

 private:
  Status hold_way(const std::string& outer, const std::string& path);
  Status hold_names(const SandboxPlan& plan, const std::string& directory);
  Status hold_path(const std::string& directory, const std::string& name,
                   ProtectedPlace::Hold hold);
  Status hold_paths(const SandboxPlan& plan, const std::vector<std::string>& paths,
                    ProtectedPlace::Hold hold);
  Status note(const std::string& path, ProtectedPlace::Hold hold,
              const ProtectedPlace::Identity& identity, bool is_directory);

  std::vector<ProtectedPlace> places_;
  std::map<std::string, std::size_t, std::less<>> index_;  // by path, while they are found
};

}  // namespace pawl::sandbox
