#include "pawl/adapter/backend/files/line_index.h"

#include <algorithm>
#include <limits>

#include "pawl/result.h"

namespace pawl::backend {

LineIndex::LineIndex(std::string_view text) : text_(text) {
  PAWL_ASSERT(text.size() < std::numeric_limits<std::uint32_t>::max());
  std::size_t at = 0;
  while (at < text.size()) {
    starts_.push_back(static_cast<std::uint32_t>(at));
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
}

std::string_view LineIndex::operator[](std::size_t at) const {
  const std::size_t start = starts_[at];
  const std::size_t end = at + 1 < starts_.size() ? starts_[at + 1] : text_.size();
  std::string_view line = text_.substr(start, end - start);
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

std::size_t LineIndex::line_at(std::size_t offset) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return behind == starts_.begin() ? 0 : static_cast<std::size_t>(behind - starts_.begin()) - 1;
}

}  // namespace pawl::backend
