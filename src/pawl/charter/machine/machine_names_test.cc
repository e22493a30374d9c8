#include "pawl/charter/machine/machine_names.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("a word is answered with the nearest name, or with the names there are") {
  NameSet names;
  CHECK(names.remedy("x") == "there are none");
  for (const char* name : {"build", "plan"}) names.add(name);
  CHECK(names.remedy("biuld") == "did you mean \"build\"?");
  CHECK(names.remedy("zzzzzzz") == "one of build, plan");
  for (int i = 0; i < 20; ++i) names.add("p" + std::to_string(i));
  CHECK(names.remedy("zzzzzzz") == "among others: build, p0, p1, p10, p11, p12, p13, p14");
}

TEST_CASE("a name has a bounded alphabet and length") {
  CHECK(is_charter_name("0-a_b"));
  CHECK(is_charter_name(std::string(128, 'a')));
  for (const std::string& bad : {std::string(), std::string("-a"), std::string("A"),
                                 std::string("a b"), std::string("a.b"), std::string(129, 'a')}) {
    CAPTURE(bad);
    CHECK_FALSE(is_charter_name(bad));
  }
}

}  // namespace
}  // namespace pawl
