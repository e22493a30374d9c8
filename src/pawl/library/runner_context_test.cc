// What a run was started with is there again after its process died: for tools, callbacks and
// executors.
#include <doctest/doctest.h>

#include "pawl/adapter/asio/asio_loop.h"
#include "pawl/pawl.h"
#include "pawl/testing/journal_memory/journal_memory.h"

namespace pawl {
namespace {

struct Notes final : MemoryService {
  Status remember(std::string text) override {
    texts.push_back(std::move(text));
    return ok();
  }
  Result<std::vector<std::string>> search(const std::string&, std::size_t) override {
    return texts;
  }
  std::vector<std::string> texts;
};

// What one process saw of the context, from three sides.
struct Seen {
  std::shared_ptr<const InvocationContext> tool;
  std::shared_ptr<const InvocationContext> callback;
  OnBehalf executor;
  OnBehalf command;  // what a command would be told
};

// A process on a store that outlives it.
struct Process {
  Process(const std::shared_ptr<AsioLoop>& loop, const std::shared_ptr<MemoryJournal>& journal,
          ServiceRegistry services) {
    Ports ports;
    ports.loop = loop;
    ports.store = {journal.get(), journal.get(), journal.get(), journal.get()};
    ports.store_owner = journal;
    ports.services = std::move(services);
    ports.callbacks.before_model.emplace_back([this](const ModelCallbackContext& context) {
      run = context.run;
      ++model_calls;
      seen.callback = context.invocation;
      seen.executor = context.request.on_behalf;
      return CallbackResult::proceed();
    });
    runner.emplace(std::move(ports));
    agent.charter.name = "noting";
    agent.charter.instructions = "Note it.";
    agent.charter.variables["k"] = "";
    ToolSpec spec;
    spec.name = "note";
    spec.effect = EffectClass::pure;
    agent.tools.push_back(runner->tool({spec,
                                        [this](const ToolInvocation& invocation) {
                                          seen.tool = invocation.context;
                                          seen.command = invocation.on_behalf;
                                          return std::string("noted");
                                        },
                                        {}}));
  }
  void says(std::vector<ScriptReply> replies) {
    Script script;
    script.replies = std::move(replies);
    agent.executor = runner->scripted(std::move(script));
  }

  Seen seen;
  RunId run;
  int model_calls = 0;
  std::optional<Runner> runner;
  RunnableAgent agent;
};

struct World {
  // Starts a run that calls its tool once, and dies while the model is asked again.
  RunId start_and_die(const std::shared_ptr<const InvocationContext>& context) {
    Process process(loop, journal, {});
    ScriptReply late = ScriptReply::say("never heard");
    late.delay_ms = 3'600'000;
    process.says({ScriptReply::call("note"), late});
    std::string refused;
    process.runner->start(
        process.agent, "go", [&](const Runner::Result& result) { refused = result.error; },
        context);
    loop->run_until([&] { return process.model_calls == 2 || !refused.empty(); });
    REQUIRE(refused == "");
    first = process.seen;
    return process.run;
  }
  Runner::Result resume(const RunId& run, ServiceRegistry services) {
    Process process(loop, journal, std::move(services));
    process.says({ScriptReply::call("note"), ScriptReply::call("note"), ScriptReply::say("done")});
    std::optional<Runner::Result> result;
    process.runner->resume(process.agent, run, [&](Runner::Result ended) { result = ended; });
    loop->run_until([&] { return result.has_value(); });
    again = process.seen;
    return *result;
  }

  std::shared_ptr<AsioLoop> loop = std::make_shared<AsioLoop>();
  std::shared_ptr<MemoryJournal> journal = std::make_shared<MemoryJournal>(*loop);
  Seen first;
  Seen again;
};

void check_same(const InvocationContext& was, const InvocationContext& is) {
  CHECK(is.tenant() == was.tenant());
  CHECK(is.identity() == was.identity());
  CHECK(is.started_by() == was.started_by());
  CHECK(is.session_id() == was.session_id());
  CHECK(is.trace_parent() == was.trace_parent());
  CHECK(is.resource_limits() == was.resource_limits());
  CHECK(is.variables() == was.variables());
  REQUIRE(is.history().size() == was.history().size());
  for (std::size_t i = 0; i < is.history().size(); ++i) {
    CHECK(is.history()[i].text == was.history()[i].text);
    CHECK(is.history()[i].speaker == was.history()[i].speaker);
  }
}

InvocationContextBuilder full_context() {
  Limits limits;
  limits.steps = 7;
  InvocationContextBuilder builder;
  builder.tenant("acme").identity("ann").session_id("s-17").trace_parent("00-ab-cd-01");
  builder.resource_limits(limits).variable("k", "v");
  builder.history({{Speaker::user, "earlier"}, {Speaker::assistant, std::string(9'000, 'x')}});
  return builder;
}

}  // namespace

TEST_CASE("after kill and resume tools, callbacks and executors see the same context") {
  World world;
  const auto notes = std::make_shared<Notes>();
  InvocationServices lent;
  lent.memory = notes;
  lent.name = "office";
  const auto context = full_context().services(lent).build();

  const RunId run = world.start_and_die(context);
  const Runner::Result result = world.resume(run, {{"office", lent}});

  CHECK(result.output == "done");
  for (const Seen* seen : {&world.first, &world.again}) {
    REQUIRE(seen->tool);
    REQUIRE(seen->callback);
    check_same(*context, *seen->tool);
    check_same(*context, *seen->callback);
    CHECK(seen->tool->services().memory == notes);
    CHECK(seen->tool->services().session == nullptr);
    for (const OnBehalf* whom : {&seen->executor, &seen->command}) {
      CHECK(whom->tenant == "acme");
      CHECK(whom->identity == "ann");
      CHECK(whom->session_id == "s-17");
      CHECK(whom->trace_parent == "00-ab-cd-01");
    }
  }
}

TEST_CASE("a service that the host does not register is named, and the run stays as it was") {
  World world;
  InvocationServices lent;
  lent.memory = std::make_shared<Notes>();
  const RunId run = world.start_and_die(InvocationContextBuilder().services(lent).build());

  const Runner::Result refused = world.resume(run, {});
  CHECK(refused.error.find("'default/memory'") != std::string::npos);
  CHECK(refused.error.find("Ports::services") != std::string::npos);
  // One of another kind under the same name is not it.
  CHECK_FALSE(world.resume(run, {{"default", InvocationServices{}}}).error.empty());

  CHECK(world.resume(run, {{"default", lent}}).output == "done");
}

TEST_CASE("a session id that is no plain text is refused before the run begins") {
  Runner runner;
  RunnableAgent agent;
  agent.charter.name = "saying";
  agent.charter.instructions = "Say it.";
  Script script;
  script.replies = {ScriptReply::say("hi")};
  agent.executor = runner.scripted(std::move(script));

  for (const std::string& bad : {std::string("a\nb"), std::string(1'025, 'x')}) {
    const auto context = InvocationContextBuilder().session_id(bad).build();
    CHECK(runner.run(agent, "go", context).error.find("session") != std::string::npos);
  }
}

}  // namespace pawl
