// The output of a command in bounded memory: its beginning and its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/port/byte_filter.h"

namespace pawl::tool_command {

// A text for the model: valid UTF-8, whatever the command wrote.
struct Rendered {
  std::string text;
  std::uint64_t cut_bytes = 0;  // bytes of the output that `text` does not show
};

class OutputCapture {
 public:
  // Holds at most twice `bytes_max` in memory, and can render up to `bytes_max`. With a filter an
  // output passes it before it is cut, so that no secret value loses the half that names it; one
  // that fits stays as it is, and whoever takes it up filters it.
  explicit OutputCapture(std::size_t bytes_max = 0,
                         std::shared_ptr<const ByteFilter> filter = nullptr)
      : bytes_max_(bytes_max), filter_(std::move(filter)) {}

  void append(std::string_view bytes);
  void finish();  // nothing comes after it

  std::uint64_t bytes_total() const { return bytes_total_; }
  bool is_complete() const { return bytes_total_ <= bytes_max_; }
  // What was written, when is_complete(); otherwise its beginning.
  const std::string& head() const { return head_; }

  // At most min(`bytes_max`, the capture's own) bytes. A text that is too long loses its middle,
  // and says so where it does: "[… 1234 bytes cut …]".
  Rendered render(std::size_t bytes_max) const;
  // Another text of the same command, likewise.
  Rendered render_other(std::string_view text, std::size_t bytes_max) const;

 private:
  void keep(std::string_view bytes);

  std::size_t bytes_max_;
  std::shared_ptr<const ByteFilter> filter_;
  std::unique_ptr<ByteStream> stream_;  // while an output that is too long comes in
  std::uint64_t bytes_total_ = 0;
  std::string head_;  // the first bytes_max_ bytes
  std::string tail_;  // the last bytes after those
};

// The same for a text that is there as a whole.
Rendered render_text(std::string_view text, std::size_t bytes_max);

}  // namespace pawl::tool_command
