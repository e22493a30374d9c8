// What follows from how a reply ended.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("the first truncated reply is followed by one turn that wraps up") {
  TestRun run;

  run.replies({says("half a sen")}, ReplyStop::max_tokens);

  CHECK(run.yields() == Names{"max_tokens"});
  CHECK(run.started<CallModel>() == 2);
  CHECK(run.dialogue() == "user: hello | assistant: half a sen | user: " +
                              std::string(rules_of(kSemantics).say.wrap_up));

  run.replies({says("in short: yes")});
  run.ends();
  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "in short: yes");
}

TEST_CASE("a second truncated reply ends the run with what there is") {
  TestRun run;
  run.replies({says("half")}, ReplyStop::max_tokens);

  run.replies({says("another half")}, ReplyStop::max_tokens);

  CHECK(run.reason() == StopReason::max_tokens);
  CHECK(run.yields() == Names{"max_tokens", "max_tokens"});
  run.ends();
  CHECK(run.status() == RunStatus::stopped);
  CHECK(run.output() == "another half");
}

TEST_CASE("the recovery is once in a run, not once in a row") {
  TestRun run;
  run.replies({says("half")}, ReplyStop::max_tokens);
  run.replies({calls("pure")});
  run.finishes(kC1, "ok");

  run.replies({says("half again")}, ReplyStop::max_tokens);

  CHECK(run.reason() == StopReason::max_tokens);
}

TEST_CASE("calls in a truncated reply are answered and never run") {
  TestRun run;

  run.replies({calls("once", "1"), calls("once", R"({"amo)")}, ReplyStop::max_tokens);

  CHECK(run.started<RunTool>() == 0);
  const std::string refused = "! not run: the reply was cut off at the output limit | ";
  CHECK(run.dialogue() == "user: hello | assistant: [once] [once] | c1" + refused + "c2" + refused +
                              "user: " + std::string(rules_of(kSemantics).say.wrap_up));
  CHECK(run.instance().guard.tool_errors == 0);
}

TEST_CASE("calls in a second truncated reply are not run either") {
  TestRun run;
  run.replies({says("half")}, ReplyStop::max_tokens);

  run.replies({calls("once", "1")}, ReplyStop::max_tokens);

  CHECK(run.reason() == StopReason::max_tokens);
  CHECK(run.started<RunTool>() == 0);
}

TEST_CASE("a refusal stops the run with its text") {
  TestRun run;
  ModelReplied reply = run.reply({says("I will not.")}, ReplyStop::refusal);
  reply.stop_detail = "safety";

  run.takes(reply);
  run.ends();

  CHECK(run.status() == RunStatus::stopped);
  CHECK(run.reason() == StopReason::refusal);
  CHECK(std::get<Ending>(run->course).detail == "safety");
  CHECK(run.output() == "I will not.");
}

TEST_CASE("a reply of more blocks than a reply may have fails the run, and none of its calls run") {
  TestRun run;
  TestRun full = run;
  std::vector<Block> blocks(kBlocksPerReplyMax, says("x"));
  full.replies(blocks);
  CHECK(full.reason() == StopReason::end_turn);
  blocks.push_back(calls("once"));

  run.replies(blocks);

  CHECK(run.decided<CallOpened>().empty());
  CHECK(std::get<Ending>(run->course).status == RunStatus::failed);
  CHECK(run.reason() == StopReason::validation_error);
  CHECK(std::get<Ending>(run->course).detail ==
        "the reply has 257 blocks; a reply has at most 256");

  TestRun turn;
  turn.replies({says("you")}, ReplyStop::external);
  CHECK(turn.refuses(ExternalTurnPushed{kRootInstance, blocks, {}, "host"}) ==
        "external_turn_pushed has 257 blocks; a turn has at most 256");
}

TEST_CASE("calls are run even if the provider calls the stop end_turn, and none need be there") {
  TestRun some;
  some.replies({calls("pure")}, ReplyStop::end_turn);
  CHECK(some.yields() == Names{"tool_use"});

  TestRun none;
  none.replies({says("done")}, ReplyStop::tool_use);
  CHECK(none.yields() == Names{"end_turn"});
  CHECK(none.reason() == StopReason::end_turn);
}

TEST_CASE("an empty reply ends the turn without an output") {
  TestRun run;

  run.replies({});
  run.ends();

  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "(none)");
  CHECK(run.dialogue() == "user: hello");
}

TEST_CASE("a step is recorded under the reason it ended with, even when a bound stops the run") {
  Limits limits;
  limits.tokens = 10;
  TestRun run(with_limits(limits));
  ModelReplied reply = run.reply({says("half")}, ReplyStop::max_tokens);
  reply.usage = tokens(11);

  run.takes(reply);

  CHECK(run.reason() == StopReason::tokens);
  CHECK(run.yields() == Names{"max_tokens"});
}

TEST_CASE("the last three steps know how many remain, and each is warned in its own words") {
  Limits limits;
  limits.steps = 5;
  TestRun run(with_limits(limits));
  std::vector<std::uint64_t> left;
  for (int i = 1; i <= 5; ++i) {
    left.push_back(std::get<CallModel>(run.last().effects.back()).steps_left);
    run.replies({calls("pure", std::to_string(i))});
    if (i < 5) run.finishes(CallId{run->calls_minted}, "ok");
  }

  CHECK(left == std::vector<std::uint64_t>{4, 3, 2, 1, 0});
  CHECK(step_warning(rules_of(kSemantics), 4) == "");
  CHECK(step_warning(rules_of(kSemantics), 3) == "");
  CHECK(step_warning(rules_of(kSemantics), 2) ==
        "Two steps remain after this one. Start to bring your work to an end.");
  CHECK(step_warning(rules_of(kSemantics), 1) ==
        "One step remains after this one. Finish what you are doing and prepare your final "
        "answer.");
  CHECK(step_warning(rules_of(kSemantics), 0) ==
        "This is your last step. Call no tools: give your final answer now.");
}

TEST_CASE("a retry of the last step is still the last step") {
  Limits limits;
  limits.steps = 1;
  TestRun run(with_limits(limits));
  run.fails(ErrorCategory::timeout);

  run.later(500).ticks();

  CHECK(std::get<CallModel>(run.last().effects.at(0)).steps_left == 0);
}

TEST_CASE("a session has heard what was said, and of a reply without a word no more than that") {
  TestRun run;
  ModelReplied reply = run.reply({}, ReplyStop::pause_turn);
  reply.session = "s-1";
  run.takes(reply);

  REQUIRE(run.instance().sessions.size() == 1);
  CHECK(run.instance().sessions[0].length == run.instance().transcript.size());
}

TEST_CASE("the session of an executor is kept until it gives another") {
  TestRun run;
  ModelReplied reply = run.reply({calls("pure")});
  reply.session = "s-1";
  run.takes(reply);
  run.finishes(kC1, "ok");
  REQUIRE(run.instance().sessions.size() == 1);
  CHECK(run.instance().sessions[0].handle == "s-1");
  CHECK(run.instance().sessions[0].length == 2);  // the input and this reply

  run.replies({calls("pure", "2")});
  CHECK(run.instance().sessions.at(0).handle == "s-1");
}

}  // namespace
}  // namespace pawl::testing
