#include "pawl/kernel/context.h"

#include <algorithm>

#include "pawl/kernel/tally.h"

namespace pawl {
namespace {

// English and code have four bytes a token or a little less, other languages three; numbers and
// base64 less than that. Rather too many than too few.
constexpr std::uint64_t kTokensPerTenBytes = 3;
constexpr std::uint64_t kTokensPerMessage = 4;
// A provider's figure is believed within this factor of the estimate, and this far from it.
constexpr std::uint64_t kBelievableFactor = 4;
constexpr std::uint64_t kBelievableSlack = 2'000;
// A cut that frees less than a fifth of the context is not worth a summary.
constexpr std::uint64_t kWorthWhileDivisor = 5;
constexpr std::uint64_t kRemovedMin = 2;

std::uint64_t believed(std::uint64_t estimate, const Usage& usage) {
  const std::uint64_t reported = total_tokens(usage);
  const bool too_few = add_saturating(reported, kBelievableSlack) < estimate / kBelievableFactor;
  const bool too_many =
      reported / kBelievableFactor > add_saturating(estimate, kBelievableSlack) || reported == 0;
  return too_few || too_many ? estimate : reported;
}

struct Meter {
  std::uint64_t tokens;

  void add(const Content& content) {
    tokens = add_saturating(tokens, estimate_tokens(content.length()));
  }
  void count(const ModelReplied& event) {
    tokens = add_saturating(tokens, estimate_tokens(bytes_of(event.blocks)));
    if (event.origin == Origin::executor) tokens = believed(tokens, event.usage);
  }
  void count(const ExternalTurnPushed& event) {
    tokens = add_saturating(tokens, estimate_tokens(bytes_of(event.blocks)));
  }
  void count(const ToolFinished& event) { add(event.content); }
  void count(const ToolStatusLearned& event) { add(event.content); }
  void count(const DoubtResolved& event) { add(event.result); }
  void count(const CallDecided& event) { add(event.text); }
  void count(const MessageReceived& event) {
    add(event.text);
    for (const Attachment& one : event.attachments) add(one.bytes);
  }
  template <class Other>
  void count(const Other&) {}
};

}  // namespace

std::uint64_t estimate_tokens(std::uint64_t bytes) {
  return bytes / 10 * kTokensPerTenBytes + (bytes % 10 * kTokensPerTenBytes + 9) / 10 +
         kTokensPerMessage;
}

std::uint64_t context_after(const RunState& state, const Event& event, InstanceId id) {
  const Instance* instance = find_instance(state, id);
  Meter meter{instance == nullptr ? 0 : instance->context_tokens};
  if (instance != nullptr && instance_of(event) == id) {
    std::visit([&meter](const auto& fact) { meter.count(fact); }, event);
  }
  return meter.tokens;
}

bool is_pinned(const Entry& entry) {
  return entry.kind == EntryKind::input;
}

CutPlan cut_at(const Instance& instance, std::uint64_t to) {
  CutPlan cut;
  cut.to = std::min<std::uint64_t>(to, instance.transcript.size());
  for (std::uint64_t i = 0; i < cut.to; ++i) {
    const Entry& entry = instance.transcript[i];
    if (is_pinned(entry)) continue;
    ++cut.removed;
    cut.removed_tokens = add_saturating(cut.removed_tokens, entry.tokens);
  }
  return cut;
}

std::optional<CutPlan> plan_cut(const Instance& instance, std::uint64_t keep_messages) {
  const std::vector<Entry>& entries = instance.transcript;
  // The results of the last reply's calls may just be on their way: it stays.
  const std::uint64_t keep = std::max<std::uint64_t>(keep_messages, 1);
  if (entries.size() <= keep) return std::nullopt;
  std::uint64_t to = entries.size() - keep;
  const auto last = std::find_if(entries.rbegin(), entries.rend(), [](const Entry& entry) {
    return entry.kind == EntryKind::assistant;
  });
  if (last != entries.rend()) {
    to = std::min<std::uint64_t>(to, static_cast<std::uint64_t>(entries.rend() - last) - 1);
  }
  while (to > 0 && entries[to].kind == EntryKind::tool_result) --to;
  const CutPlan cut = cut_at(instance, to);
  std::uint64_t all = 0;
  for (const Entry& entry : entries) all = add_saturating(all, entry.tokens);
  if (cut.removed < kRemovedMin || cut.removed_tokens < all / kWorthWhileDivisor) {
    return std::nullopt;
  }
  return cut;
}

std::uint64_t context_after_cut(const RunState& state, const Instance& instance,
                                std::uint64_t context, const CutPlan& cut,
                                std::uint64_t replacement_tokens) {
  std::uint64_t all = state.base_tokens;
  for (const Entry& entry : instance.transcript) all = add_saturating(all, entry.tokens);
  const std::uint64_t kept = all - std::min(all, cut.removed_tokens);
  // The estimate of what stays, corrected by how far off the estimate of all was.
  const std::uint64_t scaled = all == 0 ? 0 : multiply_saturating(context, kept) / all;
  return add_saturating(scaled, replacement_tokens);
}

}  // namespace pawl
