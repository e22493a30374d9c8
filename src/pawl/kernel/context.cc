#include "pawl/kernel/context.h"

#include <algorithm>

#include "pawl/kernel/tally.h"

namespace pawl {
namespace {

struct Meter {
  const Rules& rules;
  const RunState& state;

  ContentMeasured of_bytes(std::uint64_t bytes) const { return {rules.estimate_tokens(bytes)}; }
  ContentMeasured of(const Content& text, const std::vector<Attachment>& attachments) const {
    std::uint64_t bytes = text.length();
    for (const Attachment& one : attachments) bytes = add_saturating(bytes, one.bytes.length());
    return of_bytes(bytes);
  }
  // "(see above)" is no answer where there is one above.
  Presence has_output(const Instance& instance, const std::vector<Block>& blocks) const {
    const bool said = std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      const TextBlock* text = std::get_if<TextBlock>(&block);
      if (text == nullptr || text->text.empty()) return false;
      return !instance.last_text || !rules.refers_back(text->text);
    });
    return said ? Presence::present : Presence::absent;
  }
  ContentMeasured of(InstanceId id, const std::vector<Block>& blocks) const {
    ContentMeasured measured = of_bytes(bytes_of(blocks));
    const Instance* instance = find_instance(state, id);
    if (instance != nullptr) measured.output = has_output(*instance, blocks);
    return measured;
  }

  std::optional<ContentMeasured> count(const RunStarted& event) const {
    ContentMeasured measured = of(event.input, event.attachments);
    for (const PastMessage& one : event.history) {
      measured.past.push_back(rules.estimate_tokens(one.text.length()));
    }
    return measured;
  }
  std::optional<ContentMeasured> count(const AgentBegan& event) const {
    if (event.verdict != HookVerdict::replace) return std::nullopt;
    ContentMeasured measured = of_bytes(event.replacement.length());
    measured.output = Presence::present;
    return measured;
  }
  std::optional<ContentMeasured> count(const ModelReplied& event) const {
    ContentMeasured measured = of(event.instance, event.blocks);
    const Instance* instance = find_instance(state, event.instance);
    if (instance == nullptr || event.origin != Origin::executor) return measured;
    const std::uint64_t estimate = add_saturating(instance->context_tokens, measured.tokens);
    const std::uint64_t reported = total_tokens(event.usage);
    if (rules.is_believable(reported, estimate)) measured.context_tokens = reported;
    return measured;
  }
  std::optional<ContentMeasured> count(const ExternalTurnPushed& event) const {
    return of(event.instance, event.blocks);
  }
  std::optional<ContentMeasured> count(const ToolFinished& event) const {
    return of_bytes(event.content.length());
  }
  std::optional<ContentMeasured> count(const ToolStatusLearned& event) const {
    return of_bytes(event.content.length());
  }
  std::optional<ContentMeasured> count(const DoubtResolved& event) const {
    return of_bytes(event.result.length());
  }
  std::optional<ContentMeasured> count(const CallDecided& event) const {
    return of_bytes(event.text.length());
  }
  std::optional<ContentMeasured> count(const MessageReceived& event) const {
    return of(event.text, event.attachments);
  }
  std::optional<ContentMeasured> count(const InstanceResumed& event) const {
    if (!has_nodes(state)) return std::nullopt;
    return of_bytes(event.message.length());
  }
  std::optional<ContentMeasured> count(const RunReopened& event) const {
    if (event.message.empty()) return std::nullopt;
    return of_bytes(event.message.length());
  }
  template <class Other>
  std::optional<ContentMeasured> count(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<ContentMeasured> measure(const Rules& rules, const RunState& state,
                                       const Event& event) {
  const Meter meter{rules, state};
  return std::visit([&meter](const auto& fact) { return meter.count(fact); }, event);
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

std::optional<CutPlan> plan_cut(const Rules& rules, const Instance& instance,
                                std::uint64_t keep_messages) {
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
  if (cut.removed < rules.removed_min || cut.removed_tokens < all / rules.worth_while_divisor) {
    return std::nullopt;
  }
  return cut;
}

std::uint64_t context_after_cut(const RunState& state, const Instance& instance,
                                std::uint64_t context, const CutPlan& cut,
                                std::uint64_t replacement_tokens) {
  std::uint64_t all = base_tokens_of(state, instance);
  for (const Entry& entry : instance.transcript) all = add_saturating(all, entry.tokens);
  const std::uint64_t kept = all - std::min(all, cut.removed_tokens);
  // The estimate of what stays, corrected by how far off the estimate of all was.
  const std::uint64_t scaled = all == 0 ? 0 : multiply_saturating(context, kept) / all;
  return add_saturating(scaled, replacement_tokens);
}

}  // namespace pawl
