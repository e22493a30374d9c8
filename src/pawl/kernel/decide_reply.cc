// What follows from what a model said.
#include <span>

#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/decide_tree.h"
#include "pawl/kernel/machine_tools.h"

namespace pawl {
namespace {

std::vector<Asked> calls_of(const std::vector<Block>& blocks) {
  std::vector<Asked> calls;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (const CallBlock* call = std::get_if<CallBlock>(&blocks[i])) {
      calls.push_back({call, static_cast<std::uint32_t>(i), fingerprint_of(*call)});
    }
  }
  return calls;
}

// What a step is recorded under when the run is over anyway.
YieldReason yield_of(ReplyStop stop, const std::vector<Asked>& calls) {
  switch (stop) {
    case ReplyStop::max_tokens:
      return YieldReason::max_tokens;
    case ReplyStop::cede:
      return YieldReason::cede;
    case ReplyStop::suspend:
      return YieldReason::suspend;
    case ReplyStop::external:
      return YieldReason::external;
    case ReplyStop::pause_turn:
      return YieldReason::tool_use;
    case ReplyStop::refusal:
    case ReplyStop::end_turn:
    case ReplyStop::tool_use:
      break;
  }
  return calls.empty() ? YieldReason::end_turn : YieldReason::tool_use;
}

void end_step(Draft& draft, const Instance& instance, const Reply& reply, YieldReason yield) {
  draft.add(StepEnded{instance.id, instance.open_step, yield, reply.fingerprint});
}

// Of a tool that the kernel answers itself.
bool is_machine_call(const RunState& state, const CallBlock& call) {
  return has_nodes(state) && is_reserved_tool(call.tool) && !is_agent_tool(call.tool);
}

bool refused(const RunState& state, const Instance& instance, const CallBlock& call) {
  if (is_machine_call(state, call)) return false;
  return !call.fault.empty() || tool_in_scope(state, instance, call.tool) == nullptr ||
         call.judgement.verdict == CallVerdict::deny;
}

CallId next_call(const RunState& state) {
  return CallId{state.calls_minted + 1};
}

CallRefused refusal(const Draft& draft, const Instance& instance, const Asked& asked) {
  const Sentences& say = draft.rules.say;
  CallRefused decision;
  decision.instance = instance.id;
  decision.call = next_call(draft.state);
  decision.index = asked.index;
  decision.fingerprint = asked.fingerprint;
  if (tool_in_scope(draft.state, instance, asked.call->tool) == nullptr) {
    decision.because = RefusedBecause::unknown_tool;
    decision.text = in_few_words(std::string(say.unknown_tool) + known_tools(draft, instance));
  } else if (!asked.call->fault.empty()) {
    decision.because = RefusedBecause::invalid_input;
    decision.text = in_few_words(std::string(say.invalid_input) + asked.call->fault);
  } else {
    decision.because = RefusedBecause::denied;
    decision.text = std::string(say.denied) + asked.call->judgement.reason;
    decision.stage = asked.call->judgement.stage;
    decision.rule = asked.call->judgement.rule;
  }
  decision.tokens = draft.rules.estimate_tokens(decision.text.size());
  return decision;
}

// Which guard the calls of this reply trip, and at which tool, before any of them runs.
struct Trip {
  StopReason guard;
  std::string_view tool;
};
std::optional<Trip> tripped(const Draft& draft, const Instance& instance,
                            const std::vector<Asked>& calls) {
  const Guards& guards = draft.state.guards;
  LoopGuard seen = instance.guard;
  for (const Asked& asked : calls) {
    const bool same = seen.identical_calls > 0 && seen.call_fingerprint == asked.fingerprint;
    seen.identical_calls = same ? seen.identical_calls + 1 : 1;
    seen.call_fingerprint = asked.fingerprint;
    if (guards.identical_calls > 0 && seen.identical_calls >= guards.identical_calls) {
      return Trip{StopReason::repeated_call, asked.call->tool};
    }
    if (refused(draft.state, instance, *asked.call)) ++seen.tool_errors;
    if (guards.tool_errors > 0 && seen.tool_errors >= guards.tool_errors) {
      return Trip{StopReason::tool_errors, asked.call->tool};
    }
  }
  return std::nullopt;
}

// The step has just ended, and counts.
bool repeats_step(const Draft& draft, const Instance& instance) {
  const std::uint32_t most = draft.state.guards.identical_steps;
  return most > 0 && instance.guard.identical_steps >= most;
}

std::string guard_detail(const Trip& trip, const Guards& guards) {
  switch (trip.guard) {
    case StopReason::repeated_call:
      return "guard identical_calls: " + std::to_string(guards.identical_calls) +
             " identical calls of " + std::string(trip.tool) + " in a row";
    case StopReason::repeated_step:
      return "guard identical_steps: " + std::to_string(guards.identical_steps) +
             " identical steps in a row";
    default:
      return "guard tool_errors: " + std::to_string(guards.tool_errors) + " tool errors in a row";
  }
}

// The bounds are checked after a reply and before its tools, so that an over-limit run never causes
// a side effect that nobody will read.
bool stopped_before_tools(Draft& draft, const Instance& instance, const std::vector<Asked>& calls) {
  if (draft.state.tally.steps >= draft.state.limits.steps) {
    draft.stop_at(StopReason::steps);
  } else if (draft.state.tally.tool_calls + calls.size() > draft.state.limits.tool_calls) {
    draft.stop_at(StopReason::tool_calls);
  } else if (const auto trip = tripped(draft, instance, calls)) {
    draft.stop(RunStatus::stopped, trip->guard, guard_detail(*trip, draft.state.guards));
  } else if (repeats_step(draft, instance)) {
    draft.stop(RunStatus::stopped, StopReason::repeated_step,
               guard_detail({StopReason::repeated_step, ""}, draft.state.guards));
  }
  return draft.ending();
}

// Calls that cannot be run have a result nevertheless: a transcript with a call and no result is
// one that no provider accepts.
void refuse_all(Draft& draft, const Instance& instance, const std::vector<Asked>& calls,
                RefusedBecause because, std::string_view text) {
  for (const Asked& asked : calls) {
    draft.add(CallRefused{instance.id, next_call(draft.state), asked.index, because,
                          std::string(text), asked.fingerprint, GateStage::none, "",
                          draft.rules.estimate_tokens(text.size())});
  }
  if (!calls.empty()) draft.add(ResultsTaken{instance.id});
}

// The run is ending. Its end may be withdrawn or the run reopened, and then the conversation goes
// on: no call in it is without a result.
void refuse_at_end(Draft& draft, const Instance& instance, const std::vector<Asked>& calls) {
  refuse_all(draft, instance, calls, RefusedBecause::yielded, draft.rules.say.ended);
}

// True: the calls are not made, and the run or the instance ends.
bool stopped_in_tree(Draft& draft, InstanceId id, const std::vector<Asked>& calls) {
  const Instance& instance = draft.instance(id);
  const auto trip = tripped(draft, instance, calls);
  if (draft.state.tally.steps >= draft.state.limits.steps) {
    draft.stop_at(StopReason::steps);
  } else if (draft.state.tally.tool_calls + calls.size() > draft.state.limits.tool_calls) {
    draft.stop_at(StopReason::tool_calls);
  } else if (!trip && !repeats_step(draft, instance)) {
    return false;
  }
  refuse_at_end(draft, instance, calls);
  const Trip why = trip.value_or(Trip{StopReason::repeated_step, ""});
  fail_instance(draft, instance, RunStatus::stopped, why.guard,
                guard_detail(why, draft.state.guards));
  return true;
}

// The definition that is judged and run is the one that is the nearest now.
CallOpened opened(const RunState& state, const Instance& instance, const Asked& asked) {
  CallOpened decision{instance.id, next_call(state), asked.index, asked.fingerprint};
  if (const PinnedTool* tool = tool_in_scope(state, instance, asked.call->tool)) {
    decision.scope = tool->scope;
    decision.owner = tool->owner;
  }
  return decision;
}

YieldReason yield_by(std::optional<LeaveKind> leave) {
  if (leave == LeaveKind::cede) return YieldReason::cede;
  return leave == LeaveKind::suspend ? YieldReason::suspend : YieldReason::tool_use;
}

// The run ends in the middle of a reply, by a child that it has spawned: the calls behind are
// refused, and what has a result joins the conversation.
void refuse_behind_end(Draft& draft, InstanceId id, std::span<const Asked> behind) {
  const std::string_view text = draft.rules.say.ended;
  for (const Asked& asked : behind) {
    draft.add(CallRefused{id, next_call(draft.state), asked.index, RefusedBecause::yielded,
                          std::string(text), asked.fingerprint, GateStage::none, "",
                          draft.rules.estimate_tokens(text.size())});
  }
  if (all_ended(draft, id)) draft.add(ResultsTaken{id});
}

// A run that has nodes: a call may spawn instances, and end the one that makes it.
void open_calls_in_tree(Draft& draft, InstanceId id, const Reply& reply,
                        const std::vector<Asked>& calls) {
  const Instance& before = draft.instance(id);
  end_step(draft, before, reply, yield_by(planned_leave(draft, before, calls)));
  if (stopped_in_tree(draft, id, calls)) return;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Asked& asked = calls[i];
    const Instance& instance = draft.instance(id);
    if (is_machine_call(draft.state, *asked.call)) {
      take_machine_call(draft, id, asked);
    } else if (refused(draft.state, instance, *asked.call)) {
      draft.add(refusal(draft, instance, asked));
    } else {
      const CallId call = next_call(draft.state);
      draft.add(opened(draft.state, instance, asked));
      take_judgement(draft, instance, draft.call(call), asked.call->judgement);
    }
    if (!is_live(draft.instance(id))) return;
    if (draft.ending()) return refuse_behind_end(draft, id, std::span(calls).subspan(i + 1));
  }
  go_on_when_all_ended(draft, id);
}

