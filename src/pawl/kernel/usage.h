// What model calls consume. Money is an integer of 10^-12 units of its currency.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/base/result.h"
#include "pawl/kernel/fields.h"

namespace pawl {

struct Usage {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t cache_read_tokens = 0;
  std::uint64_t cache_creation_tokens = 0;     // kept for five minutes
  std::uint64_t cache_creation_1h_tokens = 0;  // kept for an hour: dearer

  PAWL_FACT(Usage, "usage",
            PAWL_FIELD(input_tokens) PAWL_FIELD(output_tokens) PAWL_FIELD(cache_read_tokens)
                PAWL_FIELD(cache_creation_tokens) PAWL_FIELD(cache_creation_1h_tokens));
};

// Saturating: a provider that reports nonsense cannot wrap a counter back to nothing.
std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b);
std::uint64_t multiply_saturating(std::uint64_t a, std::uint64_t b);
Usage operator+(const Usage& a, const Usage& b);
std::uint64_t total_tokens(const Usage& usage);
// Tokens that went in, cached or not: providers choose the price tier of a request by them.
std::uint64_t input_tokens_of(const Usage& usage);

// Price of one token, per class, in 10^-12 units.
struct Rates {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_creation = 0;
  std::uint64_t cache_creation_1h = 0;  // less than cache_creation: costs as much as it

  PAWL_FACT(Rates, "rates",
            PAWL_FIELD(input) PAWL_FIELD(output) PAWL_FIELD(cache_read) PAWL_FIELD(cache_creation)
                PAWL_FIELD(cache_creation_1h));
};

// The rates of a whole request, output included, with more input than `above_tokens`.
struct PriceTier {
  std::uint64_t above_tokens = 0;
  Rates rates;

  PAWL_FACT(PriceTier, "price_tier", PAWL_FIELD(above_tokens) PAWL_FIELD(rates));
};

// A list price. `tiers` take the place of the other rates for large requests.
struct Prices {
  std::string currency = "USD";
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_creation = 0;
  std::uint64_t cache_creation_1h = 0;
  std::vector<PriceTier> tiers = {};  // in any order

  PAWL_FACT(Prices, "prices",
            PAWL_FIELD(currency) PAWL_FIELD(input) PAWL_FIELD(output) PAWL_FIELD(cache_read)
                PAWL_FIELD(cache_creation) PAWL_FIELD(cache_creation_1h) PAWL_FIELD(tiers));
};

// The rates of a request with exactly so much input.
Rates rates_at(const Prices& prices, std::uint64_t input_tokens);
// The dearest rates that a request may be paid by, whose input is estimated and may be `factor`
// times as much.
Rates worst_rates(const Prices& prices, std::uint64_t input_estimate, std::uint64_t factor);
// The dearest class of input: read as it is, or written to a cache.
std::uint64_t dearest_input(const Rates& rates);

std::uint64_t cost_pico(const Usage& usage, const Rates& rates);
// What one request cost. Never of a sum of requests: tiers hold for each of them.
std::uint64_t cost_pico(const Usage& usage, const Prices& prices);
// The most that one request may cost for which `reserved` was estimated.
std::uint64_t worst_cost_pico(const Usage& reserved, const Prices& prices, std::uint64_t factor);
// "0.000123 USD": as many decimals as needed, at least two.
std::string format_money(std::uint64_t pico, const std::string& currency);

}  // namespace pawl
