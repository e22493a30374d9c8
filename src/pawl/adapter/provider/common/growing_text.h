// A text that only grows, in pieces that do not move: bodies of requests hold what stood there when
// they were made, while more is written behind it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/port/http.h"

namespace pawl::provider {

class GrowingText {
 public:
  void append(std::string_view text);
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return bytes_; }  // of memory
  // Appends what stands from `begin` to `end`.
  void append_to(HttpBody& body, std::size_t begin, std::size_t end) const;

 private:
  struct Piece {
    std::shared_ptr<std::string> text;  // never longer than the room it was made with
    std::size_t begin = 0;              // of it, in the whole
  };

  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace pawl::provider
