#include "pawl/kernel/usage.h"

namespace pawl {
namespace {

constexpr std::uint64_t kPicoPerUnit = 1'000'000'000'000ULL;
constexpr std::size_t kDecimals = 12;
constexpr std::size_t kDecimalsShownMin = 2;

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
          add_saturating(a.cache_creation_tokens, b.cache_creation_tokens)};
}

std::uint64_t total_tokens(const Usage& usage) {
  return add_saturating(add_saturating(usage.input_tokens, usage.output_tokens),
                        add_saturating(usage.cache_read_tokens, usage.cache_creation_tokens));
}

std::uint64_t cost_pico(const Usage& usage, const Prices& prices) {
  return add_saturating(
      add_saturating(multiply_saturating(usage.input_tokens, prices.input),
                     multiply_saturating(usage.output_tokens, prices.output)),
      add_saturating(multiply_saturating(usage.cache_read_tokens, prices.cache_read),
                     multiply_saturating(usage.cache_creation_tokens, prices.cache_creation)));
}

std::string format_money(std::uint64_t pico, const std::string& currency) {
  std::string fraction = std::to_string(pico % kPicoPerUnit);
  fraction.insert(0, kDecimals - fraction.size(), '0');
  while (fraction.size() > kDecimalsShownMin && fraction.back() == '0') fraction.pop_back();
  return std::to_string(pico / kPicoPerUnit) + "." + fraction + " " + currency;
}

}  // namespace pawl
