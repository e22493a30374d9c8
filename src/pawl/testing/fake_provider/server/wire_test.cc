#include "pawl/testing/fake_provider/server/wire.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

TEST_CASE("a head has what its framing needs") {
  Rendered reply;
  reply.status = 529;
  reply.headers = {{"retry-after", "7"}};
  reply.frames = {{FrameKind::other, "abc"}, {FrameKind::closing, "de"}};
  CHECK(http_head(reply) ==
        "HTTP/1.1 529 Overloaded\r\nretry-after: 7\r\ncontent-length: 5\r\n\r\n");
  reply.framing = Framing::chunked;
  CHECK(http_head(reply) ==
        "HTTP/1.1 529 Overloaded\r\nretry-after: 7\r\ntransfer-encoding: chunked\r\n\r\n");
  CHECK(reply.body() == "abcde");
}

TEST_CASE("chunks have their size in hex, and an empty one is none") {
  CHECK(chunk("0123456789abcdefg") == "11\r\n0123456789abcdefg\r\n");
  CHECK(chunk("").empty());
}

TEST_CASE("headers are found whatever their case") {
  const Headers headers = {{"X-Api-Key", "a"}, {"x-api-key", "b"}};
  CHECK(find_header(headers, "x-api-key") == "a");
  CHECK(find_header(headers, "x-api").empty());
  CHECK(lower_case("ÄbC") == "Äbc");
}

}  // namespace
}  // namespace pawl::fake
