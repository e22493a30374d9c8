// The contents of an event, inline or in the blobs that come with it, as texts that can be changed.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pawl/content.h"
#include "pawl/store.h"

namespace pawl {

// The blobs outlive this, and are changed by it alone.
class CarriedTexts {
 public:
  explicit CarriedTexts(std::vector<StoredBlob>& blobs) : blobs_(blobs) {
    for (const StoredBlob& blob : blobs_) before_.push_back(blob.digest);
  }

  // `make_new` gets the text and gives the one to keep. A blob that is changed gets its new digest,
  // in the content too; one that is not carried here was stored with an earlier event and stays.
  template <class MakeNew>
  void change(Content& content, const MakeNew& make_new) {
    if (auto* bytes = std::get_if<std::string>(&content.held)) {
      *bytes = make_new(std::move(*bytes));
      return;
    }
    const auto found = std::find(before_.begin(), before_.end(), content.blob()->digest);
    if (found == before_.end()) return;
    StoredBlob& blob = blobs_[static_cast<std::size_t>(found - before_.begin())];
    if (blob.digest == *found) refresh(blob, make_new(blob.bytes));
    content = Content(BlobRef{blob.digest, blob.bytes.size()});
  }

 private:
  static void refresh(StoredBlob& blob, std::string bytes) {
    if (bytes == blob.bytes) return;
    bytes.resize(std::min(bytes.size(), kBlobBytesMax));  // What is put in may be longer.
    blob = {sha256(bytes), std::move(bytes)};
  }

  std::vector<StoredBlob>& blobs_;
  std::vector<Digest> before_;  // of the blobs as they came
};

}  // namespace pawl
