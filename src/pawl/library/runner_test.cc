#include "pawl/runner.h"

#include <doctest/doctest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <stdexcept>

#include "pawl/journal/record_view.h"
#include "pawl/pawl.h"

namespace pawl {
namespace {

ToolSpec spec_of(std::string name, EffectClass effect = EffectClass::pure) {
  ToolSpec spec;
  spec.name = std::move(name);
  spec.effect = effect;
  return spec;
}

RunnableAgent agent_of(Runner& runner, std::vector<ScriptReply> replies) {
  RunnableAgent agent;
  agent.charter.name = "test";
  agent.charter.instructions = "Do as the script says.";
  Script script;
  script.replies = std::move(replies);
  agent.executor = runner.scripted(std::move(script));
  return agent;
}

TEST_CASE("a run with no ports is done in memory and says what the model said") {
  Runner runner;
  const RunnableAgent agent = agent_of(runner, {ScriptReply::say("Hello, agentic world!")});

  const Runner::Result result = runner.run(agent, "Hi");

  CHECK(result.error.empty());
  CHECK(result.output == "Hello, agentic world!");
  CHECK(result.steps == 1);
  CHECK(result.status == RunStatus::done);
  CHECK(result.usage.output_tokens > 0);
}

TEST_CASE("a runner without a store keeps the last runs that are over, not all") {
  Runner runner;
  std::vector<RunId> ids;
  for (int i = 0; i < 100; ++i) {
    const RunnableAgent agent = agent_of(runner, {ScriptReply::say("Hello")});
    const Runner::Result result = runner.run(agent, "Hi");
    REQUIRE(result.output == "Hello");
    ids.push_back(result.run_id);
  }

  const auto kept = runner.store().catalog->list({"", "", "", 1000});
  CHECK(kept->size() == 64);
  CHECK(kept->front().id == ids.back());
}

TEST_CASE("a native tool gets its input and a stable key, and the model its result") {
  Runner runner;
  std::string seen_input;
  std::string seen_key;
  RunnableAgent agent =
      agent_of(runner, {ScriptReply::call("add", R"({"a":1})"), ScriptReply::say("It is two.")});
  agent.tools.push_back(runner.tool({spec_of("add"),
                                     [&](const ToolInvocation& invocation) {
                                       seen_input = invocation.input;
                                       seen_key = invocation.key;
                                       return std::string("2");
                                     },
                                     {}}));

  const Runner::Result result = runner.run(agent, "1 + 1?");

  CHECK(result.output == "It is two.");
  CHECK(result.steps == 2);
  CHECK(seen_input == R"({"a":1})");
  CHECK(seen_key.size() == 64);
}

TEST_CASE("a tool that throws is an error the model sees, not the end of the process") {
  Runner runner;
  RunnableAgent agent =
      agent_of(runner, {ScriptReply::call("boom"), ScriptReply::say("It broke.")});
  agent.tools.push_back(runner.tool(
      {spec_of("boom"),
       [](const ToolInvocation&) -> pawl::Result<std::string> { throw std::runtime_error("bang"); },
       {}}));

  std::vector<Message> seen;
  for (const MachineStep& step : runner.steps(agent, "go")) {
    for (const Message& message : step.history) seen.push_back(message);
  }

  REQUIRE(seen.size() == 4);
  CHECK(seen[2].role == Role::tool);
  CHECK(seen[2].outcome == Message::Outcome::error);
  CHECK(seen[2].text == Content("the tool threw: bang"));
}

TEST_CASE("iteration gives one step per model call, the last one done") {
  Runner runner;
  RunnableAgent agent = agent_of(
      runner,
      {ScriptReply::call("t"), ScriptReply::call("t", R"({"x":2})"), ScriptReply::say("end")});
  agent.tools.push_back(
      runner.tool({spec_of("t"), [](const ToolInvocation&) { return std::string("r"); }, {}}));

  std::vector<YieldReason> yields;
  std::vector<bool> done;
  for (const MachineStep& step : runner.steps(agent, "go")) {
    yields.push_back(step.yield_reason);
    done.push_back(step.done);
  }

  CHECK(yields == std::vector{YieldReason::tool_use, YieldReason::tool_use, YieldReason::end_turn});
  CHECK(done == std::vector{false, false, true});
}

TEST_CASE("callbacks fire in order, once per event, and their answers reach the kernel") {
  std::vector<std::string> order;
  Ports ports;
  const auto note = [&order](std::string what) {
    return [&order, what](const auto&) {
      order.push_back(what);
      return CallbackResult::proceed();
    };
  };
  ports.callbacks.before_agent.emplace_back(note("before_agent"));
  ports.callbacks.after_agent.emplace_back(note("after_agent"));
  ports.callbacks.before_model.emplace_back(note("before_model"));
  ports.callbacks.after_model.emplace_back(note("after_model"));
  ports.callbacks.before_tool.emplace_back(note("before_tool"));
  ports.callbacks.after_tool.emplace_back(note("after_tool"));
  Runner runner(std::move(ports));
  RunnableAgent agent = agent_of(runner, {ScriptReply::call("t"), ScriptReply::say("end")});
  agent.tools.push_back(
      runner.tool({spec_of("t"), [](const ToolInvocation&) { return std::string("r"); }, {}}));

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.error.empty());
  CHECK(order == std::vector<std::string>{"before_agent", "before_model", "after_model",
                                          "before_tool", "after_tool", "before_model",
                                          "after_model", "after_agent"});
}

TEST_CASE("a throwing before_tool denies the call and the tool is not run") {
  std::atomic<int> runs = 0;
  Ports ports;
  ports.callbacks.before_tool.emplace_back(
      [](const ToolCallbackContext&) -> CallbackResult { throw std::runtime_error("no"); });
  Runner runner(std::move(ports));
  RunnableAgent agent = agent_of(runner, {ScriptReply::call("t"), ScriptReply::say("end")});
  agent.tools.push_back(runner.tool({spec_of("t", EffectClass::once),
                                     [&runs](const ToolInvocation&) {
                                       ++runs;
                                       return std::string("r");
                                     },
                                     {}}));

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.status == RunStatus::done);
  CHECK(runs == 0);
}

