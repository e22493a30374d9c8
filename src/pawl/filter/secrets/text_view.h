// A text as a search sees it: without line ends, and without escapes, with the way back to the
// bytes it was made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const TextRange&, const TextRange&) = default;
};

class TextView {
 public:
  // As it is; `source` outlives the view.
  explicit TextView(std::string_view source) : source_(source), same_(true) {}

  std::string_view text() const { return same_ ? source_ : std::string_view(projected_); }
  // Where a range of text() stands in the source; the range is not empty.
  TextRange in_source(TextRange range) const;
  // Where in the source an escape begins that the source ends inside of, and the view with it; the
  // size of the source if there is none.
  std::size_t unfinished() const { return unfinished_; }

 private:
  friend TextView plain_view(std::string_view source);
  friend TextView decoded_view(std::string_view source);
  // Bytes of the projection from `at` on: one for one from `source` on, or, with a width, all of
  // them for that many bytes there.
  struct Run {
    std::size_t at = 0;
    std::size_t source = 0;
    std::size_t width = 0;
  };
  void add_plain(TextRange from);
  void add(char byte, TextRange from);
  TextView cut(std::size_t at);
  const Run& run_of(std::size_t index) const;

  std::string_view source_;
  bool same_ = false;
  std::string projected_;
  std::vector<Run> runs_;
  std::size_t unfinished_ = std::string_view::npos;
};

// Without CR and LF: what is wrapped at 76 columns is whole again.
TextView plain_view(std::string_view source);
// Also without percent encoding (%41, and %2541 at any depth) and without the escapes of strings
// (\/, \", \u0041, \x41, also of texts inside of texts: any number of backslashes counts as one).
// It is loose: it serves to find, and two texts may have the same view.
TextView decoded_view(std::string_view source);
// False: plain_view() shows all that decoded_view() would.
bool has_escapes(std::string_view source);

}  // namespace pawl
