#include "pawl/base/json_diff.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

std::vector<JsonDifference> differences(const char* left, const char* right,
                                        std::size_t count_max = 10) {
  return json_differences(*parse_json(left), *parse_json(right), count_max);
}

Json json(const char* text) {
  return *parse_json(text);
}

}  // namespace

TEST_CASE("equal values have no differences") {
  CHECK(differences(R"({"a":[1,{"b":null}]})", R"({ "a": [1, {"b": null}] })").empty());
}

TEST_CASE("a difference is named by its path, with both values") {
  using Found = std::vector<JsonDifference>;
  CHECK(differences(R"({"a":[1,{"b":2}]})", R"({"a":[1,{"b":3}]})") ==
        Found{{"$.a[1].b", json("2"), json("3")}});
  CHECK(differences(R"({"odd key":1})", R"({"odd key":"1"})") ==
        Found{{R"($["odd key"])", json("1"), json("\"1\"")}});
  CHECK(differences("1", "1.0") == Found{{"$", json("1"), json("1.0")}});
}

TEST_CASE("what only one side has is a difference, too") {
  using Found = std::vector<JsonDifference>;
  CHECK(differences(R"({"a":1,"l":[1,2]})", R"({"b":1,"l":[1]})") ==
        Found{{"$.a", json("1"), std::nullopt},
              {"$.l[1]", json("2"), std::nullopt},
              {"$.b", std::nullopt, json("1")}});
  CHECK(differences("[]", "[7]") == Found{{"$[0]", std::nullopt, json("7")}});
}

TEST_CASE("members in another order are a difference of the object") {
  const auto found = differences(R"({"o":{"a":1,"b":2}})", R"({"o":{"b":2,"a":1}})");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.o");
}

TEST_CASE("no more differences are listed than were asked for") {
  CHECK(differences("[1,2,3,4]", "[5,6,7,8]", 2).size() == 2);
  CHECK(differences("[1,2,3,4]", "[5,6,7,8]", 0).empty());
}

}  // namespace pawl