TEST_CASE("throwing callbacks elsewhere are reported and the run goes on") {
  std::vector<std::string> reported;
  Ports ports;
  const auto bad = [](const auto&) -> CallbackResult { throw std::runtime_error("oops"); };
  ports.callbacks.before_agent.emplace_back(bad);
  ports.callbacks.after_agent.emplace_back(bad);
  ports.callbacks.before_model.emplace_back(bad);
  ports.callbacks.after_model.emplace_back(bad);
  ports.callbacks.after_tool.emplace_back(bad);
  ports.events = [&reported](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view == nullptr) return;
    if (const auto* failed = std::get_if<HookFailed>(&(*view)->record.event)) {
      reported.emplace_back(name(failed->point));
    }
    throw std::runtime_error("a watcher's bug");
  };
  Runner runner(std::move(ports));
  RunnableAgent agent = agent_of(runner, {ScriptReply::call("t"), ScriptReply::say("end")});
  agent.tools.push_back(
      runner.tool({spec_of("t"), [](const ToolInvocation&) { return std::string("r"); }, {}}));

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.status == RunStatus::done);
  CHECK(reported == std::vector<std::string>{"before_agent", "before_model", "after_model",
                                             "after_tool", "before_model", "after_model",
                                             "after_agent"});
}

TEST_CASE("before_model can answer in the model's place, after_agent can replace the output") {
  Ports ports;
  ports.callbacks.before_model.emplace_back(
      [](const ModelCallbackContext&) { return CallbackResult::replace("cached"); });
  ports.callbacks.after_agent.emplace_back([](const AgentCallbackContext& context) {
    return CallbackResult::replace(context.output + "!");
  });
  Runner runner(std::move(ports));
  const RunnableAgent agent = agent_of(runner, {});

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.output == "cached!");
}

TEST_CASE("a callback that says stop stops the run with its name") {
  Ports ports;
  ports.callbacks.after_model.emplace_back(
      [](const ModelCallbackContext&) { return CallbackResult::stop("too rude"); });
  Runner runner(std::move(ports));
  const RunnableAgent agent = agent_of(runner, {ScriptReply::say("x")});

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.status == RunStatus::stopped);
  CHECK(result.error == "stopped: callback (after_model: too rude)");
}

TEST_CASE("an executor that throws fails the run by name") {
  class Throwing : public Executor {
   public:
    const ExecutorCapabilities& capabilities() const override { return capabilities_; }
    std::vector<ExecutorModelDescriptor> list_models() const override { return {}; }
    bool supports(std::string_view) const override { return true; }
    std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest&,
                                             PhaseEventSink) override {
      throw std::runtime_error("no connection");
    }

   private:
    ExecutorCapabilities capabilities_ = scripted_capabilities();
  };
  Runner runner;
  RunnableAgent agent = agent_of(runner, {});
  agent.executor = std::make_shared<Throwing>();
  agent.charter.model = "m";

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.status == RunStatus::failed);
  CHECK(result.error == "failed: kernel_internal (the executor threw: no connection (attempt 1))");
}

