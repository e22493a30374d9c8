// Records that do not fit.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

// What fold() says to a record that was changed after it was made.
template <class Change>
std::string complaint(Change change) {
  TestRun run;
  run.later(10).replies({calls("once")});
  const TestRun before = run;
  Record record = run.later(10).finishes(kC1, "ok");
  change(record);
  Run folded = before.run();
  const Status status = fold(folded, record);
  if (status) return "(fits)";
  CHECK(status.error().code == ErrorCode::corrupt);
  return status.error().message;
}

TEST_CASE("a record fits only where it belongs") {
  const std::string prefix = "record 2 (tool_finished) does not fit the run: ";
  CHECK(complaint([](Record&) {}) == "(fits)");
  CHECK(complaint([](Record& r) { r.seq = 3; }) ==
        "record 3 (tool_finished) does not fit the run: sequence gap: expected 2, got 3");
  CHECK(complaint([](Record& r) { r.stamp.epoch = 0; }) == prefix + "its epoch is older");
  CHECK(complaint([](Record& r) { r.stamp.elapsed_ms = 9; }) ==
        prefix + "its elapsed time is earlier");
  CHECK(complaint([](Record& r) { r.event = a_start(); }) ==
        "record 2 (run_started) does not fit the run: run_started comes first, and only once");
}

TEST_CASE("a record that names what is not there is refused by its name") {
  const std::string prefix = "record 2 (tool_finished) does not fit the run: ";
  CHECK(complaint([](Record& r) { std::get<ToolFinished>(r.event).call = CallId{9}; }) ==
        prefix + "no call c9");
  CHECK(complaint([](Record& r) { r.decisions = {StepBegan{InstanceId{5}, 2}}; }) ==
        prefix + "no instance i5");
  CHECK(complaint([](Record& r) { r.decisions = {AttemptDiscarded{EffectId{7}, {}}}; }) ==
        prefix + "e7 is not open");
  CHECK(complaint([](Record& r) { r.decisions = {CallOpened{kRootInstance, CallId{2}, 0, 0}}; }) ==
        prefix + "c2 names no call of its reply");
  CHECK(complaint([](Record& r) { r.decisions = {MessagesDelivered{kRootInstance, 1}}; }) ==
        prefix + "other messages wait");
  CHECK(complaint([](Record& r) { r.decisions = {InstanceBorn{InstanceId{2}, kRootInstance}}; }) ==
        prefix + "instance_born without instance_spawned");
}

TEST_CASE("results that are not there cannot be taken") {
  TestRun run;
  run.replies({calls("once")});
  Record record;
  record.seq = 2;
  record.stamp.epoch = 1;
  record.event = HookFailed{};
  record.decisions = {ResultsTaken{}};
  Run folded = run.run();

  const Status status = fold(folded, record);

  REQUIRE(!status);
  CHECK(status.error().message ==
        "record 2 (hook_failed) does not fit the run: c1 has no result to take");
}

TEST_CASE("a run cannot be over before it began to end, nor go on after it") {
  TestRun run;
  Record record;
  record.seq = 1;
  record.stamp.epoch = 1;
  record.event = RunFinished{};
  Run early = run.run();
  const Status status = fold(early, record);
  REQUIRE(!status);
  CHECK(status.error().message ==
        "record 1 (run_finished) does not fit the run: run_finished without an ending");

  run.replies({says("done")});
  run.ends();
  record.seq = 3;
  Run over = run.run();
  const Status late = fold(over, record);
  REQUIRE(!late);
  CHECK(late.error().message ==
        "record 3 (run_finished) does not fit the run: the run was already over");
}

TEST_CASE("the first record starts the run") {
  Run run;
  Record record;
  record.event = HookFailed{};
  const Status status = fold(run, record);
  REQUIRE(!status);
  CHECK(status.error().message ==
        "record 0 (hook_failed) does not fit the run: run_started comes first, and only once");
}

}  // namespace
}  // namespace pawl::testing
