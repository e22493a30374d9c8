// Workers: rules M2, M4, M5, M6, M7 and M14 of docs/charter.md, "Several nodes".
#include "pawl/kernel/machine_stage_test.h"

namespace pawl::testing {
namespace {

const std::string kFromI2 = "i2 (watch) has ended and hands you this:";

std::vector<EndedHow> ends(const TestRun& run) {
  std::vector<EndedHow> how;
  for (const InstanceEnded& one : run.decided<InstanceEnded>()) how.push_back(one.how);
  return how;
}

// --- Birth ---------------------------------------------------------------------------------------

TEST_CASE("a worker begins at once, beside its parent, with the input of the call") {
  TestRun run(a_family());
  run.replies({spawns_watcher("the log")});

  CHECK(run.in<AwaitingModel>());
  CHECK(run.in<AwaitingModel>(kI2));
  CHECK(run.instance(kI2).node == "watch");
  CHECK(run.instance(kI2).depth == 1);
  CHECK(run.dialogue(kI2) == "user: the log");
  CHECK(run.dialogue() == "user: hello | assistant: [spawn_watcher] | c1: i2 has started.");
}

TEST_CASE("a spawn beyond limits.branches is refused in words, and one that ended makes room") {
  RunStarted start = a_family();
  start.limits.branches = 1;
  TestRun run(start);
  run.replies({spawns_watcher("a"), spawns_watcher("b")});
  CHECK(run.decided<ChildBorn>().size() == 1);
  CHECK(run.decided<CallRefused>().at(0).text ==
        "not done: no more than 1 instances may live at a time; go on when one has ended");

  run.replies_as(kI2, {says("seen")});
  run.replies({spawns_watcher("c")});
  CHECK(run.decided<ChildBorn>().size() == 2);
}

TEST_CASE("workers that start with their node wait for room, the oldest first") {
  RunStarted start = a_family();
  start.limits.branches = 1;
  ChildSpec with = a_child("early", "watch");
  with.start = ChildStart::with_node;
  ChildSpec late = with;
  late.name = "late";
  late.input = "the late one";
  node_in(start, "main").workers = {with, late};
  TestRun run(start);

  CHECK(run->instances.size() == 2);
  CHECK(run.dialogue(kI2) == "user: hello");  // what its parent was told
  run.replies_as(kI2, {says("seen")});
  CHECK(run.instance(kI3).name == "late");
  CHECK(run.dialogue(kI3) == "user: the late one");
}

TEST_CASE("a run does not end before those that waited for room have been there") {
  RunStarted start = a_family();
  start.limits.branches = 1;
  ChildSpec with = a_child("early", "watch");
  with.start = ChildStart::with_node;
  ChildSpec late = with;
  late.name = "late";
  node_in(start, "main").workers = {with, late};
  TestRun run(start);
  run.replies({says("nothing to do")});
  run.replies_as(kI2, {says("seen")});
  CHECK(!run.ending());
  run.replies({says("still nothing")});
  run.replies_as(kI3, {says("seen, too")});
  run.replies({says("done")});
  CHECK(run.reason() == StopReason::end_turn);
}

TEST_CASE("a spawn at depth 100 is refused in words") {
  RunStarted start = a_family();
  start.limits.branches = 1000;
  start.limits.steps = 1000;
  node_in(start, "watch").workers = {a_child("watcher", "watch")};
  TestRun run(start);
  run.replies({spawns_watcher()});
  for (std::uint32_t i = 2; i <= kDepthMax; ++i) {
    run.replies_as(InstanceId{i}, {spawns_watcher()});
  }
  CHECK(run->instances.size() == kDepthMax + 1);
  run.replies_as(InstanceId{kDepthMax + 1}, {spawns_watcher()});
  CHECK(run->instances.size() == kDepthMax + 1);
  CHECK(run.decided<CallRefused>().at(0).text == "not done: an instance has at most 100 ancestors");
}

// --- Contents ------------------------------------------------------------------------------------

TEST_CASE("what a worker cedes reaches its parent with its next step, and names the sender") {
  TestRun run(a_family());
  run.replies({spawns_watcher()});
  run.replies({says("I wait")});
  REQUIRE(run.in<Resting>());

  run.replies_as(kI2, {calls("cede", R"({"content":{"found":1}})")});

  CHECK(run.in<AwaitingModel>());
  const Message last = run.transcript().back();
  CHECK(last.heading == kFromI2);
  CHECK(*last.text.bytes() == R"({"found":1})");
  CHECK(run.yields() == Names{"tool_use", "end_turn", "cede"});
}

TEST_CASE("contents ceded while the parent's call is in flight come behind its reply") {
  TestRun run(a_family());
  run.replies({spawns_watcher()});
  run.replies_as(kI2, {says("found it")}, ReplyStop::cede);
  CHECK(run.dialogue() == "user: hello | assistant: [spawn_watcher] | c1: i2 has started.");

  run.replies({says("my answer")});  // It has not seen them: the turn goes on.

  CHECK(!run.ending());
  CHECK(run.dialogue() ==
        "user: hello | assistant: [spawn_watcher] | c1: i2 has started. | assistant: my answer | "
        "user: found it");
}

TEST_CASE("five workers that cede deliver five contents, in the order of their numbers") {
  TestRun run(a_family());
  run.replies({spawns_watcher("a"), spawns_watcher("b"), spawns_watcher("c"), spawns_watcher("d"),
               spawns_watcher("e")});
  for (const std::uint32_t id : {5U, 2U, 6U, 4U, 3U}) {
    run.replies_as(InstanceId{id}, {says("from " + std::to_string(id))});
  }
  run.replies({says("and?")});

  CHECK(run.decided<ContentsDelivered>().size() == 1);
  CHECK(
      run.dialogue().ends_with("assistant: and? | user: from 2 | user: from 3 | user: from 4 | "
                               "user: from 5 | user: from 6"));
}

TEST_CASE("a worker whose turn ends has ceded its last text") {
  TestRun run(a_family());
  run.replies({spawns_watcher()});
  run.replies({says("I wait")});
  run.replies_as(kI2, {says("first"), calls("pure")});
  run.finishes(kC2, "ok");
  run.replies_as(kI2, {says("last")});
  CHECK(run.dialogue().ends_with("assistant: I wait | user: last"));
}

TEST_CASE("the root is not offered cede; called it is refused, and stop: cede ends its turn") {
  TestRun run(a_family());
  run.replies({calls("cede", R"({"content":"x"})")});
  CHECK(run.decided<CallRefused>().at(0).text.find("nobody to cede to") != std::string::npos);

  run.replies({says("bye")}, ReplyStop::cede);
  CHECK(run.reason() == StopReason::end_turn);
  run.ends();
  CHECK(run.output() == "bye");
}

TEST_CASE("an instance that cedes takes what lives below it along") {
  RunStarted start = a_family();
  node_in(start, "watch").workers = {a_child("watcher", "watch")};
  TestRun run(start);
  run.replies({spawns_watcher()});
  run.replies_as(kI2, {spawns_watcher()});
  run.replies_as(kI2, {calls("cede", R"({"content":"enough"})")});

  CHECK(ends(run) == std::vector{EndedHow::cancelled, EndedHow::ceded});
  CHECK(live_count(run.state()) == 1);
  CHECK(run->open.size() == 1);  // the root's
}

TEST_CASE("a crash between ceding and delivery loses no content and doubles none") {
  TestRun run(a_family());
  run.replies({spawns_watcher(), spawns_watcher("b")});
  run.replies_as(kI3, {says("from 3")});
  run.crashes();
  run.replies_as(kI2, {says("from 2")});
  run.crashes();
  run.replies({says("and?")});
  run.crashes();
  CHECK(run.dialogue().ends_with("assistant: and? | user: from 2 | user: from 3"));
}

// --- The end of a turn ---------------------------------------------------------------------------

TEST_CASE("a turn that ends while workers act waits for them") {
  TestRun run(a_family());
  run.replies({spawns_watcher()});
  run.replies({says("my answer")});
  CHECK(run.in<Resting>());
  CHECK(run.status() == RunStatus::running);

  run.replies_as(kI2, {says("seen")});
  run.replies({says("all of it")});
  run.ends();

  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "all of it");
}

TEST_CASE("with workers_on_end: cancel they are cancelled, and the journal says so") {
  RunStarted start = a_family();
  node_in(start, "main").workers_on_end = WorkersOnEnd::cancel;
  TestRun run(start);
  run.replies({spawns_watcher()});
  run.replies({says("my answer")});

  CHECK(ends(run) == std::vector{EndedHow::cancelled});
  CHECK(run.reason() == StopReason::end_turn);
  run.ends();
  CHECK(run.output() == "my answer");
}

TEST_CASE("with detach the output is final at once, and the run ends done with its workers") {
  RunStarted start = a_family();
  node_in(start, "main").workers_on_end = WorkersOnEnd::detach;
  TestRun run(start);
  run.replies({spawns_watcher()});
  run.replies({says("my answer")});
  CHECK(run.decided<OutputReady>().size() == 1);
  CHECK(!run.ending());
  CHECK(run.refuses(MessageReceived{kRootInstance, Content("and?"), "u"})
            .ends_with("the output of the run is final"));

  ModelFailed failed;
  failed.instance = kI2;
  failed.effect = run.model_effect(kI2);
  failed.kind = FailureKind::permanent;
  run.takes(failed);
  run.ends();

  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "my answer");
}

