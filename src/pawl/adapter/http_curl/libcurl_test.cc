#include "pawl/adapter/http_curl/libcurl.h"

#include <doctest/doctest.h>

namespace pawl::http_curl {
namespace {

TEST_CASE("a library that is not there, or is another, is an error and not the end") {
  Libcurl found;
  const Status missing = load_libcurl_from("libcurl-that-nobody-has.so.4", found);
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::unavailable);
  CHECK(missing.error().message.find("libcurl-that-nobody-has.so.4") != std::string::npos);

  const Status other = load_libcurl_from("libc.so.6", found);
  REQUIRE(!other);
  CHECK(other.error().message == "libc.so.6 lacks what is needed of libcurl");
}

TEST_CASE("what was loaded works, and is loaded once") {
  REQUIRE(load_libcurl().has_value());
  CURL* const easy = lib.easy_init();
  CHECK(easy != nullptr);
  free_handle(easy);
  const auto before = lib.easy_init;
  REQUIRE(load_libcurl().has_value());
  const bool same = lib.easy_init == before;
  CHECK(same);
}

TEST_CASE("nothing is let go without a library") {
  free_handle(nullptr);
  free_list(nullptr);
}

}  // namespace
}  // namespace pawl::http_curl
