// The bounds of a run. Every one has a default, a stop reason and leaves a usable partial result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/kernel/fields.h"
#include "pawl/kernel/usage.h"
#include "pawl/kernel/words.h"

namespace pawl {

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

}  // namespace pawl
