// What a host can do to a run that its runner drives.
#include <doctest/doctest.h>

#include <stdexcept>

#include "pawl/pawl.h"
#include "pawl/testing/journal_memory/journal_memory.h"

namespace pawl {
namespace {

// A model that calls a tool, and then says what it says; the tool tells the host that it is there.
struct Controlled {
  explicit Controlled(std::function<void(const RunId&)> in_tool) {
    agent.charter.name = "controlled";
    agent.charter.instructions = "Call the tool, then say it.";
    Ports ports;
    ports.callbacks.after_tool.emplace_back(
        [in_tool = std::move(in_tool)](const ToolCallbackContext& context) {
          in_tool(context.run);
          return CallbackResult::proceed();
        });
    ports.events = [this](const RunEvent& event) {
      const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
      if (view != nullptr && summary_of(**view).type == "message_received") ++messages;
    };
    runner.emplace(std::move(ports));
    agent.executor = runner->scripted(
        {{ScriptReply::call("t"), ScriptReply::say("said"), ScriptReply::say("said again")}});
    ToolSpec spec;
    spec.name = "t";
    spec.effect = EffectClass::pure;
    agent.tools = {runner->tool({spec, [](const auto&) { return std::string("r"); }, {}})};
  }

  std::optional<Runner> runner;
  RunnableAgent agent;
  int messages = 0;  // that reached the run
};

TEST_CASE("a run that the host cancels from a callback is over, and says by whom") {
  Runner* inside = nullptr;
  Controlled host([&inside](const RunId& run) { CHECK(inside->cancel(run, "ann", "enough")); });
  inside = &*host.runner;

  const Runner::Result result = host.runner->run(host.agent, "go");

  CHECK(result.status == RunStatus::cancelled);
  CHECK(result.error.find("enough") != std::string::npos);
}

TEST_CASE("a run that the host pauses waits, and goes on when it is resumed") {
  Runner* inside = nullptr;
  Controlled host([&inside](const RunId& run) { CHECK(inside->pause(run, "ann")); });
  inside = &*host.runner;

  const Runner::Result paused = host.runner->run(host.agent, "go");
  CHECK(paused.status == RunStatus::waiting);
  CHECK(paused.stop_reason == "paused");

  const Runner::Result result = host.runner->resume(host.agent, paused.run_id);
  CHECK(result.status == RunStatus::done);
  CHECK(result.output == "said");
}

TEST_CASE("a message that the host sends is durable, and answered before the run is over") {
  Runner* inside = nullptr;
  std::optional<Status> durable;
  Controlled host([&](const RunId& run) {
    inside->send(run, "and one more", "ann", [&durable](const Status& said) { durable = said; });
  });
  inside = &*host.runner;

  const Runner::Result result = host.runner->run(host.agent, "go");
  REQUIRE(durable.has_value());
  CHECK(*durable);
  CHECK(result.output.starts_with("said"));
  CHECK(host.messages == 1);

  std::optional<Status> late;
  inside->send(result.run_id, "too late", "ann", [&late](const Status& said) { late = said; });
  CHECK(host.runner->run(host.agent, "again").status == RunStatus::done);  // the loop goes round
  REQUIRE(late.has_value());
  CHECK_FALSE(*late);
  CHECK_FALSE(inside->cancel(result.run_id, "ann", "too late"));
}

TEST_CASE("a host sees each event as a summary and as a line of JSON") {
  std::vector<std::string> types;
  std::uint64_t next = 0;
  RunStatus last = RunStatus::running;
  Ports ports;
  ports.events = [&](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view == nullptr) return;
    const EventSummary summary = summary_of(**view);
    types.emplace_back(summary.type);
    CHECK(summary.seq == next++);
    CHECK(event_json(**view).find("\"type\":\"" + types.back() + "\"") != std::string::npos);
    last = summary.status;
  };
  Runner runner(std::move(ports));
  RunnableAgent agent;
  agent.charter.name = "seen";
  agent.charter.instructions = "Say it.";
  agent.executor = runner.scripted({{ScriptReply::say("said")}});

  CHECK(runner.run(agent, "go").status == RunStatus::done);

  REQUIRE(types.size() > 2);
  CHECK(types.front() == "run_started");
  CHECK(types.back() == "run_finished");
  CHECK(last == RunStatus::done);
}

RunnableAgent saying(Runner& runner) {
  RunnableAgent agent;
  agent.charter.name = "saying";
  agent.charter.instructions = "Say it.";
  agent.executor = runner.scripted({{ScriptReply::say("said")}});
  return agent;
}

TEST_CASE("a store that cannot be opened is the error of every run, and none is kept elsewhere") {
  const StoreOpener refusing = [](Loop&) { return Error{ErrorCode::unavailable, "no disk"}; };
  const StoreOpener throwing = [](Loop&) -> Result<OpenedStore> { throw std::runtime_error("x"); };
  const StoreOpener empty = [](Loop&) { return OpenedStore{}; };
  for (const StoreOpener& open : {refusing, throwing, empty}) {
    Ports ports;
    ports.open_store = open;
    Runner runner(std::move(ports));
    const Runner::Result result = runner.run(saying(runner), "go");
    CHECK(result.error.starts_with("the store cannot be opened: "));
    CHECK(result.output.empty());
    CHECK(runner.resume(saying(runner), RunId{"any"}).error == result.error);
    CHECK(runner.store().catalog->list({})->empty());
  }
}

TEST_CASE("a store that the host opens on the runner's loop keeps its runs") {
  Ports ports;
  ports.open_store = [](Loop& loop) -> Result<OpenedStore> {
    const auto journal = std::make_shared<MemoryJournal>(loop);
    return OpenedStore{{journal.get(), journal.get(), journal.get(), journal.get()}, journal};
  };
  Runner runner(std::move(ports));

  const Runner::Result result = runner.run(saying(runner), "go");

  CHECK(result.output == "said");
  CHECK(runner.store().catalog->list({})->front().id == result.run_id);
}

}  // namespace
}  // namespace pawl
