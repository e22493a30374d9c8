// The people around simulated runs: they look after what waits for them, and decide about calls,
// mostly rightly. Each of their mistakes is one that was made before.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "pawl/gate/approvals/approvals.h"
#include "pawl/store.h"
#include "pawl/testing/sim/world/world.h"

namespace pawl::sim {

class People {
 public:
  using Post = std::function<void(const RunId&, const Event&)>;

  People(World& world, Post post) : world_(world), post_(std::move(post)) {}

  // What they do for a run that waits: the truth about calls in doubt, resumes, turns, money.
  void help(const RunId& id, const RunState& state);
  // What comes to their minds about a run with nodes: a message, a command, a state.
  Event whim(const RunState& state);
  // What they decide about the calls that are put before them.
  void decide(const RunId& id, const RunState& state, JournalReader& reader);
  // Somebody wanted to, and the question could not be read.
  bool cannot_read(const RunId& id) const { return unreadable_.contains(id.text); }

 private:
  void resolve(const RunId& id, const RunState& state, const Call& call);
  void answer(const RunId& id, const RunState& state, const PendingApproval& asked);
  void err(const RunId& id, const RunState& state, const PendingApproval& asked);
  MessageReceived message_to(InstanceId instance);
  CommandGiven command_to(InstanceId instance);
  Decided decision_on(const PendingApproval& asked);
  Decided edit_of(const PendingApproval& asked);
  void send(const RunId& id, const RunState& state, CallId call, Decided decided);
  void send_late(const RunId& id, const RunState& state, CallId call, Decided decided);

  World& world_;
  Post post_;
  std::set<std::string> unreadable_;  // runs
};

}  // namespace pawl::sim
