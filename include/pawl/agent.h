// An agent as a host puts it together, the circumstances of its runs, and the host's
// callbacks around agents, models and tools.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/content.h"
#include "pawl/executor.h"
#include "pawl/ids.h"
#include "pawl/json.h"
#include "pawl/limits.h"
#include "pawl/tool.h"

namespace pawl {

// --- The circumstances of one run, as its host sees them. Tools and callbacks read it.

// Objects that a host lends to a run. They live in the host: the journal keeps the name, and a host
// that takes the run up registers the same services under it.
struct InvocationServices {
  std::shared_ptr<SessionService> session;
  std::shared_ptr<MemoryService> memory;
  std::shared_ptr<ArtifactService> artifacts;
  std::string name = "default";
};
using ServiceRegistry = std::map<std::string, InvocationServices>;  // by name

struct PriorMessage {
  Speaker speaker = Speaker::user;
  std::string text;
};

// Immutable but for the tally, which the runner keeps up to date. Thread-safe.
class InvocationContext {
 public:
  const std::string& tenant() const { return tenant_; }
  const std::string& identity() const { return identity_; }
  // Who started the run: the identity, unless somebody started it on another's behalf.
  const std::string& started_by() const { return started_by_.empty() ? identity_ : started_by_; }
  const std::string& session_id() const { return session_id_; }
  const std::string& trace_parent() const { return trace_parent_; }
  const InvocationServices& services() const { return services_; }
  const std::optional<Limits>& resource_limits() const { return limits_; }
  const std::vector<PriorMessage>& history() const { return history_; }
  const std::map<std::string, std::string>& variables() const { return variables_; }
  OnBehalf on_behalf() const { return {tenant_, identity_, session_id_, trace_parent_}; }

  Tally tally() const {
    const std::lock_guard lock(mutex_);
    return tally_;
  }
  void update_tally(const Tally& tally) const {
    const std::lock_guard lock(mutex_);
    tally_ = tally;
  }

 private:
  friend class InvocationContextBuilder;
  InvocationContext() = default;
  // The circumstances without the tally, which is one run's.
  std::shared_ptr<InvocationContext> copy() const {
    std::shared_ptr<InvocationContext> made(new InvocationContext());
    made->tenant_ = tenant_;
    made->identity_ = identity_;
    made->started_by_ = started_by_;
    made->session_id_ = session_id_;
    made->trace_parent_ = trace_parent_;
    made->services_ = services_;
    made->limits_ = limits_;
    made->history_ = history_;
    made->variables_ = variables_;
    return made;
  }

  std::string tenant_ = "default";
  std::string identity_ = "local";
  std::string started_by_;
  std::string session_id_;
  std::string trace_parent_;
  InvocationServices services_;
  std::optional<Limits> limits_;
  std::vector<PriorMessage> history_;
  std::map<std::string, std::string> variables_;
  mutable std::mutex mutex_;
  mutable Tally tally_;
};

class InvocationContextBuilder {
 public:
  InvocationContextBuilder() : context_(new InvocationContext()) {}

