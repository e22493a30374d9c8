// What model calls consume. Money is an integer of 10^-12 units of its currency.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/base/result.h"

namespace pawl {

struct Usage {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t cache_read_tokens = 0;
  std::uint64_t cache_creation_tokens = 0;     // kept for five minutes
  std::uint64_t cache_creation_1h_tokens = 0;  // kept for an hour: dearer

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("input_tokens", self.input_tokens);
    visit("output_tokens", self.output_tokens);
    visit("cache_read_tokens", self.cache_read_tokens);
    visit("cache_creation_tokens", self.cache_creation_tokens);
    visit("cache_creation_1h_tokens", self.cache_creation_1h_tokens);
  }
  friend bool operator==(const Usage&, const Usage&) = default;
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

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("input", self.input);
    visit("output", self.output);
    visit("cache_read", self.cache_read);
    visit("cache_creation", self.cache_creation);
    visit("cache_creation_1h", self.cache_creation_1h);
  }
  friend bool operator==(const Rates&, const Rates&) = default;
};

// The rates of a whole request, output included, with more input than `above_tokens`.
struct PriceTier {
  std::uint64_t above_tokens = 0;
  Rates rates;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("above_tokens", self.above_tokens);
    visit("rates", self.rates);
  }
  friend bool operator==(const PriceTier&, const PriceTier&) = default;
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

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("currency", self.currency);
    visit("input", self.input);
    visit("output", self.output);
    visit("cache_read", self.cache_read);
    visit("cache_creation", self.cache_creation);
    visit("cache_creation_1h", self.cache_creation_1h);
    visit("tiers", self.tiers);
  }
  friend bool operator==(const Prices&, const Prices&) = default;
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
