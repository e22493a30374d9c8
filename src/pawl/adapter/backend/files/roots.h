// The directories that file tools may touch, as held descriptors, and the one way from a path that
// somebody wrote to a file beneath one of them.
//
// A path is made absolute and plain as text ("." and ".." are taken out), the longest root that it
// lies beneath is chosen, and the kernel walks the rest from that root's descriptor:
// openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV). So links, names and races
// cannot lead out, and a mount inside a root is refused unless it is a root of its own. What is
// written is reached without any symbolic link at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/files/system_error.h"
#include "pawl/base/descriptor.h"
#include "pawl/base/result.h"

namespace pawl::backend {

struct FileRoots {
  std::string working_directory;             // absolute; where relative paths begin
  std::vector<std::string> write_roots;      // absolute; may be written and read
  std::vector<std::string> read_roots;       // absolute
  std::vector<std::string> protected_names;  // ".git/hooks": never written, at any depth
  std::string artifact_directory = {};       // absolute; where cut output is kept; may be empty
};

inline constexpr std::size_t kPathBytesMax = 4095;
inline constexpr std::size_t kRootsMax = 64;

enum class Access : std::uint8_t { read, write };

// A path that lies beneath a root. Lives no longer than its Roots.
struct Place {
  int root = -1;         // the root's descriptor
  std::string relative;  // from there, plain; "." is the root itself
  std::string absolute;  // plain: the key by which a file is remembered
  std::string path;      // as a caller would write it: from the working directory if beneath it
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
  bool is_protected(std::string_view relative) const;

 private:
  struct Root {
    std::string path;   // as it was given
    std::string alias;  // where it really is
    Access access = Access::read;
    Descriptor directory;
  };

  Roots() = default;
  Status add(const std::string& path, Access access);
  bool covers(const std::string& path) const;
  std::string outside(std::string_view path, Access access) const;
  std::string shown_path(const std::string& absolute) const;

  std::string working_directory_;
  std::vector<Root> roots_;
  std::vector<std::vector<std::string>> protected_names_;
};

enum class Links : std::uint8_t { refused, beneath };

// Opens with O_CLOEXEC | O_NOCTTY | O_NONBLOCK, without leaving the place's root.
Result<Descriptor> open_place(const Place& place, int flags, Links links);
// Likewise one level below an open directory.
Result<Descriptor> open_child(int directory, const std::string& name, int flags);

// "/a/b/../c//d" as "/a/c/d"; ".." above the top is an error.
Result<std::string> plain_path(std::string_view absolute);
std::vector<std::string> split_path(std::string_view path);

}  // namespace pawl::backend
