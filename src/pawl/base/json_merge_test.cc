#include "pawl/base/json_merge.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

std::string merged(std::string_view target, std::string_view patch) {
  Json value = parse_json(target).value();
  merge_patch(value, parse_json(patch).value());
  return write_json(value);
}

TEST_CASE("the examples of RFC 7396 give what it says") {
  CHECK(merged(R"({"a":"b"})", R"({"a":"c"})") == R"({"a":"c"})");
  CHECK(merged(R"({"a":"b"})", R"({"b":"c"})") == R"({"a":"b","b":"c"})");
  CHECK(merged(R"({"a":"b"})", R"({"a":null})") == "{}");
  CHECK(merged(R"({"a":"b","b":"c"})", R"({"a":null})") == R"({"b":"c"})");
  CHECK(merged(R"({"a":["b"]})", R"({"a":"c"})") == R"({"a":"c"})");
  CHECK(merged(R"({"a":"c"})", R"({"a":["b"]})") == R"({"a":["b"]})");
  CHECK(merged(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})") == R"({"a":{"b":"d"}})");
  CHECK(merged(R"({"a":[{"b":"c"}]})", R"({"a":[1]})") == R"({"a":[1]})");
  CHECK(merged(R"(["a","b"])", R"(["c","d"])") == R"(["c","d"])");
  CHECK(merged(R"({"a":"b"})", R"(["c"])") == R"(["c"])");
  CHECK(merged(R"({"a":"foo"})", "null") == "null");
  CHECK(merged(R"({"e":null})", R"({"a":1})") == R"({"e":null,"a":1})");
  CHECK(merged("[1,2]", R"({"a":"b","c":null})") == R"({"a":"b"})");
  CHECK(merged("{}", R"({"a":{"bb":{"ccc":null}}})") == R"({"a":{"bb":{}}})");
}

}  // namespace
}  // namespace pawl
