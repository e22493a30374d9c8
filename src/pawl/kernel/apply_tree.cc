// What decisions about the tree of instances change in a run.
#include <algorithm>

#include "pawl/kernel/apply.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

// The list of instances is cleared of those that have ended when they are more than these, and more
// than the others: a step costs the same however many there are.
constexpr std::uint32_t kEndedKept = 8;

}  // namespace

void Applier::start_tree(const RunStarted& event) {
  state_.nodes = event.nodes;
  state_.packs = event.packs;
  state_.work.gate = event.gate;
  for (const PackSpec& pack : event.packs) {
    if (pack.state) state_.pack_states.push_back({pack.name, pack.state->initial, 0});
  }
  if (!event.phases.empty()) return start_flow(event);
  if (!has_nodes(state_)) return;
  Instance& root = instance(kRootInstance);
  const NodeSpec* node = find_node(state_.nodes, root.node);
  if (node == nullptr) return fail("it starts at no node of its own");
  if (node->state) root.state = node->state->initial;
  root.told = root.transcript.back();
  root.target = first_target(state_, root);
  root.context_tokens = root.context_tokens - std::min(root.context_tokens, state_.base_tokens);
  root.context_tokens = add_saturating(root.context_tokens, node->base_tokens);
}

void Applier::forget_ended() {
  if (state_.ended_calls > 0) {
    std::erase_if(state_.calls, [this](const Call& one) {
      const Instance* caller = find_instance(state_, one.instance);
      return caller == nullptr || !is_live(*caller);
    });
    state_.ended_calls = 0;
  }
  if (state_.ended <= kEndedKept || state_.ended * 2 <= state_.instances.size()) return;
  std::erase_if(state_.instances, [](const Instance& one) { return !is_live(one); });
  state_.ended = 0;
}

void Applier::drop_births(InstanceId parent) {
  std::erase_if(state_.births, [parent](const PendingBirth& one) { return one.parent == parent; });
}

void Applier::take_last_words(Instance& where) {
  if (!has_nodes(state_)) return;
  if (auto said = words_in(record_.event)) where.last_words = *std::move(said);
}

// --- Events -------------------------------------------------------------------------------------

// What it is told is the result of the call that suspended it, or a message.
void Applier::on(const InstanceResumed& event) {
  if (!has_nodes(state_)) return;
  for (Call& one : state_.calls) {
    if (one.instance != event.instance || !std::holds_alternative<CallSuspending>(one.state)) {
      continue;
    }
    one.state = CallEnded{record_.seq, measured().tokens, Presence::present};
    return;
  }
  if (event.message.empty()) return;
  instance(event.instance)
      .waiting_messages.push_back({EntryKind::message, record_.seq, 0, measured().tokens});
}

// --- Decisions ----------------------------------------------------------------------------------

void Applier::on(const CallAnswered& decision) {
  open_call(decision.instance, decision.call, decision.index,
            CallEnded{record_.seq, decision.tokens, Presence::present});
  LoopGuard& guard = instance(decision.instance).guard;
  count_call(guard, decision.fingerprint);
  guard.tool_errors = 0;
}

void Applier::on(const LeavePlanned& decision) {
  Instance& where = instance(decision.instance);
  where.leave = decision.leave;
  if (decision.leave.call) call(*decision.leave.call).state = CallSuspending{};
}

void Applier::on(const NodeEntered& decision) {
  Instance& where = instance(decision.instance);
  where.node = decision.node;
  where.state = decision.state;
  ++where.state_changes;
  where.node_position = where.node_steps = 0;
  where.guard = {};
  where.wrap_up = WrapUp::not_asked;
  where.repairs = 0;
  where.failures.clear();
  where.sessions.clear();  // They remember other instructions.
  where.target = first_target(state_, where);
  where.leave.reset();
  where.compacted_in_step = 0;
  where.context_tokens = decision.context_tokens;
  drop_births(where.id);
  if (decision.context == NextContext::keep) return;
  const bool fresh = decision.context == NextContext::fresh;
  const Entry first{fresh ? EntryKind::opening : EntryKind::summary, record_.seq,
                    static_cast<std::uint64_t>(where.id), decision.tokens};
  where.transcript = {first};
  where.told = first;
  where.attachments = 0;
}

void Applier::on(const StateChanged& decision) {
  if (decision.pack.empty()) {
    Instance& where = instance(decision.instance);
    where.state = decision.state;
    ++where.state_changes;
    return;
  }
  for (PackState& pack : state_.pack_states) {
    if (pack.name != decision.pack) continue;
    pack.state = decision.state;
    ++pack.changes;
    return;
  }
  fail("no pack " + decision.pack + " with a state");
}

void Applier::on(const StateProposed& decision) {
  instance(decision.instance).proposals = decision.proposal;
}

