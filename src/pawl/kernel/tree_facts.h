// Facts about the tree of instances, of runs whose charters have nodes: a part of events.h and of
// decisions.h, with the lists of which they are declared there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/kernel/node_spec.h"
#include "pawl/words.h"

namespace pawl {

// --- Events --------------------------------------------------------------------------------------

struct SuspendedInstance {
  InstanceId instance = kRootInstance;
  std::string suspend_id;
  std::string reason;
  std::string metadata;  // JSON; may be empty

  PAWL_FACT(SuspendedInstance, "suspended_instance",
            PAWL_FIELD(instance) PAWL_FIELD(suspend_id) PAWL_FIELD(reason) PAWL_FIELD(metadata));
};

// What an owner outside has made of the state of an instance, whole.
struct StateSet {
  InstanceId instance = kRootInstance;
  Content state;  // JSON
  std::string by;
  std::string pack = {};  // whose state; empty: the instance's own

  PAWL_FACT(StateSet, "state_set",
            PAWL_FIELD(instance) PAWL_FIELD(state) PAWL_FIELD(by) PAWL_FIELD(pack));
};

// --- Decisions -----------------------------------------------------------------------------------

// A call of a tool of the kernel's own, which has done what it was asked for: the text is its
// result.
struct CallAnswered {
  InstanceId instance = kRootInstance;
  CallId call{};
  std::uint32_t index = 0;
  std::string text = {};
  std::uint64_t fingerprint = 0;  // of tool and input
  std::uint64_t tokens = 0;       // of the text, by estimate

  PAWL_FACT(CallAnswered, "call_answered",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(index) PAWL_FIELD(text)
                PAWL_FIELD(fingerprint) PAWL_FIELD(tokens));
};

// How an instance leaves what it does, once the calls of its reply have ended.
enum class LeaveKind : std::uint8_t { transition, cede, suspend };
std::string_view name(LeaveKind value);
template <>
inline constexpr std::uint8_t kCount<LeaveKind> = 3;

enum class LeaveBy : std::uint8_t { reply, command };
std::string_view name(LeaveBy value);
template <>
inline constexpr std::uint8_t kCount<LeaveBy> = 2;

struct Leave {
  LeaveKind kind = LeaveKind::transition;
  std::string name = {};            // transition: of the entry; suspend: the reason
  Content words = {};               // transition: the message; cede: the content; suspend: JSON
  std::string state = {};           // transition: JSON, of the next node; empty: it has none
  std::optional<CallId> call = {};  // suspend: which gets the answer as its result
  LeaveBy by = LeaveBy::reply;
  std::string suspend_id = {};  // suspend by a command; empty: the call's

  PAWL_FACT(Leave, "leave",
            PAWL_FIELD(kind) PAWL_FIELD(name) PAWL_FIELD(words) PAWL_FIELD(state) PAWL_FIELD(call)
                PAWL_FIELD(by) PAWL_FIELD(suspend_id));
};

struct LeavePlanned {
  InstanceId instance = kRootInstance;
  Leave leave;

  PAWL_FACT(LeavePlanned, "leave_planned", PAWL_FIELD(instance) PAWL_FIELD(leave));
};

// The instance is in this node from now on. Its conversation goes on (keep), or begins with
// `opening` (fresh) or with the summary that the event brings (summary).
struct NodeEntered {
  InstanceId instance = kRootInstance;
  std::string next = {};  // the entry that led here; empty: it begins here
  std::string node = {};
  NextContext context = NextContext::keep;
  std::string state = {};  // JSON; empty: it has none
  Content opening = {};
  std::uint64_t context_tokens = 0;  // of its next request, by estimate
  std::uint64_t tokens = 0;          // of what it begins with

  PAWL_FACT(NodeEntered, "node_entered",
            PAWL_FIELD(instance) PAWL_FIELD(next) PAWL_FIELD(node) PAWL_FIELD(context)
                PAWL_FIELD(state) PAWL_FIELD(opening) PAWL_FIELD(context_tokens)
                    PAWL_FIELD(tokens));
};

// What a patch or its owner has made of a state.
struct StateChanged {
  InstanceId instance = kRootInstance;
  std::string pack = {};  // whose state; empty: the instance's own
  std::string state = {};

