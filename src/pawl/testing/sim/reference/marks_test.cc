#include "pawl/testing/sim/reference/marks.h"

#include <doctest/doctest.h>

namespace pawl::sim {
namespace {

TEST_CASE("a mark is a number sign, digits and a semicolon") {
  CHECK(marks_in("text #12; and #3;") == std::vector<std::string>{"#12;", "#3;"});
  CHECK(marks_in("# 1; #; #12 #x;").empty());
}

TEST_CASE("marks are heard from others, not from the model itself") {
  Message own;
  own.role = Role::assistant;
  own.text = Content("#1;");
  Message said;
  said.text = Content("say #2;");
  CHECK(marks_heard({own, said}) == std::vector<std::string>{"#2;"});
}

// The examples of RFC 7396.
TEST_CASE("a merge patch replaces what it names, and null removes") {
  CHECK(same_json(merged(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})"));
  CHECK(same_json(merged(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})"));
  CHECK(same_json(merged(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})"));
  CHECK(
      same_json(merged(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})"));
  CHECK(same_json(merged(R"({"a":[1]})", R"({"a":[2]})"), R"({"a":[2]})"));
  CHECK(merged(R"({"a":1})", "7") == "7");
}

TEST_CASE("a member is a text as it is, or JSON") {
  CHECK(member_of(R"({"a":"b","c":{"d":1}})", "a") == "b");
  CHECK(member_of(R"({"a":"b","c":{"d":1}})", "c") == R"({"d":1})");
  CHECK(member_of("[]", "a").empty());
}

}  // namespace
}  // namespace pawl::sim
