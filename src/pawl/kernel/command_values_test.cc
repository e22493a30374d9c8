#include "pawl/kernel/command_values.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

Json json(std::string_view text) {
  auto value = parse_json(text);
  REQUIRE(value);
  return *std::move(value);
}

TEST_CASE("a pointer leads to members and items, and nowhere else") {
  const Json value = json(R"({"a":[1,{"b/c":2,"d~e":3}],"":4})");
  CHECK(find_at(value, "") == &value);
  CHECK(write_json(*find_at(value, "/a/0")) == "1");
  CHECK(write_json(*find_at(value, "/a/1/b~1c")) == "2");
  CHECK(write_json(*find_at(value, "/a/1/d~0e")) == "3");
  CHECK(write_json(*find_at(value, "/")) == "4");
  for (const char* wrong : {"/b", "/a/2", "/a/00", "/a/-1", "/a/x", "a", "/a/0/x"}) {
    CAPTURE(wrong);
    CHECK(find_at(value, wrong) == nullptr);
  }
}

TEST_CASE("an input that does not fit its schema is told where") {
  CHECK(fault_of_input("", json("7")).empty());
  CHECK(fault_of_input(R"({"type":"object"})", json("{}")).empty());
  CHECK(fault_of_input(R"({"type":"object"})", json("7")).starts_with("the input does not fit"));
}

TEST_CASE("references are replaced, and what is put there is not searched again") {
  const Json input = json(R"({"x":{"$input":"/y"},"y":5})");
  const auto made = with_input(json(R"([{"patch":{"n":{"$input":"/y"}}},{"$input":"/x"}])"), input);
  REQUIRE(made);
  CHECK(write_json(*made) == R"([{"patch":{"n":5}},{"$input":"/y"}])");
  const auto none = with_input(json(R"({"a":{"$input":"/z"}})"), input);
  REQUIRE(!none);
  CHECK(none.error().message == "the input has nothing at \"/z\"");
}

}  // namespace
}  // namespace pawl
