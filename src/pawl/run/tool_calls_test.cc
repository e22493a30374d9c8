// What a driver makes of outcomes and of callbacks after them, down to the journal.
#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/journal/event_json.h"
#include "pawl/json.h"
#include "pawl/kernel/codec.h"
#include "pawl/service/service.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

struct Planned {
  ToolOutcome::Kind kind = ToolOutcome::Kind::succeeded;
  std::string content;
  std::int64_t after_ms = 1;  // since the call began
  std::uint64_t cut = 0;      // bytes that it had produced besides
  std::optional<std::string> user_reply = {};
  std::string level = {};
};

// Reports what was planned, one thing after another: also after it has reported already, as work
// that could not be stopped does.
class PlannedTool : public Tool {
 public:
  PlannedTool(std::string name, EffectClass effect, Loop& loop,
              std::vector<std::vector<Planned>> plans)
      : loop_(loop), plans_(std::move(plans)) {
    spec_.name = std::move(name);
    spec_.effect = effect;
  }

  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    keys.push_back(invocation.key);
    for (const Planned& one : plans_.at(std::min(keys.size(), plans_.size()) - 1)) {
      timers_.push_back(loop_.after(one.after_ms, [done, one] {
        done({one.kind, one.content, one.content.size() + one.cut, one.user_reply, one.level});
      }));
    }
    return std::make_unique<Nothing>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return std::make_unique<Nothing>();
  }

  std::vector<std::string> keys;  // of every attempt

 private:
  struct Nothing : Operation {
    void abort() override {}
  };

  Loop& loop_;
  ToolSpec spec_;
  std::vector<std::vector<Planned>> plans_;
  std::vector<std::unique_ptr<Timer>> timers_;
};

constexpr auto kTimedOut = ToolOutcome::Kind::timed_out;
constexpr auto kSucceeded = ToolOutcome::Kind::succeeded;

struct Stage {
  std::vector<ScriptReply> replies;
  CallbackRegistry callbacks;
  TestLoop loop;
  MemoryJournal memory{loop};
  std::vector<std::shared_ptr<PlannedTool>> tools;
  std::vector<std::string> lines;
  std::vector<std::string> released;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Service> service;
  std::shared_ptr<void> subscription;
  const RunId id{"r"};

  std::shared_ptr<PlannedTool> tool(std::string name, EffectClass effect,
                                    std::vector<std::vector<Planned>> plans) {
    tools.push_back(std::make_shared<PlannedTool>(std::move(name), effect, loop, std::move(plans)));
    return tools.back();
  }
  void run(std::int64_t ms) {
    engine = std::make_unique<Engine>(EngineOptions{
        loop, {&memory, &memory, &memory, &memory}, callbacks, AgentSource{}, "stage"});
    service = std::make_unique<Service>(*engine);
    subscription = engine->subscribe([this](const RunEvent& event) {
      const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
      if (view == nullptr) return;
      const FinalFields fields{*service->output_of(**view)};
      lines.push_back(event_json(**view, &fields));
    });
    PreparedAgent agent;
    agent.charter.name = "stage";
    agent.charter.instructions = "x";
    agent.charter.model = "scripted";
    Script script;
    script.replies = replies;
    agent.executor = make_scripted_executor(script, loop);
    agent.release = [this](const RunId& run) { released.push_back(run.text); };
    for (const auto& one : tools) agent.tools.push_back(one);
    service->start({agent, "go", id, nullptr},
                   [](const Result<RunId>& accepted) { CHECK(accepted); });
    loop.advance(ms);
  }
  RunState state() const { return service->show(id)->state; }
  std::string explained() const { return *service->explain(id); }
  std::vector<std::string> types() const {
    std::vector<std::string> all;
    for (const std::string& line : lines) all.emplace_back(*parse_json(line)->find_string("type"));
    return all;
  }
};

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

using Types = std::vector<std::string>;

TEST_CASE("a pure tool that times out is run again with the same key, and its success counts") {
  Stage stage;
  stage.replies = {ScriptReply::call("look"), ScriptReply::say("found")};
  const auto tool = stage.tool("look", EffectClass::pure,
                               {{{kTimedOut, "too slow"}}, {{kSucceeded, "it is there"}}});

  stage.run(200);

  REQUIRE(tool->keys.size() == 2);
  CHECK(tool->keys[0] == tool->keys[1]);
  CHECK(status_of(stage.state()) == RunStatus::done);
  CHECK(stage.types() == Types{"run_started", "model_replied", "tool_finished", "tool_finished",
                               "model_replied", "run_finished"});
}