TEST_CASE("a store that throws is an error of the run, not the end of the process") {
  struct Throwing : Journal {
    Result<RunLease> acquire(const RunId&) override { return RunLease{1, 0, nullptr}; }
    void append(Append, StatusCallback) override { throw std::runtime_error("disk on fire"); }
    Status quarantine(const RunId&, const std::string&) override { return ok(); }
  };
  Throwing journal;
  Ports ports;
  ports.store.journal = &journal;
  Runner runner(std::move(ports));
  const RunnableAgent agent = agent_of(runner, {ScriptReply::say("x")});

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.error == "the store threw: disk on fire");
}

TEST_CASE("tools and callbacks read the invocation's context and the run's tally") {
  std::string tenant;
  std::uint64_t steps = 0;
  Runner runner;
  RunnableAgent agent = agent_of(runner, {ScriptReply::call("t"), ScriptReply::say("end")});
  agent.tools.push_back(runner.tool({spec_of("t"),
                                     [&](const ToolInvocation& invocation) {
                                       tenant = invocation.context->tenant();
                                       steps = invocation.context->tally().steps;
                                       return std::string("r");
                                     },
                                     {}}));

  const auto context = InvocationContextBuilder().tenant("acme").identity("ann").build();
  const Runner::Result result = runner.run(agent, "go", context);

  CHECK(result.error.empty());
  CHECK(tenant == "acme");
  CHECK(steps == 1);
}

TEST_CASE("a run may begin with a history, and resource limits replace the charter's") {
  Runner runner;
  const RunnableAgent agent = agent_of(runner, {ScriptReply::call("none"), ScriptReply::say("x")});
  Limits limits;
  limits.steps = 1;
  const auto context = InvocationContextBuilder()
                           .history({{Speaker::user, "earlier"}, {Speaker::assistant, "reply"}})
                           .resource_limits(limits)
                           .build();

  std::vector<MachineStep> steps;
  for (const MachineStep& step : runner.steps(agent, "now", context)) steps.push_back(step);

  REQUIRE(steps.size() == 1);
  REQUIRE(steps[0].history.size() == 5);
  CHECK(steps[0].history[0].text == Content("earlier"));
  CHECK(steps[0].history[1].role == Role::assistant);
  CHECK(steps[0].history[2].text == Content("now"));
  CHECK(steps[0].history[4].role == Role::tool);  // The call at the limit is answered, too.
  CHECK(steps[0].done);
}

TEST_CASE("a runner works on the host's own Asio loop") {
  boost::asio::io_context host;
  Runner runner(host);
  const RunnableAgent agent = agent_of(runner, {ScriptReply::say("hello")});
  std::string output;

  runner.start(agent, "Hi", [&](const Runner::Result& result) {
    output = result.output;
    host.stop();
  });
  host.run();

  CHECK(output == "hello");
}

TEST_CASE("an executor with no resume strategy, or with two, is refused") {
  Runner runner;
  RunnableAgent agent = agent_of(runner, {ScriptReply::say("x")});
  Script script;
  script.replies = {ScriptReply::say("x")};
  script.capabilities.supports_session_resume = true;
  script.capabilities.supports_conversation_replay = true;
  agent.executor = runner.scripted(script);

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.error.find("exactly one resume strategy") != std::string::npos);
}

TEST_CASE("suspending shows the reason, resuming needs the right id and goes on") {
  Runner runner;
  ScriptReply suspending = ScriptReply::say("need a break");
  std::get<ScriptSpeech>(suspending.outcome).stop = ReplyStop::suspend;
  std::get<ScriptSpeech>(suspending.outcome).stop_detail = "lunch";
  const RunnableAgent agent = agent_of(runner, {suspending, ScriptReply::say("back")});

  std::vector<MachineStep> steps;
  for (const MachineStep& step : runner.steps(agent, "go")) steps.push_back(step);

  REQUIRE(steps.size() == 2);
  CHECK(steps[0].yield_reason == YieldReason::suspend);
  CHECK(steps[1].yield_reason == YieldReason::awaiting_resume);
  CHECK(steps[1].done);
  REQUIRE(steps[1].suspended_instances.size() == 1);
  CHECK(steps[1].suspended_instances[0].reason == "lunch");
}

}  // namespace
}  // namespace pawl
