#include "pawl/charter/charter_money.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

Spending spending_of(const std::string& limits) {
  return good_charter(charter_with("limits: " + limits)).spending;
}

std::string faults_of(const std::string& limits) {
  return charter_faults(charter_with("limits: " + limits));
}

}  // namespace

TEST_CASE("an amount of money is an integer of the smallest units") {
  CHECK(parse_money("2.00 USD") == Money{2'000'000'000'000, "USD"});
  CHECK(parse_money("0.000000000001 EUR") == Money{1, "EUR"});
  CHECK(parse_money("0.1 USD") == Money{100'000'000'000, "USD"});
  CHECK(parse_money("1000000 USD") == Money{1'000'000'000'000'000'000, "USD"});
  for (const char* const text :
       {"", "2", "2.00", "USD", "0 USD", "0.00 USD", "-1 USD", "1e3 USD", "1. USD", ".5 USD",
        "1,5 USD", "2.00 usd", "2.00 US", "2.00  USD", "2.00 USD ", "1000000.01 USD",
        "99999999 USD", "0.0000000000001 USD", "$2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_money(text));
  }
}

TEST_CASE("a charter bounds what its runs cost, and when somebody is asked") {
  CHECK(spending_of("{ cost: 2.00 USD, ask_cost: 0.50 USD }") ==
        Spending{2'000'000'000'000, 500'000'000'000, "USD"});
  CHECK(spending_of("{ ask_cost: 1 EUR }") == Spending{0, 1'000'000'000'000, "EUR"});
  CHECK(spending_of("{ steps: 3 }") == Spending{});
}

TEST_CASE("what is no amount, or makes no sense, is a fault") {
  CHECK(faults_of("{ cost: 2.00 }") ==
        "f:4:17: limits: \"cost\" must be an amount of money, found the decimal 2.00 (write it as "
        "2.00 USD, at most 1000000)\n");
  CHECK(faults_of("{ cost: 2 USD, ask_cost: 1 EUR }") ==
        "f:4:34: limits: \"cost\" and \"ask_cost\" are in different currencies\n");
  CHECK(faults_of("{ cost: 2 USD, ask_cost: 3 USD }") ==
        "f:4:34: limits: \"ask_cost\" is above \"cost\", where the run stops anyway\n");
}

}  // namespace pawl
