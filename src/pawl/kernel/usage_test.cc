#include "pawl/limits.h"

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

// As Anthropic lists Sonnet: all of a request with more than 200,000 tokens of input costs more.
Prices tiered() {
  Prices prices{"USD", 3'000'000, 15'000'000, 300'000, 3'750'000, 6'000'000, {}};
  prices.tiers = {{200'000, {6'000'000, 22'500'000, 600'000, 7'500'000, 12'000'000}}};
  return prices;
}

TEST_CASE("a request above the threshold costs the tier's price, output and caches included") {
  const Prices prices = tiered();

  CHECK(cost_pico({200'000, 1'000, 0, 0}, prices) == 200'000 * 3'000'000ULL + 15'000'000'000ULL);
  CHECK(cost_pico({200'001, 1'000, 0, 0}, prices) == 200'001 * 6'000'000ULL + 22'500'000'000ULL);
  // What was cached is input, too.
  CHECK(cost_pico({1, 0, 100'000, 100'000}, prices) ==
        6'000'000ULL + 100'000 * 600'000ULL + 100'000 * 7'500'000ULL);
  CHECK(cost_pico({0, 0, 0, 0, 200'001}, prices) == 200'001 * 12'000'000ULL);
}

TEST_CASE("an hour of cache costs more than five minutes, and never less") {
  Prices prices = tiered();

  CHECK(cost_pico({0, 0, 0, 100, 10}, prices) == 100 * 3'750'000ULL + 10 * 6'000'000ULL);
  prices.cache_creation_1h = 0;  // not known
  CHECK(cost_pico({0, 0, 0, 0, 10}, prices) == 10 * 3'750'000ULL);
}

TEST_CASE("of several tiers the highest that was crossed counts, in whatever order they are") {
  Prices prices{"USD", 1, 1, 1, 1, 1, {}};
  prices.tiers = {{300, {3, 3, 3, 3, 3}}, {100, {2, 2, 2, 2, 2}}};

  CHECK(rates_at(prices, 100).input == 1);
  CHECK(rates_at(prices, 101).input == 2);
  CHECK(rates_at(prices, 301).input == 3);
}

TEST_CASE("an estimate that may be beyond the threshold is set aside at the higher price") {
  const Prices prices = tiered();

  CHECK(worst_rates(prices, 100'000, 2) == rates_at(prices, 0));
  CHECK(worst_rates(prices, 100'001, 2) == prices.tiers[0].rates);
  CHECK(worst_rates(prices, UINT64_MAX, 2) == prices.tiers[0].rates);
  CHECK(worst_cost_pico({0, 0, 0, 0, 150'000}, prices, 2) == 150'000 * 12'000'000ULL);
}

TEST_CASE("a tier that is cheaper in part is no way to set aside less") {
  Prices prices{"USD", 10, 1, 1, 1, 1, {}};
  prices.tiers = {{100, {1, 10, 1, 1, 1}}};

  CHECK(worst_rates(prices, 100, 2) == Rates{10, 10, 1, 1, 1});
  CHECK(dearest_input({3, 9, 4, 5, 7}) == 7);
}

TEST_CASE("money is written exactly, with two decimals at least") {
  CHECK(format_money(0, "USD") == "0.00 USD");
  CHECK(format_money(1, "USD") == "0.000000000001 USD");
  CHECK(format_money(1'500'000'000'000ULL, "EUR") == "1.50 EUR");
  CHECK(format_money(123'000'000ULL, "USD") == "0.000123 USD");
}

}  // namespace
}  // namespace pawl
