// What is still to be sent of a reply, write by write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pawl/testing/fake_provider/server/wire.h"

namespace pawl::fake {

class WireQueue {
 public:
  void add(std::vector<WirePiece> pieces);
  void clear();
  bool empty() const { return next_ == pieces_.size(); }
  // Before the next write. The queue is not empty here and below.
  std::uint64_t delay_ms() const { return pieces_[next_].delay_ms; }
  // Replaces `out` with the next piece or step, and with the pieces after it that need not wait,
  // until there are `bytes_enough`.
  void take(std::string& out, std::size_t bytes_enough);

 private:
  std::vector<WirePiece> pieces_;
  std::size_t next_ = 0;    // of pieces_
  std::size_t offset_ = 0;  // in it, when it goes in steps
};

}  // namespace pawl::fake
