#include "pawl/adapter/provider/common/growing_text.h"

#include <algorithm>

#include "pawl/result.h"

namespace pawl::provider {
namespace {

// A piece has room for as much as there is already, within these bounds: the pieces are few, and
// at most half of the room is empty.
constexpr std::size_t kRoomMin = 2U << 10U;
constexpr std::size_t kRoomMax = 1U << 20U;

}  // namespace

void GrowingText::append(std::string_view text) {
  if (text.empty()) return;
  const bool fits = !pieces_.empty() &&
                    text.size() <= pieces_.back().text->capacity() - pieces_.back().text->size();
  if (!fits) {
    auto piece = std::make_shared<std::string>();
    piece->reserve(std::max(text.size(), std::clamp(size_, kRoomMin, kRoomMax)));
    bytes_ += piece->capacity();
    pieces_.push_back({std::move(piece), size_});
  }
  pieces_.back().text->append(text);
  size_ += text.size();
}

void GrowingText::append_to(HttpBody& body, std::size_t begin, std::size_t end) const {
  PAWL_ASSERT(begin <= end && end <= size_);
  const auto behind =
      std::upper_bound(pieces_.begin(), pieces_.end(), begin,
                       [](std::size_t at, const Piece& piece) { return at < piece.begin; });
  for (auto piece = behind == pieces_.begin() ? behind : behind - 1;
       piece != pieces_.end() && piece->begin < end; ++piece) {
    const std::size_t from = std::max(begin, piece->begin);
    const std::size_t to = std::min(end, piece->begin + piece->text->size());
    if (from < to) body.append(BodyChunk{piece->text, from - piece->begin, to - from});
  }
}

}  // namespace pawl::provider
