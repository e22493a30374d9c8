#include "pawl/limits.h"

#include <algorithm>
#include <optional>

namespace pawl {
namespace {

constexpr std::uint64_t kPicoPerUnit = 1'000'000'000'000ULL;
constexpr std::size_t kDecimals = 12;
constexpr std::size_t kDecimalsShownMin = 2;

Rates base_rates(const Prices& prices) {
  return {prices.input, prices.output, prices.cache_read, prices.cache_creation,
          prices.cache_creation_1h};
}

Rates dearer(const Rates& a, const Rates& b) {
  return {std::max(a.input, b.input), std::max(a.output, b.output),
          std::max(a.cache_read, b.cache_read), std::max(a.cache_creation, b.cache_creation),
          std::max(a.cache_creation_1h, b.cache_creation_1h)};
}

}  // namespace

std::uint64_t multiply_saturating(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

Usage operator+(const Usage& a, const Usage& b) {
  return {add_saturating(a.input_tokens, b.input_tokens),
          add_saturating(a.output_tokens, b.output_tokens),
          add_saturating(a.cache_read_tokens, b.cache_read_tokens),
          add_saturating(a.cache_creation_tokens, b.cache_creation_tokens),
          add_saturating(a.cache_creation_1h_tokens, b.cache_creation_1h_tokens)};
}

std::uint64_t total_tokens(const Usage& usage) {
  return add_saturating(input_tokens_of(usage), usage.output_tokens);
}

std::uint64_t input_tokens_of(const Usage& usage) {
  return add_saturating(
      add_saturating(usage.input_tokens, usage.cache_read_tokens),
      add_saturating(usage.cache_creation_tokens, usage.cache_creation_1h_tokens));
}

Rates rates_at(const Prices& prices, std::uint64_t input_tokens) {
  Rates rates = base_rates(prices);
  std::optional<std::uint64_t> above;
  for (const PriceTier& tier : prices.tiers) {
    const bool applies = input_tokens > tier.above_tokens;
    if (!applies || (above && *above > tier.above_tokens)) continue;
    above = tier.above_tokens;
    rates = tier.rates;
  }
  return rates;
}

Rates worst_rates(const Prices& prices, std::uint64_t input_estimate, std::uint64_t factor) {
  const std::uint64_t most = multiply_saturating(input_estimate, factor);
  Rates rates = base_rates(prices);
  for (const PriceTier& tier : prices.tiers) {
    if (most > tier.above_tokens) rates = dearer(rates, tier.rates);
  }
  return rates;
}

std::uint64_t dearest_input(const Rates& rates) {
  return std::max({rates.input, rates.cache_read, rates.cache_creation, rates.cache_creation_1h});
}

std::uint64_t cost_pico(const Usage& usage, const Rates& rates) {
  const std::uint64_t hour = std::max(rates.cache_creation_1h, rates.cache_creation);
  std::uint64_t sum = multiply_saturating(usage.input_tokens, rates.input);
  sum = add_saturating(sum, multiply_saturating(usage.output_tokens, rates.output));
  sum = add_saturating(sum, multiply_saturating(usage.cache_read_tokens, rates.cache_read));
  sum = add_saturating(sum, multiply_saturating(usage.cache_creation_tokens, rates.cache_creation));
  return add_saturating(sum, multiply_saturating(usage.cache_creation_1h_tokens, hour));
}

std::uint64_t cost_pico(const Usage& usage, const Prices& prices) {
  return cost_pico(usage, rates_at(prices, input_tokens_of(usage)));
}

std::uint64_t worst_cost_pico(const Usage& reserved, const Prices& prices, std::uint64_t factor) {
  return cost_pico(reserved, worst_rates(prices, input_tokens_of(reserved), factor));
}

std::string format_money(std::uint64_t pico, const std::string& currency) {
  std::string fraction = std::to_string(pico % kPicoPerUnit);
  fraction.insert(0, kDecimals - fraction.size(), '0');
  while (fraction.size() > kDecimalsShownMin && fraction.back() == '0') fraction.pop_back();
  return std::to_string(pico / kPicoPerUnit) + "." + fraction + " " + currency;
}

}  // namespace pawl
