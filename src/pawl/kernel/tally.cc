#include "pawl/kernel/tally.h"

#include <algorithm>

#include "pawl/kernel/agent_tree.h"

namespace pawl {
namespace {

struct Counter {
  Tally& tally;
  const Prices& prices;

  void use(const Usage& usage, const std::optional<std::uint64_t>& stated = {}) {
    tally.usage = tally.usage + usage;
    tally.cost_pico = add_saturating(tally.cost_pico, stated.value_or(cost_pico(usage, prices)));
  }
  void in(const std::vector<Attachment>& attachments) {
    for (const Attachment& one : attachments) in(one.bytes);
  }
  void in(const Content& content) {
    tally.bytes_in = add_saturating(tally.bytes_in, content.length());
  }
  void out(const std::vector<Block>& blocks) {
    tally.bytes_out = add_saturating(tally.bytes_out, bytes_of(blocks));
  }

  void count(const RunStarted& event) {
    in(event.input);
    in(event.attachments);
    for (const PastMessage& message : event.history) in(message.text);
  }
  void count(const ModelReplied& event) {
    use(event.usage, event.cost_pico);
    out(event.blocks);
  }
  void count(const ExternalTurnPushed& event) {
    use(event.usage);
    out(event.blocks);
  }
  void count(const ModelFailed& event) {
    use(event.usage);
    // The model was skipped, or its tenant has no budget: no request was made.
    const bool unasked =
        event.kind == FailureKind::circuit_open || event.kind == FailureKind::budget;
    if (unasked && tally.model_calls > 0) --tally.model_calls;
  }
  void count(const ModelAborted& event) { use(event.usage); }
  void count(const ToolFinished& event) { in(event.content); }
  void count(const ToolStatusLearned& event) {
    if (event.answer == StatusAnswer::done) in(event.content);
  }
  void count(const DoubtResolved& event) { in(event.result); }
  void count(const CallDecided& event) { in(event.text); }
  void count(const MessageReceived& event) {
    in(event.text);
    in(event.attachments);
  }
  void count(const RunReopened& event) { in(event.message); }
  void count(const InstanceResumed& event) { in(event.message); }
  void count(const StateSet& event) { in(event.state); }
  void count(const EventReceived& event) { in(event.payload); }
  void count(const CommandGiven& event) { in(event.input); }
  void count(const ContextCompacted& event) { use(event.usage, event.cost_pico); }
  void count(const CompactionFailed& event) { use(event.usage); }
  void count(const InstanceSpawned& event) {
    in(event.input);
    tally.branches = add_saturating(tally.branches, 1);
  }
  template <class Other>
  void count(const Other&) {}
};

}  // namespace

std::uint64_t bytes_of(const std::vector<Block>& blocks) {
  std::uint64_t bytes = 0;
  for (const Block& block : blocks) {
    std::visit(
        [&bytes](const auto& one) {
          if constexpr (requires { one.text; }) bytes = add_saturating(bytes, one.text.length());
          if constexpr (requires { one.input; }) bytes = add_saturating(bytes, one.input.length());
          if constexpr (requires { one.json; }) bytes = add_saturating(bytes, one.json.length());
        },
        block);
  }
  return bytes;
}

// A run beneath this one says what it has used by now: what is new of it counts here, too.
static void count_child(const RunState& state, CallId call, const TreeBooks& books, Tally& tally) {
  const ChildRun* child = find_child(state, call);
  if (child == nullptr) return;
  const Usage& before = child->books.usage;
  const auto more = [](std::uint64_t now, std::uint64_t then) { return now - std::min(now, then); };
  tally.usage = tally.usage +
                Usage{more(books.usage.input_tokens, before.input_tokens),
                      more(books.usage.output_tokens, before.output_tokens),
                      more(books.usage.cache_read_tokens, before.cache_read_tokens),
                      more(books.usage.cache_creation_tokens, before.cache_creation_tokens),
                      more(books.usage.cache_creation_1h_tokens, before.cache_creation_1h_tokens)};
  tally.cost_pico = add_saturating(tally.cost_pico, more(books.cost_pico, child->books.cost_pico));
}

Tally tally_after(const RunState& state, const Event& event, const Stamp& stamp) {
  Tally tally = state.tally;
  if (!state.children.empty()) {
    std::visit(
        [&](const auto& fact) {
          if constexpr (requires { fact.books.cost_pico; }) {
            count_child(state, fact.call, fact.books, tally);
          }
        },
        event);
    const auto* finished = std::get_if<ToolFinished>(&event);
    if (finished != nullptr && finished->books) {
      count_child(state, finished->call, *finished->books, tally);
    }
  }
  if (std::holds_alternative<Live>(state.life) && !is_idle(state) &&
      stamp.elapsed_ms > state.elapsed_ms) {
    tally.active_ms = add_saturating(tally.active_ms, stamp.elapsed_ms - state.elapsed_ms);
  }
  const RunStarted* started = std::get_if<RunStarted>(&event);
  Counter counter{tally,
                  started == nullptr ? prices_of(state, instance_of(event)) : started->prices};
  std::visit([&counter](const auto& fact) { counter.count(fact); }, event);
  return tally;
}

}  // namespace pawl
