// Names by pattern: * and ? within a name, [a-z] and [!a-z], {a,b} alternatives, ** for any number
// of directories, \ before a character that is meant literally. A leading dot must be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::backend {

inline constexpr std::size_t kGlobBytesMax = 1000;
inline constexpr std::size_t kGlobAlternativesMax = 100;
inline constexpr std::size_t kGlobSegmentsMax = 64;

class GlobPattern {
 public:
  static Result<GlobPattern> compile(std::string_view pattern);

  // `path` is relative and plain: "a/b.txt".
  bool matches(std::string_view path) const;
  // Whether a name alone is meant: no alternative has a slash.
  bool is_name() const;
  bool matches_name(std::string_view name) const;

 private:
  using Segments = std::vector<std::string>;
  std::vector<Segments> alternatives_;
};

}  // namespace pawl::backend
