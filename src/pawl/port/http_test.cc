#include "pawl/port/http.h"

#include <doctest/doctest.h>

#include <set>

namespace pawl {
namespace {

TEST_CASE("a header is found by its lower-case name, the first of that name") {
  HttpResponseHead head;
  head.headers = {{"retry-after", "1"}, {"retry-after", "2"}};

  REQUIRE(head.find("retry-after") != nullptr);
  CHECK(*head.find("retry-after") == "1");
  CHECK(head.find("Retry-After") == nullptr);
  CHECK(head.find("") == nullptr);
}

TEST_CASE("every failure has a name of its own") {
  std::set<std::string_view> names;
  for (int value = 0; value <= static_cast<int>(HttpFailure::overloaded); ++value) {
    names.insert(name(static_cast<HttpFailure>(value)));
  }
  CHECK(names.size() == static_cast<std::size_t>(HttpFailure::overloaded) + 1);
  CHECK(name(HttpFailure::too_large) == "too_large");
  CHECK(name(HttpFailure::overloaded) == "overloaded");
}

}  // namespace
}  // namespace pawl
