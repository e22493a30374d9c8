// Births and ends of instances, and the end of a turn.
#include "pawl/kernel/decide_flow.h"

#include "pawl/kernel/decide_agents.h"

namespace pawl {
namespace {

const ChildSpec& child_spec(const RunState& state, const PendingBirth& birth) {
  const Instance* parent = find_instance(state, birth.parent);
  PAWL_ASSERT(parent != nullptr);
  const ChildSpec* spec = find_child(node_of(state, *parent), birth.child);
  PAWL_ASSERT(spec != nullptr);
  return *spec;
}

bool has_room(const RunState& state) {
  return live_count(state) <= state.limits.branches;
}

std::vector<InstanceId> children_of(const RunState& state, InstanceId parent) {
  std::vector<InstanceId> children;
  for (const Instance& one : state.instances) {
    const bool mine = one.parent == parent && one.id != parent && is_live(one);
    if (mine) children.push_back(one.id);
  }
  return children;
}

std::string header(const Draft& draft, const Instance& instance, EndedHow how) {
  const Sentences& say = draft.rules.say;
  const std::string sender = to_string(instance.id) + " (" + instance.node + ")";
  if (how == EndedHow::failed) return with_words(say.content_failed, sender);
  if (how == EndedHow::stopped) return with_words(say.content_stopped, sender);
  return with_words(say.content_ceded, sender);
}

// A child of it has ended: it goes on if it rested, and ends what waited for its children only.
void after_child(Draft& draft, InstanceId id) {
  bear_those_that_wait(draft);
  if (draft.ending()) return;
  const Instance& parent = draft.instance(id);
  const bool alone = parent.workers == 0 && !awaits_birth(draft.state, id);
  if (id == kRootInstance && draft.state.final_output) {
    if (alone) draft.stop(RunStatus::done, StopReason::end_turn, "");
    return;
  }
  if (const Failing* failing = std::get_if<Failing>(&parent.phase)) {
    const Failing why = *failing;
    if (alone) draft.stop(why.status, why.reason, why.detail);
    return;
  }
  if (std::holds_alternative<Resting>(parent.phase)) begin_step(draft, parent);
}

bool is_awaited(const Draft& draft, const Instance& instance) {
  if (instance.workers > 0) return true;
  // Another waits for room that its parent's turn may hold: only the root's take none.
  return instance.id == kRootInstance && awaits_birth(draft.state, instance.id);
}

// What starts with its node is born by bear_those_that_wait().
void put_off_births(Draft& draft, InstanceId id) {
  if (draft.ending() || draft.instance(id).depth >= kDepthMax) return;
  const NodeSpec& node = node_of(draft.state, draft.instance(id));
  for (const auto* list : {&node.workers, &node.children}) {
    for (const ChildSpec& spec : *list) {
      if (spec.start == ChildStart::with_node) draft.add(BirthPutOff{id, spec.name});
    }
  }
}

// True: the turn is not over as long as its workers act.
bool leaves_workers(Draft& draft, InstanceId id) {
  const Instance& instance = draft.instance(id);
  if (!is_awaited(draft, instance)) return false;
  switch (node_of(draft.state, instance).workers_on_end) {
    case WorkersOnEnd::cancel:
      cancel_children(draft, id);
      return false;
    case WorkersOnEnd::detach:
      if (is_held_by_gate(draft, id)) return true;
      draft.add(OutputReady{});
      break;
    case WorkersOnEnd::wait:
      break;
  }
  draft.add(InstanceRested{id});
  return true;
}

}  // namespace

void drop_work(Draft& draft, InstanceId id) {
  draft.withdraw_starts_of(id);
  cancel_child_runs(draft, id);
  const std::vector<OpenEffect> open = draft.state.open;
  for (const OpenEffect& effect : open) {
    const bool agent =
        effect.kind == EffectKind::begin_agent || effect.kind == EffectKind::end_agent;
    if (effect.instance != id || agent) continue;
    draft.abort(effect.id);
    draft.discard(effect, reserved_for(draft.state, effect));
  }
}

bool has_primary_child(const RunState& state, const Instance& instance) {
  if (instance.child) return true;
  return std::any_of(state.births.begin(), state.births.end(), [&](const PendingBirth& one) {
    if (one.parent != instance.id) return false;
    const NodeSpec* node = find_node(state.nodes, child_spec(state, one).node);
    return node != nullptr && node->kind == NodeKind::primary;
  });
}

InstanceId bear(Draft& draft, InstanceId parent_id, const ChildSpec& spec,
                std::optional<Content> input, std::string state) {
  const Instance& parent = draft.instance(parent_id);
  const NodeSpec* node = find_node(draft.state.nodes, spec.node);
  PAWL_ASSERT(node != nullptr);
  ChildBorn born;
  born.instance = InstanceId{draft.state.instances_minted + 1};
  born.parent = parent_id;
  born.child = spec.name;
  born.node = spec.node;
  born.kind = node->kind;
  born.tokens = input ? draft.rules.estimate_tokens(input->length()) : parent.told.tokens;
  born.input = std::move(input);
  born.state = std::move(state);
  born.context_tokens = add_saturating(node->base_tokens, born.tokens);
  const InstanceId child = born.instance;
  draft.add(std::move(born));
  put_off_births(draft, child);
  begin_step(draft, draft.instance(child));
  return child;
}

void bear_those_that_wait(Draft& draft) {
  while (!draft.ending() && !draft.state.births.empty() && has_room(draft.state)) {
    const PendingBirth birth = draft.state.births.front();
    const ChildSpec spec = child_spec(draft.state, birth);
    const NodeSpec* node = find_node(draft.state.nodes, spec.node);
    std::optional<Content> input;
    if (!spec.input.empty()) input = Content(spec.input);
    bear(draft, birth.parent, spec, std::move(input), initial_state(*node));
  }
}

void begin_instance(Draft& draft, InstanceId id) {
  put_off_births(draft, id);
  bear_those_that_wait(draft);
  if (!draft.ending() && is_live(draft.instance(id))) begin_step(draft, draft.instance(id));
}

void cancel_instance(Draft& draft, InstanceId id) {
  cancel_children(draft, id);
  drop_work(draft, id);
  draft.add(InstanceEnded{id, EndedHow::cancelled, "", {}, 0});
}

void cancel_children(Draft& draft, InstanceId id) {
  const Instance& instance = draft.instance(id);
  if (instance.workers == 0 && !instance.child) return;
  for (const InstanceId child : children_of(draft.state, id)) cancel_instance(draft, child);
}

void end_instance(Draft& draft, InstanceId id, EndedHow how, Content content) {
  if (draft.ending()) return;
  if (how == EndedHow::ceded && is_held_by_gate(draft, id)) return;
  cancel_children(draft, id);
  drop_work(draft, id);
  const Instance& instance = draft.instance(id);
  if (instance.seat) return end_seat(draft, id, how, content);
  const InstanceId parent = instance.parent;
  InstanceEnded ended{id, how, header(draft, instance, how), std::move(content), 0};
  ended.tokens = draft.rules.estimate_tokens(ended.text.size() + ended.content.length());
  draft.add(std::move(ended));
  after_child(draft, parent);
}

void fail_instance(Draft& draft, const Instance& instance, RunStatus status, StopReason reason,
                   std::string detail) {
  if (!has_nodes(draft.state)) return draft.stop(status, reason, std::move(detail));
  if (draft.ending()) return;
  const InstanceId id = instance.id;
  if (id != kRootInstance) {
    return end_instance(draft, id, EndedHow::failed, Content(in_few_words(std::move(detail))));
  }
  const bool waits = is_awaited(draft, instance) &&
                     node_of(draft.state, instance).workers_on_end != WorkersOnEnd::cancel &&
                     !has_calls(draft.state, id);
  if (waits) return draft.add(RootFailed{status, reason, std::move(detail)});
  cancel_children(draft, id);
  draft.stop(status, reason, std::move(detail));
}

void stop_at_node_limit(Draft& draft, InstanceId id) {
  const Instance& instance = draft.instance(id);
  if (id != kRootInstance) {
    return end_instance(draft, id, EndedHow::stopped, instance.last_words);
  }
  const std::string steps = std::to_string(instance.node_steps);
  fail_instance(draft, instance, RunStatus::stopped, StopReason::steps,
                "limit steps of node " + instance.node + ": " + steps + " of " + steps);
}

void end_turn_of(Draft& draft, InstanceId id) {
  if (draft.ending()) return;
  const Instance& instance = draft.instance(id);
  if (has_news(instance)) return begin_step(draft, instance);
  // A tool has answered while the child that takes its place is at work.
  if (has_primary_child(draft.state, instance)) return draft.add(InstanceRested{id});
  if (leaves_workers(draft, id)) return;
  const NodeSpec& node = node_of(draft.state, draft.instance(id));
  if (const NextSpec* next = next_at_end(node)) {
    const NodeSpec* target = find_node(draft.state.nodes, next->to);
    draft.add(LeavePlanned{id, Leave{LeaveKind::transition,
                                     next->name,
                                     {},
                                     next->state.empty() ? initial_state(*target) : next->state,
                                     {}}});
    return take_leave(draft, id);
  }
  if (id != kRootInstance) {
    return end_instance(draft, id, EndedHow::ceded, draft.instance(id).last_words);
  }
  if (is_held_by_gate(draft, id)) return;
  draft.add(InstanceRested{id});
  draft.stop(RunStatus::done, StopReason::end_turn, "");
}

}  // namespace pawl