  PAWL_FACT(StateChanged, "state_changed", PAWL_FIELD(instance) PAWL_FIELD(pack) PAWL_FIELD(state));
};

// A patch of a state whose owner is outside.
struct StateProposed {
  InstanceId instance = kRootInstance;
  std::uint64_t proposal = 0;
  std::string patch = {};
  std::string pack = {};

  PAWL_FACT(StateProposed, "state_proposed",
            PAWL_FIELD(instance) PAWL_FIELD(proposal) PAWL_FIELD(patch) PAWL_FIELD(pack));
};

// It was made against a state that has changed since.
struct StateConflict {
  InstanceId instance = kRootInstance;
  std::uint64_t proposal = 0;

  PAWL_FACT(StateConflict, "state_conflict", PAWL_FIELD(instance) PAWL_FIELD(proposal));
};

// A child of a node: a worker acts beside its parent, a primary child in its place.
struct ChildBorn {
  InstanceId instance = kRootInstance;
  InstanceId parent = kRootInstance;
  std::string child = {};  // its name in the parent's node
  std::string node = {};
  NodeKind kind = NodeKind::primary;
  std::optional<Content> input = {};  // nullopt: what its parent was told
  std::string state = {};
  std::uint64_t tokens = 0;  // of its input, by estimate
  std::uint64_t context_tokens = 0;

  PAWL_FACT(ChildBorn, "child_born",
            PAWL_FIELD(instance) PAWL_FIELD(parent) PAWL_FIELD(child) PAWL_FIELD(node)
                PAWL_FIELD(kind) PAWL_FIELD(input) PAWL_FIELD(state) PAWL_FIELD(tokens)
                    PAWL_FIELD(context_tokens));
};

// A child that starts with its parent's node waits for room.
struct BirthPutOff {
  InstanceId parent = kRootInstance;
  std::string child = {};

  PAWL_FACT(BirthPutOff, "birth_put_off", PAWL_FIELD(parent) PAWL_FIELD(child));
};

enum class EndedHow : std::uint8_t { ceded, failed, stopped, cancelled };
std::string_view name(EndedHow value);
template <>
inline constexpr std::uint8_t kCount<EndedHow> = 4;

// The instance leaves the tree. Unless it was cancelled, `text` and `content` reach its parent
// with the parent's next step.
struct InstanceEnded {
  InstanceId instance = kRootInstance;
  EndedHow how = EndedHow::ceded;
  std::string text = {};  // names the sender
  Content content = {};
  std::uint64_t tokens = 0;  // of both, by estimate

  PAWL_FACT(InstanceEnded, "instance_ended",
            PAWL_FIELD(instance) PAWL_FIELD(how) PAWL_FIELD(text) PAWL_FIELD(content)
                PAWL_FIELD(tokens));
};

// What children have handed to it joins its conversation, in the order of their numbers.
struct ContentsDelivered {
  InstanceId instance = kRootInstance;
  std::uint32_t count = 0;

  PAWL_FACT(ContentsDelivered, "contents_delivered", PAWL_FIELD(instance) PAWL_FIELD(count));
};

// The root has failed, and the run goes on until its workers have ended.
struct RootFailed {
  RunStatus status = RunStatus::failed;
  StopReason reason = StopReason::end_turn;
  std::string detail;

  PAWL_FACT(RootFailed, "root_failed", PAWL_FIELD(status) PAWL_FIELD(reason) PAWL_FIELD(detail));
};

// A message takes the place of one with its key that was still waiting; the text says how many
// there have been.
struct MessageReplaced {
  InstanceId instance = kRootInstance;
  std::uint64_t seq = 0;  // the record of the one that is gone
  std::uint64_t count = 0;
  std::string text = {};

  PAWL_FACT(MessageReplaced, "message_replaced",
            PAWL_FIELD(instance) PAWL_FIELD(seq) PAWL_FIELD(count) PAWL_FIELD(text));
};

// The run's output is final, and its workers go on.
struct OutputReady {
  PAWL_FACT(OutputReady, "output_ready");
};

}  // namespace pawl