// --- Failures ------------------------------------------------------------------------------------

ModelFailed fails_for_good(const TestRun& run, InstanceId instance) {
  ModelFailed failed;
  failed.instance = instance;
  failed.effect = run.model_effect(instance);
  failed.kind = FailureKind::permanent;
  failed.message = "no such key";
  return failed;
}

TEST_CASE("a worker that fails hands its failure to its parent and hurts no sibling") {
  TestRun run(a_family());
  run.replies({spawns_watcher("a"), spawns_watcher("b")});
  run.takes(fails_for_good(run, kI2));

  CHECK(!run.ending());
  CHECK(run.in<AwaitingModel>(kI3));
  run.replies_as(kI3, {says("seen")});
  run.replies({says("and?")});
  const std::vector<Message> said = run.transcript();
  CHECK(said.at(said.size() - 2).heading == "i2 (watch) has failed:");
  CHECK(said.at(said.size() - 2).text.bytes()->find("no such key") != std::string::npos);
  CHECK(*said.back().text.bytes() == "seen");
}

TEST_CASE("a loop guard stops the worker that trips it, and nobody else") {
  TestRun run(a_family());
  run.replies({spawns_watcher()});
  for (std::uint64_t call = 2; call < 4; ++call) {
    run.replies_as(kI2, {calls("pure", "1")});
    run.finishes(CallId{call}, "ok");
  }
  run.replies_as(kI2, {calls("pure", "1")});

  CHECK(ends(run) == std::vector{EndedHow::failed});
  CHECK(!run.ending());
}