TEST_CASE("what a tool reports after it was given up is evidence that explain shows") {
  Stage stage;
  stage.replies = {ScriptReply::call_all({{"charge"}, {"wait"}})};
  stage.tool("charge", EffectClass::once,
             {{{kTimedOut, "too slow", 10}, {kSucceeded, "charged 5", 20}, {kSucceeded, "x", 30}}});
  stage.tool("wait", EffectClass::pure, {{{kSucceeded, "waited", 50}}});

  stage.run(200);

  CHECK(stage.types() == Types{"run_started", "model_replied", "tool_finished", "result_came_late",
                               "tool_finished", "run_waiting"});
  CHECK(waits_for(stage.state()) == WaitFor::in_doubt);
  CHECK(holds(stage.explained(),
              "Its tool reported after all, too late to count (record 3): succeeded: charged 5"));
  CHECK(holds(stage.lines.back(), R"("calls_in_doubt":["c1"])"));
}

TEST_CASE("only the first verdict on a doubt is taken, also while it waits in the inbox") {
  Stage stage;
  stage.replies = {ScriptReply::call("charge"), ScriptReply::say("done")};
  stage.tool("charge", EffectClass::once, {{{kTimedOut, "too slow"}}});
  stage.run(200);
  REQUIRE(waits_for(stage.state()) == WaitFor::in_doubt);
  const auto resolve = [&](DoubtVerdict verdict) {
    return stage.service->resolution(stage.id, CallId{1}, verdict, {}, "ann");
  };
  const auto first = resolve(DoubtVerdict::did_not_happen);
  REQUIRE(first);
  stage.service->engine().store().inbox->post(stage.id, 1, encode_event(*first),
                                              [](const Status& status) { CHECK(status); });
  stage.loop.advance(1);

  const auto second = resolve(DoubtVerdict::happened);

  REQUIRE(!second);
  CHECK(holds(second.error().message, "c1 of run r has been resolved by ann (did_not_happen)"));
  CHECK(holds(stage.explained(), "with `pawl resume r`: 1 event."));
}

TEST_CASE("a run that ends with a call in doubt says so for ever, and takes no verdict") {
  Stage stage;
  stage.replies = {ScriptReply::call("charge")};
  stage.tool("charge", EffectClass::once, {{{kTimedOut, "too slow"}}});
  stage.callbacks.after_tool.emplace_back(
      [](const ToolCallbackContext&) { return CallbackResult::stop("enough"); });

  stage.run(200);

  CHECK(stage.types() == Types{"run_started", "model_replied", "tool_finished", "run_finished"});
  CHECK(holds(stage.lines.back(), R"("calls_in_doubt":["c1"])"));
  CHECK(holds(stage.lines.back(), R"("detail":"after_tool: enough")"));
  CHECK(holds(stage.explained(), "Call c1 (charge {}) was started, and whether it took effect"));
  CHECK(!holds(stage.explained(), "pawl resolve"));
  const auto verdict =
      stage.service->resolution(stage.id, CallId{1}, DoubtVerdict::happened, {}, "ann");
  REQUIRE(!verdict);
  CHECK(holds(verdict.error().message, "is over, and what it left in doubt stays so"));
}

TEST_CASE("a stop after the model keeps the reply and its usage, and runs none of its calls") {
  Stage stage;
  ScriptReply reply = ScriptReply::call("charge");
  reply.usage = Usage{100, 20, 0, 0};
  stage.replies = {reply};
  const auto tool = stage.tool("charge", EffectClass::once, {{{kSucceeded, "charged"}}});
  stage.callbacks.after_model.emplace_back(
      [](const ModelCallbackContext&) { return CallbackResult::stop("too rude"); });

  stage.run(200);

  CHECK(tool->keys.empty());
  CHECK(stage.types() == Types{"run_started", "model_replied", "run_finished"});
  CHECK(stage.state().tally.usage == Usage{100, 20, 0, 0});
  CHECK(calls_in_doubt(stage.state()).empty());
  CHECK(holds(stage.lines.back(), R"("detail":"after_model: too rude")"));
}

