#include "pawl/base/decimal.h"

#include <doctest/doctest.h>

#include <string>

#include "pawl/json.h"

namespace pawl {
namespace {

std::strong_ordering order(const char* a, const char* b) {
  return compare(Decimal::parse(a), Decimal::parse(b));
}

bool divides(const char* divisor, const char* value) {
  return is_multiple(Decimal::parse(value), Decimal::parse(divisor));
}

TEST_CASE("equal values have one form") {
  CHECK(Decimal::parse("1.0") == Decimal::parse("1"));
  CHECK(Decimal::parse("-0.0e7") == Decimal{});
  CHECK(Decimal::parse("1200") == Decimal{false, "12", 2});
  CHECK(Decimal::parse("-0.0125E-1") == Decimal{true, "125", -5});
  CHECK(Decimal::parse("1e99999999999999999999") == Decimal{false, "1", std::int64_t{1} << 40U});
}

TEST_CASE("order is that of the values") {
  CHECK(order("1.0", "1") == 0);
  CHECK(order("-0", "0") == 0);
  CHECK(order("9007199254740993", "9007199254740992") > 0);
  CHECK(order("-2", "-1") < 0);
  CHECK(order("-1", "1") < 0);
  CHECK(order("0", "0.001") < 0);
  CHECK(order("0.1", "0.09") > 0);
  CHECK(order("12", "123") < 0);
  CHECK(order("1e1000", "2") > 0);
}

TEST_CASE("divisibility is exact") {
  CHECK(divides("0.1", "0.3"));
  CHECK(divides("1e-8", "12391239123"));
  CHECK(divides("0.5", "1e308"));
  CHECK(divides("7", "0"));
  CHECK(divides("7", "-49"));
  CHECK(divides("1e-2000000000", "3"));
  CHECK_FALSE(divides("0.123456789", "1e308"));
  CHECK_FALSE(divides("0.01", "0.0075"));
  CHECK_FALSE(divides("3", "100000000000000000000000000000000"));
  CHECK(divides("3", "100000000000000000000000000000002"));
}

TEST_CASE("integers are written out only within the limit") {
  CHECK(integer_text(Decimal::parse("-12e2"), 4) == "-1200");
  CHECK(integer_text(Decimal::parse("0.0"), 1) == "0");
  CHECK_FALSE(integer_text(Decimal::parse("12e2"), 3));
  CHECK_FALSE(integer_text(Decimal::parse("1.5"), 20));
}

TEST_CASE("values are equal whatever the spelling of numbers and the order of members") {
  CHECK(equal_values(*parse_json(R"({"a":[1.0],"b":2})"), *parse_json(R"({"b":2e0,"a":[1]})")));
  CHECK_FALSE(equal_values(*parse_json(R"({"a":1})"), *parse_json(R"({"b":1})")));
  CHECK_FALSE(equal_values(*parse_json("[1,2]"), *parse_json("[2,1]")));
  CHECK_FALSE(equal_values(*parse_json("[0]"), *parse_json("[false]")));
  CHECK_FALSE(equal_values(Json("1"), Json(1)));
}

}  // namespace
}  // namespace pawl
