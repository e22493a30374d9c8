#include "pawl/kernel/usage.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("sums saturate instead of wrapping") {
  CHECK(add_saturating(UINT64_MAX, 1) == UINT64_MAX);
  CHECK(add_saturating(1, 2) == 3);
  const Usage huge{UINT64_MAX, 1, UINT64_MAX, 0};
  CHECK(huge + huge == Usage{UINT64_MAX, 2, UINT64_MAX, 0});
  CHECK(total_tokens(huge) == UINT64_MAX);
  CHECK(total_tokens({1, 2, 3, 4}) == 10);
}

TEST_CASE("cost is tokens times price, class by class, and saturates") {
  const Prices prices{"USD", 3'000'000, 15'000'000, 300'000, 3'750'000};
  CHECK(cost_pico({1000, 100, 10, 1}, prices) == 4'506'750'000ULL);
  CHECK(cost_pico({UINT64_MAX, 0, 0, 0}, prices) == UINT64_MAX);
}

TEST_CASE("money is written exactly, with two decimals at least") {
  CHECK(format_money(0, "USD") == "0.00 USD");
  CHECK(format_money(1, "USD") == "0.000000000001 USD");
  CHECK(format_money(1'500'000'000'000ULL, "EUR") == "1.50 EUR");
  CHECK(format_money(123'000'000ULL, "USD") == "0.000123 USD");
}

}  // namespace
}  // namespace pawl