TEST_CASE("a stop after a tool keeps its result in the same record") {
  Stage stage;
  stage.replies = {ScriptReply::call("charge")};
  stage.tool("charge", EffectClass::once, {{{kSucceeded, "charged"}}});
  stage.callbacks.after_tool.emplace_back(
      [](const ToolCallbackContext&) { return CallbackResult::stop("enough"); });

  stage.run(200);

  CHECK(stage.types() == Types{"run_started", "model_replied", "tool_finished", "run_finished"});
  CHECK(holds(stage.lines[2], R"("content":"charged")"));
  CHECK(holds(stage.lines[2], R"("callback_stop":"enough")"));
  CHECK(holds(stage.lines.back(), R"("calls_in_doubt":[])"));
}

TEST_CASE("E2: what a callback says in a tool's place is its result, and the tool is not run") {
  Stage stage;
  stage.replies = {ScriptReply::call("charge"), ScriptReply::say("ok")};
  const auto tool = stage.tool("charge", EffectClass::once, {{{kSucceeded, "charged"}}});
  stage.callbacks.before_tool.emplace_back(
      [](const ToolCallbackContext&) { return CallbackResult::replace("cached"); });

  stage.run(200);

  CHECK(tool->keys.empty());
  CHECK(holds(stage.lines.at(2), R"("content":"cached")"));
  CHECK(holds(stage.lines.at(2), R"("origin":"callback")"));
  CHECK(status_of(stage.state()) == RunStatus::done);
}

TEST_CASE("E2: what a callback says after a tool takes the place of its result") {
  Stage stage;
  stage.replies = {ScriptReply::call("charge"), ScriptReply::say("ok")};
  const auto tool = stage.tool("charge", EffectClass::once, {{{kSucceeded, "charged"}}});
  stage.callbacks.after_tool.emplace_back(
      [](const ToolCallbackContext&) { return CallbackResult::replace("tidied up"); });

  stage.run(200);

  CHECK(tool->keys.size() == 1);
  CHECK(holds(stage.lines.at(2), R"("content":"tidied up")"));
  CHECK(holds(stage.lines.at(2), R"("content_length":9)"));
}

TEST_CASE("what a tool says besides its result is recorded: length, level, what people are told") {
  Stage stage;
  stage.replies = {ScriptReply::call("look"), ScriptReply::say("ok")};
  stage.tool("look", EffectClass::pure,
             {{{kSucceeded, "beginning", 1, 1'000, "It is long.", "namespace"}}});
  stage.run(200);
  CHECK(holds(stage.lines.at(2), R"("content":"beginning","content_length":1009)"));
  CHECK(holds(stage.lines.at(2), R"("user_reply":"It is long.")"));
  CHECK(holds(stage.lines.at(2), R"("level":"namespace")"));
}

TEST_CASE("H12: what a run's tools hold is let go once, however it ends or waits") {
  for (const char* how : {"done", "failed", "waits", "cancelled"}) {
    CAPTURE(how);
    Stage stage;
    stage.replies = {ScriptReply::call("charge"), ScriptReply::say("ok")};
    if (how == std::string("failed")) stage.replies.pop_back();  // the script runs out
    const bool waits = how == std::string("waits");
    const std::int64_t after_ms = how == std::string("cancelled") ? 100'000 : 1;
    stage.tool("charge", EffectClass::once,
               {{{waits ? kTimedOut : kSucceeded, "charged", after_ms}}});
    stage.run(500);
    if (how == std::string("cancelled")) {
      CHECK(stage.released.empty());
      CHECK(stage.engine->feed(stage.id, CancelRequested{"ann", ""}));
      stage.loop.advance(5'000);
    }
    CHECK(stage.released == std::vector<std::string>{"r"});
  }
}

TEST_CASE("messages that a run took and did not answer are counted when it is explained") {
  Stage stage;
  ScriptReply refusing = ScriptReply::say("no");
  std::get<ScriptSpeech>(refusing.outcome).stop = ReplyStop::refusal;
  refusing.delay_ms = 100;
  stage.replies = {refusing};
  stage.run(50);
  CHECK(stage.engine->feed(stage.id, MessageReceived{kRootInstance, Content("and?"), "ann"}));

  stage.loop.advance(300);

  CHECK(status_of(stage.state()) == RunStatus::stopped);
  CHECK(holds(stage.explained(), "Messages that it took and did not answer: 1."));
}

}  // namespace
}  // namespace pawl
