#include "pawl/surface/cli/view.h"

#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {

TEST_CASE("usage is told in one line") {
  RecordView view;
  view.currency = "USD";
  view.tally.steps = 1;
  view.tally.tool_calls = 2;
  view.tally.usage.input_tokens = 30;
  view.tally.active_ms = 1'260;

  CHECK(describe_usage(view) == "1 step, 2 tool calls, 30 tokens, 0.00 USD, 1.3 s");
}

TEST_CASE("the view is chosen by what standard output is") {
  MemoryEnvironment environment;
  const auto workspace = *environment.open({}, IfAbsent::make);
  auto record = std::make_shared<RecordView>();
  record->run = RunId{"r1"};
  record->record.event = PauseRequested{"me"};
  CliContext plain{environment, {}, {}};
  CliContext json = plain;
  json.arguments.values["json"] = {"true"};

  make_view(plain, *workspace, nullptr)->on_event(std::shared_ptr<const RecordView>(record));
  CHECK(environment.screen.out == "  a pause was asked for by me\n");

  environment.screen.out.clear();
  make_view(json, *workspace, nullptr)->on_event(std::shared_ptr<const RecordView>(record));
  CHECK(
      environment.screen.out.starts_with("{\"run\":\"r1\",\"seq\":0,\"type\":\"pause_requested\""));

  environment.screen = {};
  environment.screen.terminal = true;
  make_view(plain, *workspace, nullptr)->on_event(std::shared_ptr<const RecordView>(record));
  CHECK(environment.screen.out.find('\r') != std::string::npos);
}

TEST_CASE("previews are no lines of JSON: they have no number") {
  MemoryEnvironment environment;
  const auto workspace = *environment.open({}, IfAbsent::make);
  CliContext context{environment, {}, {}};
  context.arguments.values["json"] = {"true"};

  make_view(context, *workspace, nullptr)->on_event(Preview{});

  CHECK(environment.screen.out.empty());
}

}  // namespace pawl