TEST_CASE("a worker that reaches its node's limit of steps cedes what it has, as stopped") {
  RunStarted start = a_family();
  node_in(start, "watch").steps = 2;
  TestRun run(start);
  run.replies({spawns_watcher()});
  run.replies_as(kI2, {says("half"), calls("pure")});
  run.finishes(kC2, "ok");
  run.replies_as(kI2, {calls("pure", "2")});
  run.finishes(kC3, "ok");

  CHECK(ends(run) == std::vector{EndedHow::stopped});
  run.replies({says("and?")});
  CHECK(run.transcript().back().heading ==
        "i2 (watch) was stopped at its limit of steps, and had this:");
  CHECK(*run.transcript().back().text.bytes() == "half");
}

TEST_CASE("a root that fails fails the run when its workers have ended") {
  TestRun run(a_family());
  run.replies({spawns_watcher()});
  run.takes(fails_for_good(run, kRootInstance));
  CHECK(run.in<Failing>());
  CHECK(!run.ending());

  run.replies_as(kI2, {says("seen")});

  CHECK(run.ending());
  CHECK(run.reason() == StopReason::llm_error);
}

TEST_CASE("a transition cancels live children, and what they ceded before reaches the new node") {
  RunStarted start = a_family();
  next_of(start, "main", "go", "talker").context = NextContext::fresh;
  TestRun run(start);
  run.replies({spawns_watcher("a"), spawns_watcher("b")});
  run.replies_as(kI2, {says("from 2")});
  run.replies({says("on"), calls("transition_go", R"({"message":"Talk."})")});

  CHECK(ends(run) == std::vector{EndedHow::ceded, EndedHow::cancelled});
  CHECK(run.dialogue() == "user: Talk. | user: from 2");
}

TEST_CASE("what a cancelled worker had under way is given up, and reports too late") {
  RunStarted start = a_family();
  next_of(start, "main", "go", "talker");
  TestRun run(start);
  run.replies({spawns_watcher("a")});
  run.replies_as(kI2, {calls("once")});
  const ToolFinished late = run.finish(kC2, "done");
  run.replies({calls("transition_go")});

  CHECK(run->open.size() == 1);
  CHECK(run.refuses(late) == "tool_finished: there is no instance i2");
}

TEST_CASE("a run of many workers keeps no more of those that have ended than of the others") {
  RunStarted start = a_family();
  start.limits.steps = 1000;
  start.guards = {0, 0, 0};
  TestRun run(start);
  for (std::uint32_t id = 2; id < 100; ++id) {
    run.replies({spawns_watcher()});
    run.replies_as(InstanceId{id}, {says("seen")});
  }
  CHECK(run->instances.size() < 32);
}

}  // namespace
}  // namespace pawl::testing
