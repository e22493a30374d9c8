// What decides about the tree of instances: births, moves, ends. Internal to the kernel. Instances
// are named by their ids: a birth moves them about.
#pragma once

#include <optional>
#include <string>

#include "pawl/json.h"
#include "pawl/kernel/draft.h"

namespace pawl {

// A call in a reply, at its place among the blocks.
struct Asked {
  const CallBlock* call;
  std::uint32_t index;
  std::uint64_t fingerprint;
};

// An instance is in its node now: what starts with the node is born, and its step begins.
void begin_instance(Draft& draft, InstanceId id);
// The child of this name in its parent's node. `input`: nullopt: what its parent was told.
InstanceId bear(Draft& draft, InstanceId parent, const ChildSpec& spec,
                std::optional<Content> input, std::string state);
// The room that has become free goes to those that wait for it.
void bear_those_that_wait(Draft& draft);

// The turn of an instance is over, unless something has arrived for it.
void end_turn_of(Draft& draft, InstanceId id);
// A child leaves the tree with what it has to say, and what lives below it is cancelled.
void end_instance(Draft& draft, InstanceId id, EndedHow how, Content content);
void cancel_instance(Draft& draft, InstanceId id);
void cancel_children(Draft& draft, InstanceId id);
// What it has under way is given up: it is charged what was set aside.
void drop_work(Draft& draft, InstanceId id);
// A child that fails hands its failure to its parent. The root fails the run, when its workers have
// ended as its node says. Of a run without nodes every instance is the run.
void fail_instance(Draft& draft, const Instance& instance, RunStatus status, StopReason reason,
                   std::string detail);
// It has taken as many steps as it may in its node.
void stop_at_node_limit(Draft& draft, InstanceId id);

// The instance does what its reply has planned, now that its calls have ended.
void take_leave(Draft& draft, InstanceId id);
// Takes an instance to the next node. `summary`: what the conversation was summed up to.
void enter_node(Draft& draft, InstanceId id, const NextSpec& next, std::string state,
                Content message, const Content* summary);
// The summary for the next node is there; or nobody has written one.
void take_leaving_summary(Draft& draft, InstanceId id, const Content* summary);

// A call of a tool of the kernel's own: it is answered in this record, or refused in words.
void take_machine_call(Draft& draft, InstanceId id, const Asked& asked);
// What a reply leaves by, if the first call of that kind can be done.
std::optional<LeaveKind> planned_leave(const Draft& draft, const Instance& instance,
                                       const std::vector<Asked>& calls);

// The tools that an instance may call, by name, for the model.
std::string known_tools(const Draft& draft, const Instance& instance);

// A state that a node begins with.
std::string initial_state(const NodeSpec& node);
// Why `json` is no state of this kind; or empty.
std::string fault_of_state(const std::optional<StateSpec>& spec, std::string_view json);

// Text as it is, anything else as JSON.
std::string text_of(const Json& value);
// The state that a JSON merge patch makes of `before`, if it fits.
Result<std::string> patched_state(const std::optional<StateSpec>& spec, const std::string& before,
                                  const Json& patch);

// Whether it has taken over, or is to.
bool has_primary_child(const RunState& state, const Instance& instance);

}  // namespace pawl