void Applier::on(const StateConflict& decision) {
  instance(decision.instance).proposals = decision.proposal;
}

void Applier::on(const ChildBorn& decision) {
  Instance& parent = instance(decision.parent);
  Instance child;
  child.id = decision.instance;
  child.parent = decision.parent;
  child.node = decision.node;
  child.kind = decision.kind;
  child.name = decision.child;
  child.state = decision.state;
  child.depth = parent.depth + 1;
  child.told = decision.input ? Entry{EntryKind::input, record_.seq,
                                      static_cast<std::uint64_t>(child.id), decision.tokens}
                              : parent.told;
  child.transcript.push_back(child.told);
  child.context_tokens = decision.context_tokens;
  child.target = first_target(state_, child);
  if (decision.kind == NodeKind::worker) {
    ++parent.workers;
  } else {
    parent.child = child.id;
  }
  const auto born =
      std::find_if(state_.births.begin(), state_.births.end(), [&](const PendingBirth& one) {
        return one.parent == decision.parent && one.child == decision.child;
      });
  if (born != state_.births.end()) state_.births.erase(born);
  state_.instances_minted = std::max(state_.instances_minted, static_cast<std::uint32_t>(child.id));
  state_.instances.push_back(std::move(child));
}

void Applier::on(const BirthPutOff& decision) {
  state_.births.push_back({decision.parent, decision.child});
}

// It stays in the list without its conversation until many have ended: whoever decides may still
// be looking at it.
void Applier::on(const InstanceEnded& decision) {
  Instance& where = instance(decision.instance);
  Instance& parent = instance(where.parent);
  if (where.kind == NodeKind::worker) {
    if (parent.workers > 0) --parent.workers;
  } else {
    parent.child.reset();
  }
  if (where.seat) {
    leave_seat(where);
  } else if (decision.how != EndedHow::cancelled) {
    parent.contents.push_back({EntryKind::ceded, record_.seq,
                               static_cast<std::uint64_t>(decision.instance), decision.tokens});
  }
  for (Call& one : state_.calls) {
    if (one.instance != decision.instance) continue;
    one.state = CallEnded{};
    ++state_.ended_calls;
  }
  drop_births(decision.instance);
  set_phase(where, Ended{});
  where.transcript = {};
  where.waiting_messages = {};
  where.contents = {};
  where.state = {};
  where.sessions = {};
  where.leave.reset();
  ++state_.ended;
}

void Applier::on(const ContentsDelivered& decision) {
  Instance& where = instance(decision.instance);
  if (decision.count != where.contents.size()) return fail("other contents wait");
  std::stable_sort(where.contents.begin(), where.contents.end(),
                   [](const Entry& a, const Entry& b) { return a.number < b.number; });
  for (const Entry& entry : where.contents) {
    where.transcript.push_back(entry);
    where.context_tokens = add_saturating(where.context_tokens, entry.tokens);
  }
  where.contents.clear();
}

void Applier::on(const MessageReplaced& decision) {
  Instance& where = instance(decision.instance);
  const auto gone = std::find_if(where.waiting_messages.begin(), where.waiting_messages.end(),
                                 [&](const Entry& one) { return one.seq == decision.seq; });
  if (gone == where.waiting_messages.end()) return fail("no message waits to be replaced");
  where.attachments -= std::min(where.attachments, static_cast<std::uint32_t>(gone->number));
  where.waiting_messages.erase(gone);
  const auto* event = std::get_if<MessageReceived>(&record_.event);
  if (event != nullptr && event->delivery == Delivery::silent) --where.silent_messages;
  for (Singleton& one : where.singletons) {
    if (one.seq == decision.seq) one = {one.key, record_.seq, decision.count};
  }
}

void Applier::on(const StepGivenUp& decision) {
  Instance& where = instance(decision.instance);
  if (where.open_step != decision.step) return fail("another step is open");
  where.open_step = 0;
  where.attempts = 0;
  where.failures.clear();
  set_phase(where, Ready{});
}

void Applier::on(const SuspensionLifted& decision) {
  Instance& where = instance(decision.instance);
  where.leave.reset();
  set_phase(where, Ready{});
  if (!decision.call) return;
  call(*decision.call).state = CallEnded{record_.seq, decision.tokens, Presence::present};
  set_phase(where, AwaitingTools{});
}

void Applier::on(const MessageAdded& decision) {
  instance(decision.instance)
      .waiting_messages.push_back({EntryKind::message, record_.seq, 0, decision.tokens});
}

void Applier::on(const RootFailed& decision) {
  set_phase(instance(kRootInstance), Failing{decision.status, decision.reason, decision.detail});
}

void Applier::on(const OutputReady&) {
  state_.final_output = instance(kRootInstance).last_text.value_or(record_.seq);
}

}  // namespace pawl