void open_calls(Draft& draft, const Instance& instance, const Reply& reply,
                const std::vector<Asked>& calls) {
  if (has_nodes(draft.state)) return open_calls_in_tree(draft, instance.id, reply, calls);
  end_step(draft, instance, reply, YieldReason::tool_use);
  if (stopped_before_tools(draft, instance, calls)) return refuse_at_end(draft, instance, calls);
  bool any_open = false;
  for (const Asked& asked : calls) {
    if (refused(draft.state, instance, *asked.call)) {
      draft.add(refusal(draft, instance, asked));
      continue;
    }
    const CallId call = next_call(draft.state);
    draft.add(opened(draft.state, instance, asked));
    take_judgement(draft, instance, draft.call(call), asked.call->judgement);
    any_open = any_open || !std::holds_alternative<CallEnded>(draft.call(call).state);
  }
  if (any_open || draft.ending()) return;
  draft.add(ResultsTaken{instance.id});
  begin_step(draft, instance);
}

void add_note(Draft& draft, const Instance& instance, Note note, std::string text) {
  const std::uint64_t tokens = draft.rules.estimate_tokens(text.size());
  draft.add(NoteAdded{instance.id, note, std::move(text), tokens});
}

void wrap_up(Draft& draft, const Instance& instance, const Reply& reply,
             const std::vector<Asked>& calls) {
  end_step(draft, instance, reply, YieldReason::max_tokens);
  // A call inside a reply that was cut off is never run, even where its input happens to parse.
  refuse_all(draft, instance, calls, RefusedBecause::truncated, draft.rules.say.cut_off);
  if (instance.wrap_up == WrapUp::asked) {
    return fail_instance(draft, instance, RunStatus::stopped, StopReason::max_tokens,
                         "cut off at the output limit a second time, after being asked to wrap up");
  }
  add_note(draft, instance, Note::wrap_up, std::string(draft.rules.say.wrap_up));
  begin_step(draft, instance);
}

