// The loop guards, and calls that the kernel answers itself.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

RunStarted with_guards(const Guards& guards) {
  RunStarted start = a_start();
  start.guards = guards;
  return start;
}

// One step: a reply with one call, and its result.
void steps(TestRun& run, const std::string& text, const std::string& input,
           ToolEnd end = ToolEnd::succeeded) {
  run.replies({says(text), calls("pure", input)});
  if (!run.ending()) run.finishes(CallId{run->calls_minted}, "result", end);
}

std::string why(const TestRun& run) {
  const Ending* ending = std::get_if<Ending>(&run->course);
  return ending == nullptr ? "(goes on)" : ending->detail;
}

TEST_CASE("the third identical call in a row is not run any more") {
  TestRun run;
  steps(run, "a", "{}");
  steps(run, "b", "{}");
  REQUIRE(!run.ending());

  run.replies({says("c"), calls("pure", "{}")});

  CHECK(run.reason() == StopReason::repeated_call);
  CHECK(why(run) == "guard identical_calls: 3 identical calls of pure in a row");
  CHECK(run.started<RunTool>() == 2);
  CHECK(run.last().effects == Effects{EndAgent{EffectId{6}}});
  run.ends();
  CHECK(run.status() == RunStatus::stopped);
  CHECK(run.output() == "c");
}

TEST_CASE("identical calls of one reply count, and the guard names the tool that was repeated") {
  TestRun run;

  run.replies({calls("once"), calls("once"), calls("once"), calls("pure")});

  CHECK(run.reason() == StopReason::repeated_call);
  CHECK(why(run) == "guard identical_calls: 3 identical calls of once in a row");
  CHECK(run.started<RunTool>() == 0);
}

TEST_CASE("a differing call starts the count of identical calls anew") {
  for (const Block& differing : {calls("idem", "{}"), calls("pure", "{ }")}) {
    TestRun run;
    steps(run, "a", "{}");
    steps(run, "b", "{}");
    run.replies({says("c"), differing});
    run.finishes(kC3, "result");
    steps(run, "d", "{}");
    steps(run, "e", "{}");
    CHECK(!run.ending());

    steps(run, "f", "{}");
    CHECK(run.reason() == StopReason::repeated_call);
  }
}

TEST_CASE("identical calls that are refused count like any other") {
  Guards guards;
  guards.tool_errors = 0;
  for (const Block& refused : {calls("nope"), calls_wrongly("pure", "/n: missing")}) {
    TestRun run(with_guards(guards));
    run.replies({says("a"), refused});
    run.replies({says("b"), refused});
    REQUIRE(!run.ending());

    run.replies({says("c"), refused});

    CHECK(run.reason() == StopReason::repeated_call);
  }
}

TEST_CASE("the third identical step in a row ends the run, whatever its calls") {
  Guards guards;
  guards.identical_calls = 0;
  TestRun run(with_guards(guards));
  steps(run, "same", "{}");
  steps(run, "same", "{}");
  REQUIRE(!run.ending());

  steps(run, "same", "{}");

  CHECK(run.reason() == StopReason::repeated_step);
  CHECK(why(run) == "guard identical_steps: 3 identical steps in a row");
  CHECK(run.started<RunTool>() == 2);
}

TEST_CASE("a differing step starts the count of identical steps anew") {
  Guards guards;
  guards.identical_calls = 0;
  TestRun run(with_guards(guards));
  for (const char* text : {"same", "same", "other", "same", "same"}) steps(run, text, "{}");
  CHECK(!run.ending());

  steps(run, "same", "{}");
  CHECK(run.reason() == StopReason::repeated_step);
}

TEST_CASE("the third tool error in a row ends the run, and a success starts anew") {
  TestRun run;
  steps(run, "a", "1", ToolEnd::failed);
  steps(run, "b", "2", ToolEnd::denied);
  steps(run, "c", "3");
  steps(run, "d", "4", ToolEnd::denied);
  steps(run, "e", "5", ToolEnd::failed);
  REQUIRE(!run.ending());

  steps(run, "f", "6", ToolEnd::failed);

  CHECK(run.reason() == StopReason::tool_errors);
  CHECK(why(run) == "guard tool_errors: 3 tool errors in a row");
  CHECK(run.started<CallModel>() == 6);
}

TEST_CASE("a guard that trips lets what runs beside it end, and asks it to") {
  Guards guards;
  guards.tool_errors = 1;
  TestRun run(with_guards(guards));
  run.replies({calls("pure", "1"), calls("once", "2")});

  run.finishes(kC1, "no", ToolEnd::failed);

  CHECK(run.reason() == StopReason::tool_errors);
  CHECK(run.last().effects == Effects{AbortEffect{EffectId{3}}});
  run.finishes(kC2, "it was done all the same");
  CHECK(run.last().effects == Effects{EndAgent{EffectId{4}}});
}

TEST_CASE("0 switches a guard off") {
  TestRun run(with_guards({0, 0, 0}));

  for (int i = 0; i < 20; ++i) steps(run, "same", "{}", ToolEnd::failed);

  CHECK(!run.ending());
}

TEST_CASE("a guard of 1 stops the first") {
  TestRun call(with_guards({1, 0, 0}));
  call.replies({calls("once")});
  CHECK(call.reason() == StopReason::repeated_call);

  TestRun step(with_guards({0, 1, 0}));
  step.replies({calls("once")});
  CHECK(step.reason() == StopReason::repeated_step);
}

TEST_CASE("answers are no loop, however often they are the same") {
  TestRun run;

  for (int i = 0; i < 5; ++i) {
    run.replies({says("ok")});
    run.hears("again");
  }

  CHECK(!run.ending());
}

// --- Calls that are not run -------------------------------------------------------------------

TEST_CASE("an unknown tool is refused in words, and the model goes on") {
  TestRun run;

  run.replies({calls("rm", R"({"path":"/"})")});

  CHECK(run.started<RunTool>() == 0);
  CHECK(run.started<CallModel>() == 2);
  CHECK(run.dialogue() ==
        "user: hello | assistant: [rm] | c1! unknown tool; the tools are: pure, idem, recon, once, "
        "tell");
}

TEST_CASE("a run without tools says so") {
  RunStarted start = a_start();
  start.tools.clear();
  TestRun run(start);

  run.replies({calls("anything")});

  CHECK(run.dialogue() ==
        "user: hello | assistant: [anything] | c1! unknown tool; the tools are: none");
}

TEST_CASE("invalid arguments are refused in words, and the other calls run") {
  TestRun run;

  run.replies({calls_wrongly("once", "/amount: not an integer"), calls("once", "1")});

  CHECK(run.last().effects == Effects{RunTool{EffectId{2}, kRootInstance, kC2, 1}});
  CHECK(run->tally.tool_calls == 2);
  run.finishes(kC2, "paid");
  CHECK(run.dialogue() ==
        "user: hello | assistant: [once] [once] | c1! not run, the arguments are invalid: "
        "/amount: not an integer | c2: paid");
}

TEST_CASE("refused calls are tool errors: the third in a row ends the run") {
  TestRun run;
  run.replies({calls("rm", "1")});
  run.replies({calls_wrongly("pure", "no")});
  REQUIRE(!run.ending());

  run.replies({calls("once", "1"), calls("rm", "2")});

  CHECK(run.reason() == StopReason::tool_errors);
  CHECK(run.started<RunTool>() == 0);
}

}  // namespace
}  // namespace pawl::testing
