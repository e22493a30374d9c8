// The library's front door: from an agent to a finished run. With zero ports it keeps everything in
// memory and stays within the default bounds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/journal/run_event.h"
#include "pawl/library/permissions.h"
#include "pawl/port/services.h"
#include "pawl/port/sockets.h"
#include "pawl/port/store.h"
#include "pawl/run/agent/agent.h"
#include "pawl/run/agent/callbacks.h"
#include "pawl/run/agent/invocation.h"
#include "pawl/run/agent/machine_step.h"
#include "pawl/tools/native_tool.h"

namespace boost::asio {
class io_context;
}

namespace pawl {

class Engine;
struct Script;

// What a host may fill. Everything is optional.
struct Ports {
  std::shared_ptr<Loop> loop;         // absent: its own, run on the thread that calls run()
  Store store;                        // absent: in memory
  std::shared_ptr<void> store_owner;  // kept alive as long as the runner
  CallbackRegistry callbacks;
  RunEventSink events;
  PermissionPort permissions = {};  // who answers for calls that wait; absent: runs wait
  // What resume() lends again to runs that were started with services of these names.
  ServiceRegistry services = {};
};

class Runner {
 public:
  // What became of a run. `error` is empty when it is done.
  struct Result {
    RunId run_id;
    std::string output;
    std::uint64_t steps = 0;
    Usage usage;
    std::string error;
    RunStatus status = RunStatus::queued;
    std::string stop_reason;
  };
  using Finished = std::function<void(Result)>;

  explicit Runner(Ports ports = {});
  // On the host's own Asio loop: only start() and resume() are for it then.
  explicit Runner(boost::asio::io_context& host, Ports ports = {});
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;

  // Blocks the calling thread until the run is over or waits. One thread at a time, and not from a
  // callback of this runner: there start() is the way, and run() answers with an error.
  Result run(const RunnableAgent& agent, std::string input,
             std::shared_ptr<const InvocationContext> context = nullptr);
  // Calls back on the loop. What `finished` throws comes out of whoever runs the loop.
  void start(const RunnableAgent& agent, std::string input, Finished finished,
             std::shared_ptr<const InvocationContext> context = nullptr);
  // Takes up a run of the store that nobody drives, with the agent it belongs to. A paused one goes
  // on.
  Result resume(const RunnableAgent& agent, const RunId& run);
  void resume(const RunnableAgent& agent, const RunId& run, Finished finished);

  // `for (const MachineStep& step : runner.steps(agent, input))`: the run goes on while the caller
  // asks for more.
  class Steps;
  Steps steps(const RunnableAgent& agent, std::string input,
              std::shared_ptr<const InvocationContext> context = nullptr);

  // Control of a run that this runner drives: events of the kernel, from any callback on the loop.
  Status feed(const RunId& run, Event event);

  // Calls of a run that wait for somebody, and answers to them, for a host that lets runs wait:
  // resume() takes the run up afterwards. Not on a loop of the host's: see PermissionPort.
  pawl::Result<std::vector<PendingApproval>> approvals(const RunId& run);
  Status decide(const RunId& run, CallId call, Decided decided);
  Status approve(const RunId& run, CallId call, std::string by);
  Status deny(const RunId& run, CallId call, std::string by, std::string reason);
  Status answer(const RunId& run, CallId call, std::string by, std::string text);

  // An ephemeral message: the next model call of the instance reads it at the end of its request,
  // and it is written down nowhere. Of a run that this runner drives, from a callback on the loop.
  // nullopt: for the primary instance that acts.
  Status whisper(const RunId& run, std::string text, std::optional<InstanceId> instance = {});
  // A command of a run that this runner or nobody drives: decided when it returns, and nothing that
  // follows is started for a run that nobody drives; see CommandFunction. conflict: refused.
  // invalid_argument: `input` is no JSON. nullopt: for the primary instance that acts.
  Status command(const RunId& run, std::string name, std::string input = "{}",
                 std::optional<InstanceId> instance = {});

  // Puts the permission pipeline before the agent's tools: see permissions.h.
  Status guard(RunnableAgent& agent, GatePolicy policy);

  // Makes what an agent consists of. A tool that is declared wrongly is null, and a run with it
  // fails with the reason.
  std::shared_ptr<Tool> tool(NativeTool native);
  std::shared_ptr<Executor> scripted(Script script);

  Loop& loop();
  // The loop for connections: null on a loop of the host's that has none.
  SocketLoop* sockets();
  Engine& engine();  // for hosts that include pawl/engine/engine.h

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

class Runner::Steps {
 public:
  Steps(Parts& parts, RunId run);
  ~Steps();
  Steps(Steps&&) noexcept;

  // The next step, or nullopt after the last.
  std::optional<MachineStep> next();
  // What became of the run, when there are no more steps; before that only its id.
  const Result& result() const;

  class Iterator {
   public:
    Iterator() = default;
    explicit Iterator(Steps* steps) : steps_(steps) { ++*this; }
    const MachineStep& operator*() const { return *step_; }
    const MachineStep* operator->() const { return &*step_; }
    Iterator& operator++() {
      step_ = steps_->next();
      return *this;
    }
    bool operator==(const Iterator&) const { return !step_.has_value(); }

   private:
    Steps* steps_ = nullptr;
    std::optional<MachineStep> step_;
  };
  Iterator begin() { return Iterator(this); }
  Iterator end() { return {}; }

 private:
  friend class Runner;
  struct Feed;
  std::shared_ptr<Feed> feed_;
};

}  // namespace pawl
