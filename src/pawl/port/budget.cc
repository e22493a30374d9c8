#include "pawl/port/budget.h"

#include <algorithm>

#include "pawl/limits.h"

namespace pawl {
namespace {

BudgetAmount added(const BudgetAmount& a, const BudgetAmount& b) {
  return {add_saturating(a.cost_pico, b.cost_pico), add_saturating(a.tokens, b.tokens),
          add_saturating(a.time_ms, b.time_ms)};
}

std::uint64_t less(std::uint64_t a, std::uint64_t b) {
  return a - std::min(a, b);
}

BudgetAmount less(const BudgetAmount& a, const BudgetAmount& b) {
  return {less(a.cost_pico, b.cost_pico), less(a.tokens, b.tokens), less(a.time_ms, b.time_ms)};
}

bool is_inside(const BudgetWindow& window, std::int64_t at_ms, std::int64_t now_ms) {
  // One from the future, after the clock went back, counts.
  return at_ms > now_ms - static_cast<std::int64_t>(window.length_ms);
}

struct Sums {
  BudgetAmount spent;
  BudgetAmount raised;
};

Sums sums_in(const BudgetWindow& window, const std::vector<BudgetEntry>& entries,
             std::int64_t now_ms) {
  Sums sums;
  for (const BudgetEntry& entry : entries) {
    if (!is_inside(window, entry.at_ms, now_ms)) continue;
    sums.spent = added(sums.spent, entry.spent);
    sums.raised = added(sums.raised, entry.raised);
  }
  return sums;
}

BudgetAmount left_of(const BudgetWindow& window, const Sums& sums) {
  return less(added(window.most, sums.raised), sums.spent);
}

// How long a reply the window leaves room for; nullopt: not even the shortest.
std::optional<std::uint64_t> room_in(const BudgetWindow& window, const BudgetAmount& left,
                                     const BudgetAsk& ask) {
  std::uint64_t output = ask.output_most;
  if (window.most.cost_pico > 0) {
    if (ask.input.cost_pico > left.cost_pico || left.cost_pico == 0) return std::nullopt;
    if (ask.output_pico > 0) {
      output = std::min(output, less(left.cost_pico, ask.input.cost_pico) / ask.output_pico);
    }
  }
  if (window.most.tokens > 0) {
    if (ask.input.tokens > left.tokens || left.tokens == 0) return std::nullopt;
    output = std::min(output, less(left.tokens, ask.input.tokens));
  }
  if (window.most.time_ms > 0 && (ask.input.time_ms > left.time_ms || left.time_ms == 0)) {
    return std::nullopt;
  }
  if (output < std::min(ask.output_least, ask.output_most)) return std::nullopt;
  return output;
}

// When enough of what is in the window has left it.
std::optional<std::int64_t> room_at(const BudgetWindow& window,
                                    const std::vector<BudgetEntry>& entries, const BudgetAsk& ask) {
  Sums sums = sums_in(window, entries, ask.now_ms);
  for (const BudgetEntry& entry : entries) {
    if (!is_inside(window, entry.at_ms, ask.now_ms)) continue;
    sums = {less(sums.spent, entry.spent), less(sums.raised, entry.raised)};
    if (room_in(window, left_of(window, sums), ask)) {
      return entry.at_ms + static_cast<std::int64_t>(window.length_ms);
    }
  }
  return std::nullopt;
}

}  // namespace

BudgetAmount left_of(const BudgetWindow& window, const std::vector<BudgetEntry>& entries,
                     std::int64_t now_ms) {
  return left_of(window, sums_in(window, entries, now_ms));
}

BudgetAmount spent_in(const BudgetWindow& window, const std::vector<BudgetEntry>& entries,
                      std::int64_t now_ms) {
  return sums_in(window, entries, now_ms).spent;
}

BudgetGrant weigh(const BudgetAsk& ask, const std::vector<BudgetEntry>& entries) {
  BudgetGrant grant;
  grant.output_tokens = ask.output_most;
  for (std::size_t i = 0; i < ask.windows.size(); ++i) {
    const BudgetWindow& window = ask.windows[i];
    const auto room = room_in(window, left_of(window, entries, ask.now_ms), ask);
    if (!room) {
      BudgetGrant held;
      held.window = i;
      held.again_at_ms = room_at(window, entries, ask);
      return held;
    }
    grant.output_tokens = std::min(grant.output_tokens, *room);
  }
  grant.id = 1;
  grant.reserved = ask.input;
  grant.reserved.tokens = add_saturating(ask.input.tokens, grant.output_tokens);
  grant.reserved.cost_pico = add_saturating(
      ask.input.cost_pico, multiply_saturating(grant.output_tokens, ask.output_pico));
  return grant;
}

}  // namespace pawl
