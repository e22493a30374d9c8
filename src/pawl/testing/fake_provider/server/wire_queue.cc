#include "pawl/testing/fake_provider/server/wire_queue.h"

#include <algorithm>
#include <utility>

namespace pawl::fake {

void WireQueue::add(std::vector<WirePiece> pieces) {
  if (empty()) {
    pieces_ = std::move(pieces);
    next_ = 0;
    return;
  }
  for (WirePiece& piece : pieces) pieces_.push_back(std::move(piece));
}

void WireQueue::clear() {
  pieces_ = {};
  next_ = 0;
  offset_ = 0;
}

void WireQueue::take(std::string& out, std::size_t bytes_enough) {
  out.clear();
  do {
    WirePiece& piece = pieces_[next_];
    const bool in_steps = piece.step_bytes > 0;
    const std::size_t left = piece.bytes.size() - offset_;
    const std::size_t step = in_steps ? std::min<std::size_t>(left, piece.step_bytes) : left;
    out.append(piece.bytes, offset_, step);
    offset_ += step;
    if (offset_ == piece.bytes.size()) {
      offset_ = 0;
      if (piece.times != kForEver) --piece.times;
      if (piece.times == 0) {
        piece.bytes = {};
        ++next_;
      }
    }
    if (in_steps) return;
  } while (!empty() && pieces_[next_].delay_ms == 0 && pieces_[next_].step_bytes == 0 &&
           out.size() < bytes_enough);
}

}  // namespace pawl::fake
