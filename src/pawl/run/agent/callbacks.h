// Hooks of the host around agents, models and tools. Each gets a read-only context and answers
// proceed, replace or stop; the answer reaches the kernel as an event.
//
// Order: before_agent once when a run begins, before_model and after_model around every model call,
// before_tool and after_tool around every tool call, after_agent once when the run ends. Callbacks
// of one point run in the order they were added, until one does not proceed. All run on the loop
// thread. One that throws is reported (hook_failed) and counts as proceed; except that a throwing
// before_tool denies its call. A stop after a model call or a tool call keeps the outcome: reply
// and usage, or result, are recorded with it, and nothing that the reply asked for is started.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/kernel/limits.h"
#include "pawl/port/executor.h"
#include "pawl/port/tool.h"
#include "pawl/run/agent/invocation.h"

namespace pawl {

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

}  // namespace pawl
