// How full a model's context is, by estimate and by what providers report; and which part of a
// conversation goes when it is too full.
#pragma once

#include <cstdint>
#include <optional>

#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

// Output set aside for a call whose outcome may be lost, where no budget asks for more.
inline constexpr std::uint64_t kReservedOutputTokens = 4'096;
// A reply with less room than this is not worth asking for.
inline constexpr std::uint64_t kOutputTokensMin = 256;

// An estimate for text whose language and tokenizer are not known; docs/models.md states its error.
std::uint64_t estimate_tokens(std::uint64_t bytes);

// What the next request of an instance holds after `event`, in tokens. A provider's own figure
// replaces the estimate where it is believable.
std::uint64_t context_after(const RunState& state, const Event& event, InstanceId instance);

// Entries [0, to) leave the transcript, but for what is pinned; what is behind them stays whole: no
// call is parted from its result.
struct CutPlan {
  std::uint64_t to = 0;
  std::uint64_t removed = 0;         // entries
  std::uint64_t removed_tokens = 0;  // by estimate
};
bool is_pinned(const Entry& entry);
CutPlan cut_at(const Instance& instance, std::uint64_t to);
// nullopt: nothing worth the while can go.
std::optional<CutPlan> plan_cut(const Instance& instance, std::uint64_t keep_messages);
// The context after the cut, with something of `replacement_tokens` in place of what went.
std::uint64_t context_after_cut(const RunState& state, const Instance& instance,
                                std::uint64_t context, const CutPlan& cut,
                                std::uint64_t replacement_tokens);

}  // namespace pawl
