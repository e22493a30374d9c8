// What hosts do wrong, on threads and loops of their own: they are told, and everything goes on.
#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "pawl/pawl.h"

namespace pawl {
namespace {

RunnableAgent saying(Runner& runner, const std::string& text) {
  RunnableAgent agent;
  agent.charter.name = "saying";
  agent.charter.instructions = "Say it.";
  Script script;
  script.replies = {ScriptReply::say(text)};
  agent.executor = runner.scripted(std::move(script));
  return agent;
}

// An executor of a host's, that throws from one of its methods.
class ThrowingExecutor : public Executor {
 public:
  enum class From : std::uint8_t { list_models, supports, capabilities, mcp_server, execute };
  ThrowingExecutor(std::shared_ptr<Executor> inner, From from)
      : inner_(std::move(inner)), from_(from) {}

  const ExecutorCapabilities& capabilities() const override {
    throw_if(From::capabilities);
    return inner_->capabilities();
  }
  std::vector<ExecutorModelDescriptor> list_models() const override {
    throw_if(From::list_models);
    return inner_->list_models();
  }
  bool supports(std::string_view model) const override {
    throw_if(From::supports);
    return inner_->supports(model);
  }
  std::optional<McpServerConfig> mcp_server() const override {
    throw_if(From::mcp_server);
    return std::nullopt;
  }
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    throw_if(From::execute);
    return inner_->execute_phase(request, std::move(sink));
  }

 private:
  void throw_if(From from) const {
    if (from == from_) throw std::runtime_error("thrown by the host");
  }

  std::shared_ptr<Executor> inner_;
  From from_;
};

ToolSpec spec_called(const std::string& name) {
  ToolSpec spec;
  spec.name = name;
  spec.effect = EffectClass::pure;
  return spec;
}

void run_for_a_while(boost::asio::io_context& host) {
  host.restart();
  host.run_for(std::chrono::seconds(20));  // Ends earlier: when nothing is left to be done.
}

}  // namespace

TEST_CASE("an executor that throws from any of its methods gives a result, not an exception") {
  using From = ThrowingExecutor::From;
  for (const From from :
       {From::list_models, From::supports, From::capabilities, From::mcp_server, From::execute}) {
    CAPTURE(static_cast<int>(from));
    Runner runner;
    RunnableAgent agent = saying(runner, "hello");
    agent.executor = std::make_shared<ThrowingExecutor>(agent.executor, from);

    Runner::Result result;
    CHECK_NOTHROW(result = runner.run(agent, "Hi"));

    const bool done = result.output == "hello";
    const bool told = result.error.find("thrown by the host") != std::string::npos;
    CHECK((done || told));
    CHECK(runner.run(saying(runner, "again"), "Hi").output == "again");
  }
}

TEST_CASE("a tool that is declared wrongly, or is none, fails the run with the reason") {
  Runner runner;
  RunnableAgent agent = saying(runner, "hello");

  agent.tools = {nullptr};
  CHECK(runner.run(agent, "Hi").error == "one of the agent's tools is null");

  agent.tools = {runner.tool({spec_called("t"), {}, {}})};
  CHECK(runner.run(agent, "Hi").error.find("tool t: it needs a function") != std::string::npos);

  ToolSpec spec = spec_called("t");
  spec.input_schema = "{nope";
  agent.tools = {runner.tool({spec, [](const auto&) { return std::string(); }, {}})};
  CHECK(runner.run(agent, "Hi").error.starts_with("tool t: input schema: JSON line 1"));
}

TEST_CASE("run() from a callback of the same runner is refused, and start() is the way") {
  Runner* inside = nullptr;
  std::string refused;
  std::string started;
  Ports ports;
  ports.callbacks.before_agent.push_back([&](const AgentCallbackContext& context) {
    if (context.output == "outer") {
      refused = inside->run(saying(*inside, "inner"), "inner").error;
      inside->start(saying(*inside, "inner"), "inner",
                    [&](const Runner::Result& result) { started = result.output; });
    }
    return CallbackResult::proceed();
  });
  Runner runner(std::move(ports));
  inside = &runner;

  const Runner::Result outer = runner.run(saying(runner, "hello"), "outer");
  const Runner::Result next = runner.run(saying(runner, "more"), "next");

  CHECK(outer.output == "hello");
  CHECK(refused.find("already") != std::string::npos);
  CHECK(next.output == "more");
  CHECK(started == "inner");
}