  InvocationContextBuilder& tenant(std::string value) {
    context_->tenant_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& identity(std::string value) {
    context_->identity_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& started_by(std::string value) {
    context_->started_by_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& session_id(std::string value) {
    context_->session_id_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& trace_parent(std::string value) {
    context_->trace_parent_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& services(InvocationServices value) {
    context_->services_ = std::move(value);
    return *this;
  }
  // Replaces the limits of the charter.
  InvocationContextBuilder& resource_limits(const Limits& value) {
    context_->limits_ = value;
    return *this;
  }
  InvocationContextBuilder& history(std::vector<PriorMessage> value) {
    context_->history_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& variable(std::string key, std::string value) {
    context_->variables_[std::move(key)] = std::move(value);
    return *this;
  }
  // As often as wanted: each context has a tally of its own.
  std::shared_ptr<const InvocationContext> build() const { return context_->copy(); }

 private:
  std::shared_ptr<InvocationContext> context_;
};

// --- Hooks of the host around agents, models and tools. Each gets a read-only context and answers
// proceed, replace or stop; the answer reaches the kernel as an event.
//
// Order: before_agent once when a run begins, before_model and after_model around every model call,
// before_tool and after_tool around every tool call, after_agent once when the run ends. Callbacks
// of one point run in the order they were added, until one does not proceed. All run on the loop
// thread. One that throws is reported (hook_failed) and counts as proceed; except that a throwing
// before_tool denies its call. A stop after a model call or a tool call keeps the outcome: reply
// and usage, or result, are recorded with it, and nothing that the reply asked for is started.

struct AgentCallbackContext {
  const RunId& run;
  const std::shared_ptr<const InvocationContext>& invocation;
  const Tally& tally;
  const std::string& output;  // after_agent: what the run says; before_agent: its input
};

struct ModelCallbackContext {
  const RunId& run;
  InstanceId instance;
  std::uint64_t step;
  const std::shared_ptr<const InvocationContext>& invocation;
  const Tally& tally;
  const PhaseExecutionRequest& request;
  const std::string* reply_text;  // after_model only; otherwise null
};

struct ToolCallbackContext {
  const RunId& run;
  InstanceId instance;
  CallId call;
  const std::shared_ptr<const InvocationContext>& invocation;
  const Tally& tally;
  const std::string& tool;
  const std::string& input;
  const ToolOutcome* outcome;  // after_tool only; otherwise null
};

struct CallbackResult {
  HookVerdict verdict = HookVerdict::proceed;
  std::string replacement;  // replace: the output, the reply's text or the tool's result
  std::string reason;       // stop

  static CallbackResult proceed() { return {}; }
  static CallbackResult replace(std::string text) {
    return {HookVerdict::replace, std::move(text), {}};
  }
  static CallbackResult stop(std::string why) { return {HookVerdict::stop, {}, std::move(why)}; }
};
using AgentCallbackResult = CallbackResult;
using ModelCallbackResult = CallbackResult;
using ToolCallbackResult = CallbackResult;

using AgentCallback = std::function<AgentCallbackResult(const AgentCallbackContext&)>;
using ModelCallback = std::function<ModelCallbackResult(const ModelCallbackContext&)>;
using ToolCallback = std::function<ToolCallbackResult(const ToolCallbackContext&)>;

struct CallbackRegistry {
  std::vector<AgentCallback> before_agent;
  std::vector<AgentCallback> after_agent;
  std::vector<ModelCallback> before_model;
  std::vector<ModelCallback> after_model;
  std::vector<ToolCallback> before_tool;
  std::vector<ToolCallback> after_tool;

  bool watches_agents() const { return !before_agent.empty(); }
};

// What a list of callbacks said, and which of them threw.
struct HookAnswer {
  CallbackResult result;
  std::vector<std::string> thrown;  // messages
};

template <class Context>
HookAnswer ask(const std::vector<std::function<CallbackResult(const Context&)>>& callbacks,
               const Context& context) {
  HookAnswer answer;
  for (const auto& callback : callbacks) {
    try {
      answer.result = callback(context);
    } catch (const std::exception& thrown) {
      answer.thrown.emplace_back(thrown.what());
    } catch (...) {  // A host may throw anything; the run survives it.
      answer.thrown.emplace_back("an exception that is no std::exception");
    }
    if (answer.result.verdict != HookVerdict::proceed) break;
  }
  return answer;
}

// --- Commands that a host has a function for: what `do` says in a charter.

// The actions of a command, in order; all of them are done, or none.
class CommandActions {
 public:
  CommandActions& patch(Json patch) { return add("patch", std::move(patch)); }
  CommandActions& transition(std::string name) { return add("transition", Json(std::move(name))); }
  CommandActions& spawn(std::string worker, Json input, std::optional<Json> state = {});
  CommandActions& cede(Json content) { return add("cede", std::move(content)); }
  CommandActions& suspend(std::string reason, std::optional<Json> metadata = {});
  // Without an id: whatever it is suspended as.
  CommandActions& resume(std::optional<std::string> suspend_id = {});
  CommandActions& message(std::string text) { return add("message", Json(std::move(text))); }

  // As JSON, the way `do` of a charter has them.
  std::string text() const { return write_json(Json(list_)); }

 private:
  CommandActions& add(std::string key, Json value);

  JsonArray list_;
};

// Pure: of the state of the instance and the input alone. It may be called more than once.
using CommandFunction = std::function<CommandActions(const Json& state, const Json& input)>;

struct HostCommand {
  std::string node;  // empty: any
  std::string name;
  CommandFunction function;
};

// nullptr: there is none.
const CommandFunction* find_function(const std::vector<HostCommand>& commands,
                                     std::string_view node, std::string_view name);

class CallGate;
struct PreparedAgent;
struct Processors;

// The declaration. docs/charter.md says more of each field: they are the keys of a charter file.
struct AgentCharter {
  std::string name;
  std::string instructions;  // {{name}} stands for a variable
  std::string model;         // the executor's name for it; empty: the first that it lists
  SamplingOptions sampling;
  std::string output_schema;  // JSON Schema that the answer must fit; empty: any text
  CompactionPolicy compaction;
  Limits limits;
  Guards guards;
  RetryPolicy retry;
  std::map<std::string, std::string> variables;  // defaults
  std::string directory;                         // relative paths start here
  Approvers approvers = Approvers::anyone;
  std::vector<Signer> signers;  // whose approvals count
};

struct RunnableAgent {
  AgentCharter charter;
  std::shared_ptr<Executor> executor;
  std::vector<std::shared_ptr<Tool>> tools;
  std::vector<SubagentSpec> subagents = {};        // of an executor that starts subagents itself
  std::shared_ptr<Compactor> compactor = nullptr;  // null: the model itself
  std::shared_ptr<CallGate> gate = nullptr;        // see Runner::guard(); null: every call is run
  std::shared_ptr<const Processors> processors = nullptr;  // see use_processors(); null: none
  // Called when the run is not driven here any more.
  std::function<void(const RunId&)> release = {};
  // Functions for commands of the charter that have no `do`.
  std::vector<HostCommand> commands = {};
  // The nodes that MachineBuilder has made; null: the charter's instructions are all there is.
  std::shared_ptr<const PreparedAgent> machine = nullptr;
};

}  // namespace pawl
