// The front door: from an agent to a finished run. With zero ports a runner keeps everything
// in memory and stays within the default bounds.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/agent.h"
#include "pawl/content.h"
#include "pawl/events.h"
#include "pawl/ids.h"
#include "pawl/json.h"
#include "pawl/loop.h"
#include "pawl/permissions.h"
#include "pawl/processor.h"
#include "pawl/store.h"
#include "pawl/tool.h"
#include "pawl/words.h"

namespace pawl {

// --- One step of a run, for hosts that iterate: see Runner::steps().

// An instance of the run's tree, as it was after the step.
struct InstanceInfo {
  InstanceId id = kRootInstance;
  InstanceId parent = kRootInstance;  // the root is its own parent
  std::string node;
  std::string name;         // in its parent's node; may be empty
  std::string_view phase;   // "ready", "awaiting_tools", …: the glossary of ARCHITECTURE.md
  std::uint32_t depth = 0;  // ancestors
};

struct SuspendedInstanceInfo {
  InstanceId instance = kRootInstance;
  std::string suspend_id;
  std::string reason;
  std::string metadata;  // JSON; may be empty
};

struct MachineStep {
  std::uint64_t number = 0;
  InstanceId instance_id = kRootInstance;
  std::vector<InstanceInfo> instance;  // the tree after this step, the root first
  std::vector<Message> history;        // what this step added to the transcript of its instance
  YieldReason yield_reason = YieldReason::end_turn;
  bool done = false;  // nothing follows: the run is over, or it waits
  std::optional<std::string> cede_content;
  std::vector<SuspendedInstanceInfo> suspended_instances;
};

}  // namespace pawl

namespace boost::asio {
class io_context;
}

namespace pawl {

struct Script;

// What a host may fill. Everything is optional.
struct Ports {
  std::shared_ptr<Loop> loop;         // absent: its own, run on the thread that calls run()
  Store store;                        // absent: what `open_store` opens, or in memory
  std::shared_ptr<void> store_owner;  // kept alive as long as the runner
  CallbackRegistry callbacks;
  RunEventSink events;
  PermissionPort permissions = {};  // who answers for calls that wait; absent: runs wait
  // What resume() lends again to runs that were started with services of these names.
  ServiceRegistry services = {};
  // Opens the store on the runner's loop, e.g. sqlite_store(). What it cannot open is the error of
  // every run.
  StoreOpener open_store = {};
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

  // Control of a run that this runner drives, from any callback on the loop. A cancelled run is
  // over when nothing of it is under way any more; a paused one waits until resume().
  Status cancel(const RunId& run, std::string by, std::string reason);
  Status pause(const RunId& run, std::string by);
  // A message to the run's acting instance, for its next step. `done` on the loop thread, when the
  // message is durable; conflict: the run is over.
  void send(const RunId& run, std::string text, std::string from, std::function<void(Status)> done);

  // An ephemeral message: the next model call of the instance reads it at the end of its request,
  // and it is written down nowhere. Of a run that this runner drives, from a callback on the loop.
  // nullopt: for the primary instance that acts.
  Status whisper(const RunId& run, std::string text, std::optional<InstanceId> instance = {});
  // A command of a run that this runner or nobody drives: decided when it returns, and nothing that
  // follows is started for a run that nobody drives; see CommandFunction. conflict: refused.
  // invalid_argument: `input` is no JSON. nullopt: for the primary instance that acts.
  Status command(const RunId& run, std::string name, std::string input = "{}",
                 std::optional<InstanceId> instance = {});

  // Calls of a run that wait for somebody, and answers to them, for a host that lets runs wait:
  // resume() takes the run up afterwards. Not on a loop of the host's: see PermissionPort.
  pawl::Result<std::vector<PendingApproval>> approvals(const RunId& run);
  Status decide(const RunId& run, CallId call, Decided decided);
  Status approve(const RunId& run, CallId call, std::string by);
  Status deny(const RunId& run, CallId call, std::string by, std::string reason);
  Status answer(const RunId& run, CallId call, std::string by, std::string text);

  // Puts the permission pipeline before the agent's tools: see permissions.h.
  Status guard(RunnableAgent& agent, GatePolicy policy);

  // Makes what an agent consists of. A tool that is declared wrongly is null, and a run with it
  // fails with the reason.
  std::shared_ptr<Tool> tool(NativeTool native);
  std::shared_ptr<Executor> scripted(Script script);

  Loop& loop();
  // The loop for connections: null on a loop of the host's that has none.
  SocketLoop* sockets();
  // Where this runner keeps its runs: the host's store, or the one in memory.
  Store store();

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

// --- Puts guards before an agent: a policy for its calls, processors for its texts.

// Puts the pipeline before the agent's tools. `known` says more of a tool than its name: trust,
// needs, risk. invalid_argument: a rule or policy that is none; then the agent has no tools left.
Status guard(RunnableAgent& agent, GatePolicy policy, Loop& loop,
             std::map<std::string, GatedTool> known = {});

// limit_exceeded: more than kProcessorsMax.
Status use_processors(RunnableAgent& agent, std::vector<ProcessorEntry> input,
                      std::vector<ProcessorEntry> output);

// --- A typed answer: the model is asked for JSON that fits a schema, as often as the bounds allow,
// and the caller gets a value or an error that says why there is none.

// struct Verdict {
//   static std::string json_schema();                    // the text of a JSON Schema
//   static Result<Verdict> from_json(const Json& json);  // of what fits it
// };
template <class T>
concept Generated = requires(const Json& json) {
  { T::json_schema() } -> std::convertible_to<std::string>;
  { T::from_json(json) } -> std::same_as<Result<T>>;
};

template <Generated T>
Result<T> generate_with(Runner& runner, RunnableAgent agent, std::string input,
                        std::shared_ptr<const InvocationContext> context = nullptr) {
  agent.charter.output_schema = T::json_schema();
  const Runner::Result result = runner.run(agent, std::move(input), std::move(context));
  if (result.status != RunStatus::done) {
    return Error{ErrorCode::unavailable,
                 "run " + result.run_id.text + " gave no answer: " +
                     (result.error.empty() ? result.stop_reason : result.error)};
  }
  PAWL_TRY(const Json json, parse_json(result.output));
  return T::from_json(json);
}

}  // namespace pawl
