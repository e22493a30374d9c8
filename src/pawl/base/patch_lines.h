// The lines of a patch, one after the other, and the errors that name them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "pawl/base/patch_reader.h"

namespace pawl::patch {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) { take(); }

  bool at_end() const { return at_end_; }
  std::string_view line() const { return line_; }    // without line feed, and CR before it
  std::string_view exact() const { return exact_; }  // without line feed
  std::size_t number() const { return number_; }
  void next() { take(); }

  Error error(std::string_view what) const {
    return {ErrorCode::invalid_argument,
            "patch line " + std::to_string(number_) + ": " + std::string(what)};
  }

 private:
  void take() {
    ++number_;
    at_end_ = rest_.empty();
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    exact_ = line_ = rest_.substr(0, end);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
  }

  std::string_view rest_;
  std::string_view line_;
  std::string_view exact_;
  std::size_t number_ = 0;
  bool at_end_ = false;
};

// What stands behind `prefix`; empty and false when the line does not begin with it.
inline bool take_prefix(std::string_view line, std::string_view prefix, std::string_view& rest) {
  if (!line.starts_with(prefix)) return false;
  rest = line.substr(prefix.size());
  return true;
}

inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

Result<std::vector<FilePatch>> read_envelope(Lines& lines);
Result<std::vector<FilePatch>> read_unified(Lines& lines);

}  // namespace pawl::patch
