#include "pawl/tools/native_tool.h"

#include <doctest/doctest.h>

#include <future>
#include <stdexcept>

#include "tests/support/test_loop.h"

namespace pawl {
namespace {

ToolSpec spec_of(std::int64_t timeout_ms = 10'000) {
  ToolSpec spec;
  spec.name = "native";
  spec.effect = EffectClass::pure;
  spec.timeout_ms = timeout_ms;
  return spec;
}

struct Outcome {
  std::optional<ToolOutcome> value;
  std::unique_ptr<Operation> operation;
};

void invoke(Outcome& outcome, Tool& tool, TestLoop& loop) {
  outcome.operation =
      tool.invoke({}, [&outcome](ToolOutcome value) { outcome.value = std::move(value); });
  static_cast<void>(loop);
}

TEST_CASE("what a native tool returns, refuses or throws is its outcome") {
  TestLoop loop(TestLoop::Clock::machine);
  const auto pool = std::make_shared<WorkerPool>();
  const auto outcome_of = [&](NativeFunction function) {
    const auto tool = *make_native_tool({spec_of(), std::move(function), {}}, loop, pool);
    Outcome outcome;
    invoke(outcome, *tool, loop);
    CHECK(loop.run_until([&] { return outcome.value.has_value(); }));
    return *outcome.value;
  };

  CHECK(outcome_of([](const auto&) { return std::string("fine"); }).content == "fine");
  const ToolOutcome refused = outcome_of(
      [](const auto&) -> Result<std::string> { return Error{ErrorCode::conflict, "no"}; });
  CHECK(refused.kind == ToolOutcome::Kind::failed);
  CHECK(refused.content == "no");
  const ToolOutcome thrown =
      outcome_of([](const auto&) -> Result<std::string> { throw std::runtime_error("bang"); });
  CHECK(thrown.kind == ToolOutcome::Kind::failed);
  CHECK(thrown.content == "the tool threw: bang");
}

TEST_CASE("a native tool that outlives its timeout is timed out, one that is aborted is aborted") {
  TestLoop loop(TestLoop::Clock::machine);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  const auto pool = std::make_shared<WorkerPool>();
  const NativeFunction stuck = [released](const auto&) {
    released.wait();
    return std::string("late");
  };
  const auto slow = *make_native_tool({spec_of(20), stuck, {}}, loop, pool);
  const auto aborted = *make_native_tool({spec_of(), stuck, {}}, loop, pool);
  Outcome first;
  Outcome second;
  invoke(first, *slow, loop);
  invoke(second, *aborted, loop);
  second.operation->abort();

  CHECK(loop.run_until([&] { return first.value && second.value; }));
  CHECK(first.value->kind == ToolOutcome::Kind::timed_out);
  CHECK(second.value->kind == ToolOutcome::Kind::aborted);
  release.set_value();
}

TEST_CASE("a long output is cut with a mark, between characters") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "ä";

  const std::string cut = cut_output(text, 100);

  CHECK(cut.size() <= 100);
  CHECK(cut.find("200 bytes in all") != std::string::npos);
  CHECK(cut_output("short", 100) == "short");
}

TEST_CASE("a status function is needed exactly for reconcilable tools") {
  TestLoop loop;
  const auto pool = std::make_shared<WorkerPool>();
  const NativeFunction run = [](const auto&) { return std::string(); };
  ToolSpec reconcilable = spec_of();
  reconcilable.effect = EffectClass::reconcilable;

  CHECK(!make_native_tool({reconcilable, run, {}}, loop, pool));
  CHECK(!make_native_tool({spec_of(), {}, {}}, loop, pool));
  CHECK(
      make_native_tool({reconcilable, run, [](const auto&) { return ToolStatus{}; }}, loop, pool));
}

TEST_CASE("a native tool has one function, and its two replies are cut alike") {
  TestLoop loop(TestLoop::Clock::machine);
  const auto pool = std::make_shared<WorkerPool>();
  NativeTool tool{spec_of(), {}, {}};
  tool.spec.output_bytes_max = 100;
  tool.split = [](const auto&) -> Result<SplitReply> {
    return SplitReply{"for the model", std::string(1'000, 'x')};
  };
  NativeTool both = tool;
  both.run = [](const auto&) { return std::string(); };
  CHECK(!make_native_tool(both, loop, pool));

  const auto made = *make_native_tool(tool, loop, pool);
  Outcome outcome;
  invoke(outcome, *made, loop);
  CHECK(loop.run_until([&] { return outcome.value.has_value(); }));
  CHECK(outcome.value->content == "for the model");
  REQUIRE(outcome.value->user_reply);
  CHECK(outcome.value->user_reply->size() <= 100);
}

}  // namespace
}  // namespace pawl
