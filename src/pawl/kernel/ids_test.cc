#include "pawl/ids.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("run ids are letters, digits, '-', '_' and '.', and fit a file name") {
  for (const char* good : {"r", "7", "2026-11-15.x_Y", "0193b1c2"}) CHECK(parse_run_id(good));
  CHECK(parse_run_id(std::string(64, 'a')));
  for (const char* bad : {"", "-r", ".r", "_r", "a b", "a/b", "..", "a\n", "é"}) {
    CHECK(!parse_run_id(bad));
  }
  CHECK(!parse_run_id(std::string(65, 'a')));
}

TEST_CASE("ids are written with their letter and read with or without it") {
  CHECK(to_string(InstanceId{2}) == "i2");
  CHECK(to_string(CallId{7}) == "c7");
  CHECK(to_string(EffectId{9}) == "e9");
  CHECK(*parse_call_id("c7") == CallId{7});
  CHECK(*parse_call_id("7") == CallId{7});
  CHECK(*parse_instance_id("i4294967295") == InstanceId{4294967295U});
}

TEST_CASE("what is no id is refused") {
  for (const char* bad :
       {"", "c", "0", "c0", "-1", "+1", "c1x", "cc1", "i1", " 1", "18446744073709551616"}) {
    CHECK_MESSAGE(!parse_call_id(bad), bad);
  }
  CHECK(!parse_instance_id("4294967296"));
}

}  // namespace
}  // namespace pawl
