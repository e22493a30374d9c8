#include "pawl/adapter/backend/command/output_capture.h"

#include <algorithm>
#include <utility>

#include "pawl/base/utf8.h"

namespace pawl::tool_command {
namespace {

constexpr std::size_t kNoteBytesMax = 64;  // the note about the cut with its largest number

std::size_t rendered_bytes(const Utf8Step& step) {
  return step.valid ? step.bytes : 3;  // U+FFFD
}

// The number of bytes at the beginning of `raw` that render to at most `bytes_max`.
std::size_t fitting_prefix(std::string_view raw, std::size_t bytes_max) {
  std::size_t at = 0;
  for (std::size_t rendered = 0; at < raw.size();) {
    const Utf8Step step = first_utf8(raw.substr(at));
    rendered += rendered_bytes(step);
    if (rendered > bytes_max) break;
    at += step.bytes;
  }
  return at;
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The same for its end.
std::size_t fitting_suffix(std::string_view raw, std::size_t bytes_max) {
  std::size_t begin = raw.size() - std::min(raw.size(), bytes_max);
  // Not in the middle of a character; a longer row of such bytes is not UTF-8 anyway.
  for (int i = 0; i < 3 && begin > 0 && begin < raw.size() && is_continuation(raw[begin]); ++i) {
    ++begin;
  }
  std::size_t rendered = 0;
  for (std::size_t at = begin; at < raw.size();) {
    const Utf8Step step = first_utf8(raw.substr(at));
    rendered += rendered_bytes(step);
    at += step.bytes;
  }
  while (rendered > bytes_max) {
    const Utf8Step step = first_utf8(raw.substr(begin));
    rendered -= rendered_bytes(step);
    begin += step.bytes;
  }
  return raw.size() - begin;
}

// `head` and `tail` are the ends of an output of `bytes_total` bytes; they may overlap when they
// are the whole of it.
Rendered cut_middle(std::string_view head, std::string_view tail, std::uint64_t bytes_total,
                    std::size_t bytes_max) {
  if (bytes_max < 2 * kNoteBytesMax) {  // no room for a note worth its bytes
    const std::size_t kept = fitting_prefix(head, bytes_max);
    return {to_valid_utf8(head.substr(0, kept)), bytes_total - kept};
  }
  const std::size_t room = bytes_max - kNoteBytesMax;
  const std::size_t first = fitting_prefix(head, room / 2);
  const std::size_t last = fitting_suffix(tail, room - room / 2);
  const std::uint64_t cut = bytes_total - first - last;
  return {to_valid_utf8(head.substr(0, first)) + "\n[… " + std::to_string(cut) + " bytes cut …]\n" +
              to_valid_utf8(tail.substr(tail.size() - last)),
          cut};
}

}  // namespace

void OutputCapture::append(std::string_view bytes) {
  if (filter_ && !stream_ && bytes_total_ + bytes.size() > bytes_max_) {
    // What came before is still there as a whole: it begins once more, filtered.
    stream_ = filter_->stream();
    const std::string before = std::exchange(head_, {});
    bytes_total_ = 0;
    keep(stream_->feed(before));
  }
  if (stream_) {
    keep(stream_->feed(bytes));
  } else {
    keep(bytes);
  }
}

void OutputCapture::finish() {
  if (!stream_) return;
  keep(std::exchange(stream_, nullptr)->finish());
  filter_ = nullptr;  // it has passed
}

void OutputCapture::keep(std::string_view bytes) {
  bytes_total_ += bytes.size();
  const std::size_t first = std::min(bytes.size(), bytes_max_ - head_.size());
  head_.append(bytes.substr(0, first));
  bytes.remove_prefix(first);
  const std::size_t tail_max = bytes_max_ / 2;
  bytes.remove_prefix(bytes.size() - std::min(bytes.size(), tail_max));
  tail_.append(bytes);
  // Dropping half at a time keeps the cost of a byte constant.
  if (tail_.size() > 2 * tail_max) tail_.erase(0, tail_.size() - tail_max);
}

Rendered OutputCapture::render(std::size_t bytes_max) const {
  const std::size_t room = std::min(bytes_max, bytes_max_);
  if (head_.size() + tail_.size() == bytes_total_) return render_other(head_ + tail_, room);
  return cut_middle(head_, tail_, bytes_total_, room);
}

Rendered OutputCapture::render_other(std::string_view text, std::size_t bytes_max) const {
  const bool fits = fitting_prefix(text, bytes_max) == text.size();
  if (fits || !filter_) return render_text(text, bytes_max);
  return render_text(filter_->sink(std::string(text)), bytes_max);
}

Rendered render_text(std::string_view text, std::size_t bytes_max) {
  if (fitting_prefix(text, bytes_max) == text.size()) return {to_valid_utf8(text), 0};
  return cut_middle(text, text, text.size(), bytes_max);
}

}  // namespace pawl::tool_command