TEST_CASE("a runner may be used from one thread after another, and runners from many at once") {
  Runner runner;
  std::string other;
  std::thread([&] { other = runner.run(saying(runner, "there"), "Hi").output; }).join();
  CHECK(other == "there");
  CHECK(runner.run(saying(runner, "here"), "Hi").output == "here");

  std::vector<std::string> outputs(4);
  std::vector<std::thread> threads;
  for (std::string& output : outputs) {
    threads.emplace_back([&output] {
      Runner own;
      for (int i = 0; i < 20; ++i) output = own.run(saying(own, "all"), "Hi").output;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(outputs == std::vector<std::string>(4, "all"));
}

TEST_CASE("what a host throws when a run is over comes out of its loop, and the runner goes on") {
  boost::asio::io_context host;
  Runner runner(host);
  runner.start(saying(runner, "first"), "Hi",
               [](const Runner::Result&) { throw std::runtime_error("the host's own bug"); });
  CHECK_THROWS_AS(run_for_a_while(host), std::runtime_error);
  run_for_a_while(host);

  std::string output;
  runner.start(saying(runner, "second"), "Hi",
               [&](const Runner::Result& result) { output = result.output; });
  run_for_a_while(host);

  CHECK(output == "second");
}

TEST_CASE("tools that throw on a host's own loop are outcomes, and its loop ends by itself") {
  boost::asio::io_context host;
  Runner runner(host);
  int done = 0;
  for (int kind = 0; kind < 3; ++kind) {
    RunnableAgent agent = saying(runner, "hello");
    Script script;
    script.replies = {ScriptReply::call("t"), ScriptReply::say("So be it.")};
    agent.executor = runner.scripted(std::move(script));
    agent.tools = {runner.tool({spec_called("t"),
                                [kind](const auto&) -> std::string {
                                  if (kind == 0) throw std::runtime_error("boom");
                                  if (kind == 1) throw 42;
                                  return std::string("x").substr(7);
                                },
                                {}})};
    boost::asio::post(host, [&runner, &done, agent] {
      runner.start(agent, "Hi", [&done](const Runner::Result& result) {
        if (result.output == "So be it.") ++done;
      });
    });
  }
  run_for_a_while(host);

  CHECK(done == 3);
  CHECK(host.stopped());
}

TEST_CASE("one builder makes contexts for many runs, each with its own tally") {
  Runner runner;
  InvocationContextBuilder builder;
  builder.tenant("acme");
  const auto first = builder.build();
  const auto second = builder.identity("ann").build();

  CHECK(runner.run(saying(runner, "hello"), "Hi", first).output == "hello");

  CHECK(first->tally().steps == 1);
  CHECK(first->identity() == "local");
  CHECK(second->tenant() == "acme");
  CHECK(second->identity() == "ann");
  CHECK(second->tally().steps == 0);
}

TEST_CASE("a runner may be destroyed while a tool of its runs is at work") {
  for (int i = 0; i < 3; ++i) {
    Runner runner;
    RunnableAgent agent = saying(runner, "hello");
    Script script;
    script.replies = {ScriptReply::call("t"), ScriptReply::say("never")};
    agent.executor = runner.scripted(std::move(script));
    agent.tools = {runner.tool({spec_called("t"),
                                [](const ToolInvocation& call) {
                                  while (!call.stop->load()) std::this_thread::yield();
                                  return std::string("late");
                                },
                                {}})};
    auto steps = runner.steps(agent, "Hi");
    CHECK(steps.next().has_value());
  }
}

}  // namespace pawl