// True: the answer is asked for again, or the run failed for it.
bool repaired(Draft& draft, const Instance& instance, const Reply& reply) {
  if (reply.output_fault.empty()) return false;
  if (instance.repairs >= draft.rules.output_repairs_max) {
    fail_instance(draft, instance, RunStatus::failed, StopReason::validation_error,
                  "the answer does not fit the output schema, after " +
                      std::to_string(instance.repairs) +
                      " repairs: " + std::string(reply.output_fault));
    return true;
  }
  add_note(draft, instance, Note::repair,
           in_few_words(std::string(draft.rules.say.repair).append(reply.output_fault)));
  begin_step(draft, instance);
  return true;
}

void end_turn(Draft& draft, const Instance& instance, const Reply& reply) {
  end_step(draft, instance, reply, YieldReason::end_turn);
  if (repaired(draft, instance, reply)) return;
  if (has_nodes(draft.state)) return end_turn_of(draft, instance.id);
  if (has_news(instance)) return begin_step(draft, instance);
  draft.add(InstanceRested{instance.id});
  if (!others_active(draft.state, instance.id)) {
    draft.stop(RunStatus::done, StopReason::end_turn, "");
  }
}

void cede(Draft& draft, const Instance& instance, const Reply& reply) {
  if (has_nodes(draft.state)) {
    if (instance.id == kRootInstance || has_news(instance)) return end_turn_of(draft, instance.id);
    return end_instance(draft, instance.id, EndedHow::ceded, instance.last_words);
  }
  // A message that was accepted is answered first.
  if (has_news(instance)) return begin_step(draft, instance);
  if (instance.id == kRootInstance) {
    draft.add(InstanceRested{instance.id});
    return draft.stop(RunStatus::done, StopReason::cede, std::string(reply.detail));
  }
  const InstanceId heir = instance.parent;
  draft.add(InstanceCeded{instance.id});  // and it is gone
  const Instance& parent = draft.instance(heir);
  if (std::holds_alternative<Resting>(parent.phase)) begin_step(draft, parent);
}

