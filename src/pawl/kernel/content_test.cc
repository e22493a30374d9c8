#include "pawl/content.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("content is the same by digest and length whether it is inline or a blob") {
  const std::string bytes = "some bytes";
  const Content inline_content(bytes);
  const Content blob(BlobRef{sha256(bytes), bytes.size()});

  CHECK(inline_content.digest() == blob.digest());
  CHECK(inline_content.length() == blob.length());
  CHECK(inline_content != blob);
  CHECK(blob.bytes() == nullptr);
  CHECK(inline_content.blob() == nullptr);
}

TEST_CASE("content that was never set is empty and inline") {
  const Content content;
  REQUIRE(content.bytes() != nullptr);
  CHECK(content.empty());
}

}  // namespace
}  // namespace pawl
