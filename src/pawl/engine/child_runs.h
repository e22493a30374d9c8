// Runs that runs of this process have started as their subagents: starts them, finds them again,
// and carries what they and those that started them have to say to each other. What is decided
// about them, their parents decide (kernel/decide_agents.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "pawl/engine/engine.h"
#include "pawl/tool.h"

namespace pawl {

// A run that is driven by another process is looked at this often.
inline constexpr std::int64_t kChildLookMs = 100;

class ChildRuns {
 public:
  explicit ChildRuns(Engine& engine) : engine_(engine) {}
  ~ChildRuns() { *alive_ = false; }
  ChildRuns(const ChildRuns&) = delete;
  ChildRuns& operator=(const ChildRuns&) = delete;

  using AdhocCharters = Engine::AdhocCharters;
  // The tools by which a run with these agents starts them.
  std::vector<std::shared_ptr<Tool>> tools_for(const std::vector<AgentSpec>& agents, Presence adhoc,
                                               const AdhocCharters& charters);

  // Carries what a driven run says to one above or beneath it.
  void carry(const RunId& from, const Effect& effect);

  // A run is driven here from now on.
  void on_driven(const RunId& run);
  // It is not any more. `state` is its last one.
  void on_ended(const RunId& run, const RunState& state, const Status& status);
  // What is on its way from run to run.
  std::size_t under_way() const { return under_way_; }
  // Another process has committed something: runs that wait may have been stirred.
  void look();

 private:
  class AgentTool;
  class Handle;
  struct Waiter {
    RunId parent;
    CallId call{};
    std::function<void(ToolOutcome)> done;
    std::uint64_t number = 0;
    bool cancelled = false;
    std::unique_ptr<Timer> look = {};
  };

  std::unique_ptr<Operation> begin(const ToolInvocation& invocation, AdhocCharters charters,
                                   std::function<void(ToolOutcome)> done);
  void launch(const RunId& child, const std::string& input, const AdhocCharters& charters);
  void start(const RunId& child, const std::string& input, const AdhocCharters& charters);
  void resume(const RunId& child);
  void on_not_taken(const RunId& child, const Error& why);
  void look_later(const RunId& child);
  void forget(const RunId& child, std::uint64_t number);
  void cancel(const RunId& child, const RunId& parent);
  void finish(const RunId& child, ToolOutcome outcome);
  void fail(const RunId& child, const std::string& why);
  void report_end(const RunId& child, const RunState& state);
  void leave_word(const Ancestor& parent, const TreeBooks& books, std::function<void()> left);
  Result<ToolOutcome> outcome_of(const Waiter& waiter, const RunState& state);
  Result<RunState> state_of(const RunId& run);

  void say(const RunId& from, const AskParent& effect);
  void say(const RunId& from, const TellParent& effect);
  void say(const RunId& from, const AnswerChild& effect);
  void say(const RunId& from, const SteerChild& effect);
  // Hands the event to whoever drives the run. `undriven` is called when nobody does.
  void deliver(const RunId& to, Event event, std::function<void()> undriven = {});
  void post(const RunId& to, const Event& event, std::function<void(const Status&)> done);

  Engine& engine_;
  std::map<RunId, Waiter> waiters_;
  std::set<RunId> given_up_;  // by runs that were driven here, until they have ended
  std::uint64_t begun_ = 0;
  std::size_t under_way_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace pawl
