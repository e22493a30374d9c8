// What a run may use, what it has used, and what that costs. Every bound has a default and a
// stop reason, and leaves a usable partial result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/result.h"
#include "pawl/words.h"

namespace pawl {

// --- What model calls consume. Money is an integer of 10^-12 units of its currency.

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

struct Limits {
  std::uint64_t steps = 50;
  std::uint64_t model_calls = 10'000;  // attempts included
  std::uint64_t tool_calls = 10'000;
  std::uint64_t time_ms = 3'600'000;  // of work; waiting does not count
  std::uint64_t tokens = 10'000'000;
  std::uint64_t bytes_in = 64U << 20U;   // input, messages and tool results
  std::uint64_t bytes_out = 16U << 20U;  // what the model wrote
  std::uint64_t branches = 10;           // instances spawned
  std::uint64_t cost_pico = 0;      // money, in 10^-12 units; 0: no bound. It makes the run wait
  std::uint64_t ask_cost_pico = 0;  // spending this much makes it wait, too; 0: never
  std::uint64_t budget_tokens = 0;  // these two make it wait where `tokens` and `time_ms` end it;
  std::uint64_t budget_ms = 0;      // 0: no bound

  PAWL_FACT(Limits, "limits",
            PAWL_FIELD(steps) PAWL_FIELD(model_calls) PAWL_FIELD(tool_calls) PAWL_FIELD(time_ms)
                PAWL_FIELD(tokens) PAWL_FIELD(bytes_in) PAWL_FIELD(bytes_out) PAWL_FIELD(branches)
                    PAWL_FIELD(cost_pico) PAWL_FIELD(ask_cost_pico) PAWL_FIELD(budget_tokens)
                        PAWL_FIELD(budget_ms));
};

// Loop guards: how many in a row end the run. 0 switches one off.
struct Guards {
  std::uint32_t identical_calls = 3;
  std::uint32_t identical_steps = 3;
  std::uint32_t tool_errors = 3;

  PAWL_FACT(Guards, "guards",
            PAWL_FIELD(identical_calls) PAWL_FIELD(identical_steps) PAWL_FIELD(tool_errors));
};

// When a conversation is shortened, and how much of its end stays as it is.
struct CompactionPolicy {
  std::uint32_t ratio_percent = 70;  // of the model's context; 0: never
  std::uint32_t keep_messages = 6;
  std::string model;  // which writes the summary; empty: the one that is used anyway

  PAWL_FACT(CompactionPolicy, "compaction",
            PAWL_FIELD(ratio_percent) PAWL_FIELD(keep_messages) PAWL_FIELD(model));
};

// Whether a model that broke off in the middle of its text may be followed by another one. What it
// said is withdrawn either way.
enum class AfterOutput : std::uint8_t { same_target, next_target };
std::string_view name(AfterOutput value);
template <>
inline constexpr std::uint8_t kCount<AfterOutput> = 2;

struct RetryPolicy {
  std::uint32_t attempts_max = 5;  // of one step at one target, the first included
  std::uint64_t first_delay_ms = 500;
  std::uint64_t delay_max_ms = 8'000;
  std::uint32_t attempts_before_failover = 2;  // where there is another target
  AfterOutput after_output = AfterOutput::same_target;

  PAWL_FACT(RetryPolicy, "retry_policy",
            PAWL_FIELD(attempts_max) PAWL_FIELD(first_delay_ms) PAWL_FIELD(delay_max_ms)
                PAWL_FIELD(attempts_before_failover) PAWL_FIELD(after_output));
};

// What a run has used so far.
struct Tally {
  std::uint64_t steps = 0;
  std::uint64_t model_calls = 0;
  std::uint64_t tool_calls = 0;
  std::uint64_t active_ms = 0;
  Usage usage;
  std::uint64_t cost_pico = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t branches = 0;

  PAWL_FACT(Tally, "tally",
            PAWL_FIELD(steps) PAWL_FIELD(model_calls) PAWL_FIELD(tool_calls) PAWL_FIELD(active_ms)
                PAWL_FIELD(usage) PAWL_FIELD(cost_pico) PAWL_FIELD(bytes_in) PAWL_FIELD(bytes_out)
                    PAWL_FIELD(branches));
};

// Whether no bound of `to` is lower than that of `from`.
bool is_raise(const Limits& from, const Limits& to);

// A bound that has been crossed: used more than allowed. The one that is named first wins.
std::optional<StopReason> crossed(const Tally& tally, const Limits& limits);
// A bound that leaves no room for one more model call.
std::optional<StopReason> exhausted(const Tally& tally, const Limits& limits);
// A bound that leaves no room for one more step.
std::optional<StopReason> exhausted_for_step(const Tally& tally, const Limits& limits);

// --- How a model is to answer. What is not set is left to the provider.

inline constexpr std::uint64_t kOutputTokensMax = 1'000'000;
inline constexpr std::uint32_t kTemperatureMilliMax = 2'000;

struct SamplingOptions {
  std::optional<std::uint64_t> max_output_tokens;
  std::optional<std::uint32_t> temperature_milli;  // 700 is 0.7: never binary floating point
  ReasoningEffort effort = ReasoningEffort::unset;
  Streaming stream = Streaming::automatic;

  friend bool operator==(const SamplingOptions&, const SamplingOptions&) = default;
};

}  // namespace pawl
