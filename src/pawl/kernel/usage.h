// What model calls consume. Money is an integer of 10^-12 units of its currency.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/base/result.h"

namespace pawl {

struct Usage {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t cache_read_tokens = 0;
  std::uint64_t cache_creation_tokens = 0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("input_tokens", self.input_tokens);
    visit("output_tokens", self.output_tokens);
    visit("cache_read_tokens", self.cache_read_tokens);
    visit("cache_creation_tokens", self.cache_creation_tokens);
  }
  friend bool operator==(const Usage&, const Usage&) = default;
};

// Saturating: a provider that reports nonsense cannot wrap a counter back to nothing.
std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b);
std::uint64_t multiply_saturating(std::uint64_t a, std::uint64_t b);
Usage operator+(const Usage& a, const Usage& b);
std::uint64_t total_tokens(const Usage& usage);

// Price of one token, per class, in 10^-12 units.
struct Prices {
  std::string currency = "USD";
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_creation = 0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("currency", self.currency);
    visit("input", self.input);
    visit("output", self.output);
    visit("cache_read", self.cache_read);
    visit("cache_creation", self.cache_creation);
  }
  friend bool operator==(const Prices&, const Prices&) = default;
};

std::uint64_t cost_pico(const Usage& usage, const Prices& prices);
// "0.000123 USD": as many decimals as needed, at least two.
std::string format_money(std::uint64_t pico, const std::string& currency);

}  // namespace pawl
