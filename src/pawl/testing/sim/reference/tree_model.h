// The tree of instances of one run as the rules of the machine have it (M1 to M15). It is told what
// became durable, and shown what a model is asked; it knows the charter, and nothing of how the
// kernel decides.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pawl/executor.h"
#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl::sim {

class TreeModel {
 public:
  // These say what must not be; or nothing.
  std::string take(const Record& record);
  std::string compare(const RunState& state) const;
  std::string check_request(const PhaseExecutionRequest& request,
                            const std::vector<Message>& messages) const;

 private:
  // What waits for an instance's next step. A content has its sender's number.
  struct Handed {
    std::uint64_t sender = 0;
    std::string text;
    std::size_t place = 0;  // among the decisions of this record; 0: an earlier one
    std::string singleton = {};
    bool silent = false;  // it wakes nobody
  };
  struct Place {
    InstanceId parent = kRootInstance;
    std::string node;
    NodeKind kind = NodeKind::primary;
    bool live = true;
    std::optional<std::string> suspended = {};  // its suspend_id
    bool resumed_at_end = false;                // by what ended the run: it may be suspended still
    std::string state = {};                     // JSON; empty: it has none
    std::vector<Handed> contents = {};
    std::vector<Handed> messages = {};
    std::vector<std::string> told = {};  // marks that its conversation must have, once
    std::optional<std::string> last_text = std::string();  // nullopt: it is not known
    std::optional<Leave> leave = {};
  };
  struct Birth {
    InstanceId parent = kRootInstance;
    std::string child;
    std::optional<std::string> input;
  };
  // A step begins: where, and why it must not.
  struct Step {
    std::size_t place = 0;
    std::string fault = {};
  };
  // What one record has brought so far.
  struct Heard {
    const Record* record = nullptr;
    std::size_t place = 0;  // of the decision that is taken
    std::vector<Birth> births = {};
    std::map<InstanceId, Step> stepped = {};  // those that are about something
    std::vector<std::pair<InstanceId, InstanceId>> cancelled = {};  // with its parent
    std::set<InstanceId> gone = {};                                 // left their node, or the tree
    std::optional<std::string> changed = {};                        // what a state was said to be
    bool proposed = false;
    bool ends = false;
    bool fails = false;
    bool stops = false;                  // or is cancelled, or fails
    std::vector<std::string> done = {};  // parts of a command
  };

  void take_event(const Record& record);
  void take_text(InstanceId id, const std::vector<Block>& blocks);
  void take_message(const MessageReceived& message);
  void begin(const RunStarted& started);
  template <class Other>
  void take(const Other&) {}
  void take(const StepBegan& step);
  void take(const StepEnded& step);
  void take(const ChildBorn& born);
  void take(const InstanceEnded& ended);
  void take(const ContentsDelivered& delivered);
  void take(const MessagesDelivered& delivered);
  void take(const MessageAdded& added);
  void take(const LeavePlanned& planned);
  void take(const NodeEntered& entered);
  void take(const StateChanged& changed);
  void take(const StateProposed&) { heard_.proposed = true; }
  void take(const CallAnswered& answered);
  void take(const InstanceSuspended& suspended);
  void take(const SuspensionLifted& lifted);
  void take(const TranscriptCut& cut) { at(cut.instance).told.clear(); }
  void take(const AnsweredByTool& answered);
  void take(const OutputReady&) { detached_ = true; }
  void take(const RootFailed&) { root_failed_ = true; }
  void take(const EndingBegan& ending);
  void take(const CallModel& call);

  void check_record();
  void check_births();
  void check_cancelled();
  void check_steps();
  void check_command(const CommandGiven& command);
  void check_ceded(const InstanceEnded& ended, Place& place);
  void owe_children(InstanceId parent);
  bool take_birth(InstanceId parent, const std::string& child, const std::string& input);
  const CallBlock* call_at(std::uint32_t index) const;
  const NodeSpec& node_of(const Place& place) const;
  Place& at(InstanceId id);
  std::size_t live() const;
  bool has_live_child(InstanceId parent, std::optional<NodeKind> kind = std::nullopt) const;
  void must(bool holds, const std::string& what);

  std::vector<NodeSpec> nodes_;  // none: there is nothing to watch
  std::uint64_t branches_ = 0;
  std::map<InstanceId, Place> places_;
  std::map<std::pair<InstanceId, std::string>, int> owed_;  // children that start with the node
  std::set<std::uint64_t> commands_;                        // by number
  bool detached_ = false;
  bool root_failed_ = false;
  Heard heard_;
  std::string fault_;
};

}  // namespace pawl::sim
