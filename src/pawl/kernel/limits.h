// The bounds of a run. Every one has a default, a stop reason and leaves a usable partial result.
#pragma once

#include <cstdint>
#include <optional>

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

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("steps", self.steps);
    visit("model_calls", self.model_calls);
    visit("tool_calls", self.tool_calls);
    visit("time_ms", self.time_ms);
    visit("tokens", self.tokens);
    visit("bytes_in", self.bytes_in);
    visit("bytes_out", self.bytes_out);
    visit("branches", self.branches);
    visit("cost_pico", self.cost_pico);
    visit("ask_cost_pico", self.ask_cost_pico);
    visit("budget_tokens", self.budget_tokens);
    visit("budget_ms", self.budget_ms);
  }
  friend bool operator==(const Limits&, const Limits&) = default;
};

// Loop guards: how many in a row end the run. 0 switches one off.
struct Guards {
  std::uint32_t identical_calls = 3;
  std::uint32_t identical_steps = 3;
  std::uint32_t tool_errors = 3;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("identical_calls", self.identical_calls);
    visit("identical_steps", self.identical_steps);
    visit("tool_errors", self.tool_errors);
  }
  friend bool operator==(const Guards&, const Guards&) = default;
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

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("steps", self.steps);
    visit("model_calls", self.model_calls);
    visit("tool_calls", self.tool_calls);
    visit("active_ms", self.active_ms);
    visit("usage", self.usage);
    visit("cost_pico", self.cost_pico);
    visit("bytes_in", self.bytes_in);
    visit("bytes_out", self.bytes_out);
    visit("branches", self.branches);
  }
  friend bool operator==(const Tally&, const Tally&) = default;
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
