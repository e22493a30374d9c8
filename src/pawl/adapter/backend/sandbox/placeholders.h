// Names that are protected although they do not exist yet (.pawl, .git/hooks, …).
//
// The kernel cannot mount over nothing: an empty directory or file is made for each, and marked as
// ours by its mode. Sessions that need one hold a shared lock on it, in whatever process; the last
// one to leave removes it, also one that a host which was killed has left.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/descriptor.h"
#include "pawl/base/result.h"

namespace pawl::sandbox {

// A place that is mounted over itself inside: read-only, or only so that it cannot be renamed.
struct ProtectedPlace {
  std::string path;
  enum class Hold : std::uint8_t { in_place, read_only } hold = Hold::read_only;
};

// By its mode: made by a session here or elsewhere, and nothing is in it.
bool is_placeholder(const struct stat& status);

class Placeholders {
 public:
  Placeholders() = default;
  Placeholders(const Placeholders&) = delete;
  Placeholders& operator=(const Placeholders&) = delete;
  ~Placeholders();

  // Refuses names that lead through symbolic links: what they point at is not the kernel's to hold.
  Status make(const SandboxPlan& plan);
  // Parents before what is in them.
  const std::vector<ProtectedPlace>& places() const { return places_; }

 private:
  struct Made {
    Descriptor parent;
    Descriptor object;
    std::string name;
  };
  Status hold_way(const std::string& outer, const std::string& path);
  Status protect(const std::string& root, const std::string& name);
  Result<Descriptor> make_one(const Descriptor& parent, const std::string& name,
                              const std::string& path);
  void note(const std::string& path, ProtectedPlace::Hold hold);

  std::vector<ProtectedPlace> places_;
  std::vector<Made> made_;
};

}  // namespace pawl::sandbox
