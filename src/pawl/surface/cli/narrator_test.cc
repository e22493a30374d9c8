#include "pawl/surface/cli/narrator.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

Narrator narrator() {
  return Narrator([](const RunId&, const Content& content) {
    return content.bytes() != nullptr ? *content.bytes() : std::string("(a blob)");
  });
}

RecordView view(Event event, std::vector<Decision> decisions = {},
                std::vector<Effect> effects = {}) {
  RecordView view;
  view.run = RunId{"r1"};
  view.record.event = std::move(event);
  view.record.decisions = std::move(decisions);
  view.record.effects = std::move(effects);
  return view;
}

std::vector<std::string> texts(const std::vector<StoryLine>& lines) {
  std::vector<std::string> all;
  for (const StoryLine& line : lines) all.push_back(line.text);
  return all;
}

using Lines = std::vector<std::string>;

ModelReplied reply_with_call(const std::string& text) {
  ModelReplied reply;
  reply.blocks.push_back(TextBlock{Content(text)});
  CallBlock call;
  call.tool = "charge";
  call.input = Content(std::string(R"({"amount": 1})"));
  reply.blocks.push_back(call);
  return reply;
}

}  // namespace

TEST_CASE("a line is painted by its tone, and a plain one is not") {
  CHECK(painted({Tone::bad, "failed"}) == "\x1b[31mfailed\x1b[0m");
  CHECK(painted({Tone::plain, "text"}) == "text");
}

TEST_CASE("a call is told with its input, and its result with its tool") {
  Narrator told = narrator();
  CallOpened opened;
  opened.call = CallId{1};
  opened.index = 1;
  RunTool run;
  run.call = CallId{1};
  CHECK(texts(told.tell(view(reply_with_call("Now."), {opened}, {run}))) ==
        Lines{"  Now.", R"(  c1 charge {"amount": 1})"});
  CHECK(told.tools_running() == Lines{"charge"});

  ToolFinished finished;
  finished.call = CallId{1};
  finished.content = Content(std::string("charged 1\n"));
  CHECK(texts(told.tell(view(finished))) == Lines{"  c1 charge done: charged 1"});
  CHECK(told.tools_running().empty());
}

TEST_CASE("what an executor did by itself is told, and other raw blocks are not") {
  Narrator told = narrator();
  ModelReplied reply;
  reply.blocks.push_back(RawBlock{Content(std::string(
      R"({"type":"native_tool_result","tool":"Bash","input":"","content":"a","outcome":"fine"})"))});
  reply.blocks.push_back(RawBlock{Content(std::string(R"({"type":"server_tool_use"})"))});
  reply.blocks.push_back(RawBlock{Content(std::string("no JSON"))});
  CHECK(texts(told.tell(view(reply))) == Lines{"  Bash succeeded (run by the executor): a"});
}

TEST_CASE("a result of several lines is told line by line") {
  Narrator told = narrator();
  told.know_call(CallId{3}, "look");
  ToolFinished finished;
  finished.call = CallId{3};
  finished.end = ToolEnd::failed;
  finished.content = Content(std::string("one\ntwo\x1b[2J\n"));

  const auto lines = told.tell(view(finished));

  CHECK(texts(lines) == Lines{"  c3 look failed:", "  | one", "  | two\\x1b[2J"});
  CHECK(lines.front().tone == Tone::bad);
}

TEST_CASE("a long text is cut, and says so") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "line\n";

  const auto lines = told_text(text, "> ", Wide::cut);

  REQUIRE(lines.size() == kResultLinesMax + 1);
  CHECK(lines.back().text == "> … and 200 more bytes");
  CHECK(told_text("", "", Wide::broken).empty());
}

TEST_CASE("the text of a whole turn is held back until the run goes on") {
  Narrator told = narrator();
  ModelReplied reply;
  reply.blocks.push_back(TextBlock{Content(std::string("All charged."))});
  CHECK(told.tell(view(reply)).empty());
  CHECK(told.held_text() == "All charged.");

  StepBegan step;
  step.step = 4;
  CHECK(texts(told.tell(view(MessageReceived{}, {step}))).back() == "step 4");
  CHECK(told.held_text().empty());
}

TEST_CASE("doubt, refusals, failures and ends are told in words") {
  Narrator told = narrator();
  told.know_call(CallId{2}, "charge");
  CHECK(texts(told.tell(view(DriverAttached{"me"}, {CallInDoubt{CallId{2}}}))) ==
        Lines{"run r1: taken up again by me",
              "  c2 charge is in doubt: it was cut short, and nobody knows whether it took "
              "effect"});

  CHECK(texts(told.tell(
            view(ResultCameLate{kRootInstance, CallId{2}, {}, ToolEnd::succeeded, {}}))) ==
        Lines{"  c2 charge reported after it had been given up (succeeded): kept as evidence, not "
              "shown to the model"});
  ToolFinished late;
  late.call = CallId{2};
  late.end = ToolEnd::timed_out;
  CHECK(texts(told.tell(view(late, {CallRetried{CallId{2}}}))) ==
        Lines{"  c2 charge ran into its timeout and was stopped",
              "  c2 charge is run again, with the same key"});

  ModelFailed failed;
  failed.category = ErrorCategory::network_error;
  failed.message = "no route";
  RetryPlanned retry;
  retry.at_elapsed_ms = 1500;
  CHECK(texts(told.tell(view(failed, {retry}))) ==
        Lines{"  the model failed (network_error): no route", "  trying again in 1.5 s"});

  EndingBegan ending;
  ending.status = RunStatus::stopped;
  ending.reason = StopReason::steps;
  ending.detail = "20 of 20 steps";
  CHECK(texts(told.tell(view(TimerFired{}, {ending}))) ==
        Lines{"  ending (steps): 20 of 20 steps"});
}

}  // namespace pawl
