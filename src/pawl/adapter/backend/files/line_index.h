// The lines of a text by number, at four bytes a line: a file may be nothing but line feeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pawl::backend {

class LineIndex {
 public:
  // `text` outlives it. A line feed at the very end begins no further line.
  explicit LineIndex(std::string_view text);

  std::size_t size() const { return starts_.size(); }
  // Without its line feed; `at` counts from 0.
  std::string_view operator[](std::size_t at) const;
  // The line that holds the byte at `offset`, from 0; the last one for offsets behind the end.
  std::size_t line_at(std::size_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace pawl::backend
