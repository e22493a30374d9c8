// The output of a command in bounded memory: its beginning and its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::tool_command {

// A text for the model: valid UTF-8, whatever the command wrote.
struct Rendered {
  std::string text;
  std::uint64_t cut_bytes = 0;  // bytes of the output that `text` does not show
};

class OutputCapture {
 public:
  // Holds at most twice `bytes_max` in memory, and can render up to `bytes_max`.
  explicit OutputCapture(std::size_t bytes_max = 0) : bytes_max_(bytes_max) {}

  void append(std::string_view bytes);

  std::uint64_t bytes_total() const { return bytes_total_; }
  bool is_complete() const { return bytes_total_ <= bytes_max_; }
  // What was written, when is_complete(); otherwise its beginning.
  const std::string& head() const { return head_; }

  // At most min(`bytes_max`, the capture's own) bytes. A text that is too long loses its middle,
  // and says so where it does: "[… 1234 bytes cut …]".
  Rendered render(std::size_t bytes_max) const;

 private:
  std::size_t bytes_max_;
  std::uint64_t bytes_total_ = 0;
  std::string head_;  // the first bytes_max_ bytes
  std::string tail_;  // the last bytes after those
};

// The same for a text that is there as a whole.
Rendered render_text(std::string_view text, std::size_t bytes_max);

}  // namespace pawl::tool_command
