// The directories that file tools may touch, as held descriptors, and the one way from a path that
// somebody wrote to a file beneath one of them.
//
// A path is made absolute and plain as text ("." and ".." are taken out), the longest root that it
// lies beneath is chosen, and the kernel walks the rest from that root's descriptor:
// openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV). So links, names and races
// cannot lead out, and a mount inside a root is refused unless it is a root of its own. What is
// written is reached without any symbolic link at all.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/files/system_error.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::backend {

struct FileRoots {
  std::string working_directory;               // absolute; where relative paths begin
  std::vector<std::string> write_roots;        // absolute; may be written and read
  std::vector<std::string> read_roots;         // absolute
  std::vector<std::string> protected_names;    // ".envrc": never written (port/protected_names.h)
  std::string artifact_directory = {};         // absolute; where cut output is kept; may be empty
  std::vector<std::string> hidden_names = {};  // ".ssh": neither written nor read
  std::vector<std::string> protected_places = {};  // absolute: never written, nor what is beneath
  std::vector<std::string> deny_roots = {};  // absolute: neither, unless a longer root says so
  std::string scratch_directory = {};        // absolute; for temporary files; may be empty
  enum class Links : std::uint8_t { followed, refused } links = Links::followed;  // in the roots
};

inline constexpr std::size_t kPathBytesMax = 4095;
inline constexpr std::size_t kRootsMax = 64;

enum class Access : std::uint8_t { read, write, none };

class Roots;

// A path that lies beneath a root. Lives no longer than its Roots.
struct Place {
  int root = -1;         // the root's descriptor
  std::string relative;  // from there, plain; "." is the root itself
  std::string absolute;  // plain: the key by which a file is remembered
  std::string path;      // as a caller would write it: from the working directory if beneath it
  const Roots* of = nullptr;  // set: what these hide is not opened, and passed by in walks
};

class Roots {
 public:
  // Every root must be a directory that can be opened now.
  static Result<Roots> open(const FileRoots& roots);

  // An error names the roots, so that whoever wrote the path can correct it.
  Result<Place> place(std::string_view path, Access access) const;
  // A name beneath a directory, for walks; `name` has no slash.
  static Place beneath(const Place& directory, std::string_view name);

  std::vector<Place> write_places() const;
  // No tool may read it. `absolute` is plain.
  bool is_hidden(const std::string& absolute) const;
  // Whether the last components of a path are a protected or hidden name that holds at any depth,
  // in a place that may be written.
  bool is_name(const std::string& absolute) const;
  // A quick look at the last component.
  bool may_end_name(const std::string& part) const { return last_parts_.contains(part); }

 private:
  struct Root {
    std::string path;   // as it was given
    std::string alias;  // where it really is
    Access access = Access::read;
    Descriptor directory;
  };

  // A name, and whether it holds only in a root, the working directory and between them.
  struct Name {
    std::vector<std::string> parts;
    bool in_places = false;
  };
  struct Best {
    const Root* root = nullptr;
    std::string below;  // relative to it
  };

  Roots() = default;
  Status add(const std::string& path, Access access, FileRoots::Links links);
  Best best_of(const std::string& plain) const;
  static std::vector<Name> names_from(const std::vector<std::string>& names);
  enum class Part : std::uint8_t { whole, beginning };
  bool has_name(const std::vector<Name>& names, const Best& place, Part part) const;
  bool is_protected(const Best& place, const std::string& plain) const;
  bool is_place(const Root& root, const std::vector<std::string>& parts, std::size_t count) const;
  bool covers(const std::string& path) const;
  std::string outside(std::string_view path, Access access) const;
  std::string shown_path(const std::string& absolute) const;

  std::string working_directory_;
  std::vector<Root> roots_;
  std::vector<Name> protected_names_;
  std::vector<Name> hidden_names_;
  std::vector<std::string> protected_places_;
  std::set<std::string> last_parts_;  // of names that hold at any depth
};

enum class Links : std::uint8_t { refused, beneath };

// Opens with O_CLOEXEC | O_NOCTTY | O_NONBLOCK, without leaving the place's root. A link to
// something that the place's Roots hide is refused.
Result<Descriptor> open_place(const Place& place, int flags, Links links);
// Likewise one level below an open directory.
Result<Descriptor> open_child(int directory, const std::string& name, int flags);

// "/a/b/../c//d" as "/a/c/d"; ".." above the top is an error.
Result<std::string> plain_path(std::string_view absolute);
std::vector<std::string> split_path(std::string_view path);

}  // namespace pawl::backend
