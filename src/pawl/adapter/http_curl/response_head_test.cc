#include "pawl/adapter/http_curl/response_head.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace pawl::http_curl {
namespace {

using Step = ResponseHeadReader::Step;

Step read(ResponseHeadReader& reader, std::initializer_list<std::string_view> lines) {
  Step step = Step::more;
  for (const std::string_view line : lines) {
    CHECK(step == Step::more);
    step = reader.on_line(line);
  }
  return step;
}

TEST_CASE("a head is complete at its blank line, and once") {
  ResponseHeadReader reader(1000);

  CHECK(read(reader, {"HTTP/2 200 \r\n", "Content-Type: a/b\r\n", "\r\n"}) == Step::complete);
  CHECK(reader.head().status == 200);
  CHECK(*reader.head().find("content-type") == "a/b");
  CHECK(read(reader, {"X-Trailer: 1\r\n", "\r\n"}) == Step::more);
  CHECK(reader.take().headers.size() == 1);
}

TEST_CASE("interim responses leave nothing behind but their bytes") {
  ResponseHeadReader reader(80);

  CHECK(read(reader, {"HTTP/1.1 100 Continue\r\n", "X-A: 1\r\n", "\r\n", "HTTP/1.1 200\r\n",
                      "\r\n"}) == Step::complete);
  CHECK(reader.head().headers.empty());
  CHECK(reader.on_line("X-Trailer: 123456789012345678901234567890\r\n") == Step::too_large);
}

TEST_CASE("lines that are no headers") {
  ResponseHeadReader reader(1000);

  CHECK(read(reader, {"HTTP/1.1 200 OK\r\n", " folded into nothing\r\n", "no colon\r\n",
                      "Spaced : x \r\n", "\tgoes on\r\n", "\n"}) == Step::complete);
  REQUIRE(reader.head().headers.size() == 1);
  CHECK(*reader.head().find("spaced") == "x goes on");
}

TEST_CASE("what is no status line is refused") {
  for (const std::string_view line :
       {"HTTP/1.1\r\n", "HTTP/1.1 20x OK\r\n", "ICY 200 OK\r\n", "HTTP/1.1 042 \r\n"}) {
    ResponseHeadReader reader(1000);
    CHECK(reader.on_line(line) == Step::refused);
    CHECK(std::string_view(reader.why()) != "");
  }
}

TEST_CASE("framing that says two things is refused") {
  ResponseHeadReader two(1000);
  CHECK(read(two, {"HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n", "Content-Length: 2\r\n",
                   "\r\n"}) == Step::refused);
  ResponseHeadReader same(1000);
  CHECK(read(same, {"HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n", "Content-Length: 1\r\n",
                    "\r\n"}) == Step::complete);
  ResponseHeadReader both(1000);
  CHECK(read(both, {"HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n",
                    "Transfer-Encoding: Chunked\r\n", "\r\n"}) == Step::refused);
  CHECK(std::string(both.why()) == "Content-Length and Transfer-Encoding together");
}

TEST_CASE("one encoding that was asked for is taken") {
  const auto with_coding = [](const std::string& value) {
    ResponseHeadReader reader(1000);
    return read(reader, {"HTTP/1.1 200 OK\r\n", "Content-Encoding: " + value + "\r\n", "\r\n"});
  };
  for (const char* const fit : {"gzip", "GZIP", "deflate", "identity", ""}) {
    CHECK(with_coding(fit) == Step::complete);
  }
  for (const char* const unfit : {"br", "gzip, gzip", "zstd"}) {
    CHECK(with_coding(unfit) == Step::refused);
  }
}

}  // namespace
}  // namespace pawl::http_curl
