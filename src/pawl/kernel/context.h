// How full a model's context is, by estimate and by what providers report; and which part of a
// conversation goes when it is too full. All of it is decided by a run's rules and recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

// Of what the event brings to the conversation of its instance, which has not been applied yet. A
// provider's own figure replaces the estimate where it is believable. nullopt: it brings nothing.
std::optional<ContentMeasured> measure(const Rules& rules, const RunState& state,
                                       const Event& event);

// Entries [0, to) leave the transcript, but for what is pinned; what is behind them stays whole: no
// call is parted from its result.
struct CutPlan {
  std::uint64_t to = 0;
  std::uint64_t removed = 0;         // entries
  std::uint64_t removed_tokens = 0;  // by estimate
};
CutPlan cut_at(const Instance& instance, std::uint64_t to);
// nullopt: nothing worth the while can go.
std::optional<CutPlan> plan_cut(const Rules& rules, const Instance& instance,
                                std::uint64_t keep_messages);
// The context after the cut, with something of `replacement_tokens` in place of what went.
std::uint64_t context_after_cut(const RunState& state, const Instance& instance,
                                std::uint64_t context, const CutPlan& cut,
                                std::uint64_t replacement_tokens);

}  // namespace pawl
