#include "pawl/gate/rules/node_of_json.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("a document made of JSON writes the same JSON") {
  for (const char* text : {R"({"a":[1,2.50,true,null,"x\u0000y"],"b":{}})", "[]", "3", "null",
                           "123456789012345678901234567890"}) {
    const auto value = parse_json(text);
    REQUIRE(value);
    CHECK(to_json(node_of_json(*value)) == text);
  }
}

TEST_CASE("numbers keep their kind") {
  CHECK(node_of_json(*parse_json("7")).as_int() == 7);
  CHECK(node_of_json(*parse_json("0.5")).as_double() == 0.5);
  CHECK(node_of_json(*parse_json("0.5")).as_int() == std::nullopt);
}

}  // namespace
}  // namespace pawl
