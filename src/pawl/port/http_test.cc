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

TEST_CASE("a body is read in pieces from any offset, in any order") {
  const auto kept = std::make_shared<const std::string>("--hello, --");
  HttpBody body("[");
  body.append({kept, 2, 7});
  body.append({kept, 0, 0});
  body.append(std::string());
  body.append("world");

  CHECK(body.size() == 13);
  CHECK(body.chunks().size() == 3);
  CHECK(body.whole() == "[hello, world");
  CHECK(body.at(0) == "[");
  CHECK(body.at(1) == "hello, ");
  CHECK(body.at(7) == " ");
  CHECK(body.at(8) == "world");
  CHECK(body.at(3) == "llo, ");
  CHECK(body.at(12) == "d");
  CHECK(body.at(0) == "[");
  CHECK(body.at(13) == "");
  CHECK(body.at(99) == "");
  CHECK(body.join() == "[hello, world");
  CHECK(body.chunks().size() == 1);
}

TEST_CASE("a body without bytes is empty; a copy and a text with the same bytes are equal") {
  CHECK(HttpBody().empty());
  CHECK(HttpBody("").empty());
  CHECK(HttpBody("").at(0) == "");
  HttpBody body("ab");
  body.append("c");
  const HttpBody copy = body;
  body = {};
  CHECK(copy == HttpBody("abc"));
  CHECK(!(copy == HttpBody("abd")));
  CHECK(copy.at(2) == "c");
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