// The reply gives control away: to a parent, to a person, to the host.
void yield_turn(Draft& draft, const Instance& instance, const Reply& reply,
                const std::vector<Asked>& calls) {
  const std::uint64_t step = instance.open_step;
  end_step(draft, instance, reply, yield_of(reply.stop, calls));
  refuse_all(draft, instance, calls, RefusedBecause::yielded, draft.rules.say.yielded);
  if (reply.stop == ReplyStop::cede) return cede(draft, instance, reply);
  if (reply.stop == ReplyStop::external) return draft.add(TurnHandedOut{instance.id});
  draft.add(InstanceSuspended{instance.id, "s" + std::to_string(step), std::string(reply.detail),
                              std::string(reply.metadata)});
}

bool is_beyond_bounds(const Draft& draft, const Reply& reply) {
  return draft.crossed().has_value() || reply.blocks.size() > kBlocksPerReplyMax;
}

void stop_beyond_bounds(Draft& draft, const Reply& reply) {
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  draft.stop(RunStatus::failed, StopReason::validation_error,
             "the reply has " + std::to_string(reply.blocks.size()) +
                 " blocks; a reply has at most " + std::to_string(kBlocksPerReplyMax));
}

}  // namespace

std::string known_tools(const Draft& draft, const Instance& instance) {
  std::string list;
  const auto add = [&list](const std::string& name) { list += (list.empty() ? "" : ", ") + name; };
  for (const PinnedTool& tool : draft.state.tools) {
    if (tool_in_scope(draft.state, instance, tool.name) == &tool) add(tool.name);
  }
  for (const ToolSpec& tool : machine_tools(draft.state, instance)) add(tool.name);
  return list.empty() ? std::string(draft.rules.say.no_tools) : list;
}

void refuse_calls(Draft& draft, const Instance& instance, const std::vector<Block>& blocks) {
  refuse_at_end(draft, instance, calls_of(blocks));
}

void take_reply(Draft& draft, const Instance& instance, const Reply& said) {
  Reply reply = said;
  const std::vector<Asked> calls = calls_of(reply.blocks);
  const bool only_a_call = calls.size() == 1 && said.blocks.size() == 1;  // it is the reply then
  reply.fingerprint = only_a_call ? calls.front().fingerprint : fingerprint_of(said.blocks);
  const YieldReason yield = yield_of(reply.stop, calls);
  const bool late = draft.ending();  // It was faster than its abort.
  if (late || is_beyond_bounds(draft, reply)) {
    end_step(draft, instance, reply, yield);
    if (!late) stop_beyond_bounds(draft, reply);
    return refuse_at_end(draft, instance, calls);
  }
  switch (reply.stop) {
    case ReplyStop::max_tokens:
      return wrap_up(draft, instance, reply, calls);
    case ReplyStop::refusal:
      end_step(draft, instance, reply, YieldReason::end_turn);
      if (has_nodes(draft.state)) {
        refuse_at_end(draft, instance, calls);
        return fail_instance(draft, instance, RunStatus::stopped, StopReason::refusal,
                             std::string(reply.detail));
      }
      draft.stop(RunStatus::stopped, StopReason::refusal, std::string(reply.detail));
      return refuse_at_end(draft, instance, calls);
    case ReplyStop::cede:
    case ReplyStop::suspend:
    case ReplyStop::external:
      return yield_turn(draft, instance, reply, calls);
    case ReplyStop::pause_turn:
      if (!calls.empty()) break;
      end_step(draft, instance, reply, yield);
      return begin_step(draft, instance);
    case ReplyStop::end_turn:
    case ReplyStop::tool_use:
      break;
  }
  if (calls.empty()) return end_turn(draft, instance, reply);
  open_calls(draft, instance, reply, calls);
}

}  // namespace pawl
