// Where bytes from outside become Content: large ones go by reference, before the kernel sees them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pawl/content.h"
#include "pawl/store.h"

namespace pawl {

class Ingress {
 public:
  // `words_max`: of what the kernel has to read of somebody's words, as phases of a flow hand them
  // on.
  explicit Ingress(std::size_t words_max = kInlineBytesMax) : words_max_(words_max) {}

  // Inline while short, and while the event as a whole stays far below kRecordBytesMax.
  Content keep(std::string bytes) {
    if (bytes.size() <= kInlineBytesMax && inlined_ + bytes.size() <= kInlineTotalMax) {
      inlined_ += bytes.size();
      return Content(std::move(bytes));
    }
    const Digest digest = sha256(bytes);
    const std::uint64_t length = bytes.size();
    blobs_.push_back({digest, std::move(bytes)});
    return Content(BlobRef{digest, length});
  }

  // The same for bytes that the kernel has to read, which are longer: up to `bytes_max` stay
  // inline.
  Content keep_readable(std::string bytes, std::size_t bytes_max) {
    if (bytes.size() > bytes_max || inlined_ + bytes.size() > kInlineTotalMax) {
      return keep(std::move(bytes));
    }
    inlined_ += bytes.size();
    return Content(std::move(bytes));
  }

  Content keep_words(std::string bytes) {
    const bool readable = bytes.size() <= words_max_ && inlined_ + bytes.size() <= words_max_;
    if (words_max_ <= kInlineBytesMax || !readable) return keep(std::move(bytes));
    inlined_ += bytes.size();
    return Content(std::move(bytes));
  }

  // Of content that was kept here, before its blobs are taken.
  std::string_view view(const Content& content) const {
    if (const std::string* bytes = content.bytes()) return *bytes;
    for (const StoredBlob& blob : blobs_) {
      if (blob.digest == content.blob()->digest) return blob.bytes;
    }
    return {};
  }

  std::vector<StoredBlob>& blobs() { return blobs_; }
  std::vector<StoredBlob> take_blobs() { return std::move(blobs_); }

 private:
  static constexpr std::size_t kInlineTotalMax = 256U << 10U;

  std::size_t words_max_;
  std::size_t inlined_ = 0;
  std::vector<StoredBlob> blobs_;
};

}  // namespace pawl
