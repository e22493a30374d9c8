#include "pawl/service/housekeeping.h"

#include <doctest/doctest.h>

#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

constexpr std::int64_t kNowMs = 1'000'000;

StoredRun stored(const std::string& id, const std::string& status, std::int64_t age_ms,
                 std::uint64_t bytes = 100) {
  return {RunSummary{RunId{id}, "default", "t", status, "", 0, kNowMs - age_ms, 1}, false, bytes};
}

std::string chosen(const std::vector<StoredRun>& runs, const KeepRules& rules) {
  std::string ids;
  for (const StoredRun& run : choose_removals(runs, rules, kNowMs)) ids += run.summary.id.text;
  return ids;
}

// Newest first, as lists are.
const std::vector<StoredRun> kRuns = {
    stored("a", "done", 10),      stored("b", "waiting", 20), stored("c", "failed", 30),
    stored("d", "running", 40),   stored("e", "stopped", 50), stored("f", "quarantined", 60),
    stored("g", "cancelled", 70),
};

TEST_CASE("age, number and size choose among the runs that are over, oldest first") {
  CHECK(chosen(kRuns, {}) == "");
  CHECK(chosen(kRuns, {.older_than_ms = 50}) == "g");
  CHECK(chosen(kRuns, {.keep = 2}) == "ge");
  CHECK(chosen(kRuns, {.keep = 0}) == "geca");
  CHECK(chosen(kRuns, {.bytes_max = 550}) == "ge");
  CHECK(chosen(kRuns, {.bytes_max = 700}) == "");
  CHECK(chosen(kRuns, {.bytes_max = 0}) == "geca");
  CHECK(chosen(kRuns, {.older_than_ms = 60, .bytes_max = 450}) == "gec");
  CHECK(chosen(kRuns, {.older_than_ms = 25, .keep = 1}) == "gec");
}

TEST_CASE("of runs that a rule removes anyway, newer ones count as newer") {
  const std::vector<StoredRun> runs = {stored("a", "done", 60), stored("b", "done", 10),
                                       stored("c", "done", 20)};
  CHECK(chosen(runs, {.older_than_ms = 50, .keep = 2}) == "ca");
}

TEST_CASE("what is damaged goes by no rule without force, what was for looking only does") {
  std::vector<StoredRun> runs = {stored("a", "quarantined", 10), stored("b", "quarantined", 20)};
  runs[0].summary.reason = "for looking only: redacted";
  runs[1].summary.reason = "record 3 of run b is damaged";

  CHECK(chosen(runs, {.keep = 0}) == "a");
  CHECK(chosen(runs, {.keep = 0, .force = Force::yes}) == "ba");
  CHECK(may_be_removed(runs[1], Force::no));  // by its name
}

TEST_CASE("force takes waiting and interrupted runs too, but none that is driven") {
  std::vector<StoredRun> runs = kRuns;
  runs[3].driven = true;

  CHECK(chosen(runs, {.keep = 0, .force = Force::yes}) == "gfecba");
  CHECK(chosen(kRuns, {.keep = 0, .force = Force::yes}) == "gfedcba");
}

struct Desk {
  TestLoop loop;
  MemoryJournal memory{loop};
  Engine engine{{loop, {&memory, &memory, &memory, &memory, &memory}, {}, {}, "desk"}};
  Service service{engine};
  Housekeeping housekeeping{service};

  void start(const std::string& id, std::uint64_t delay_ms) {
    ScriptReply reply = ScriptReply::say("hi");
    reply.delay_ms = delay_ms;
    Script script;
    script.replies = {reply};
    PreparedAgent agent;
    agent.charter.name = "desk";
    agent.charter.instructions = "x";
    agent.charter.model = "scripted";
    agent.executor = make_scripted_executor(script, loop);
    engine.start({agent, "go", RunId{id}, nullptr}, [](const Result<RunId>&) {});
    loop.advance(200);
  }
  std::string remove(const std::string& id, Force force) {
    std::optional<Status> removed;
    housekeeping.remove(RunId{id}, force, [&](const Status& status) { removed = status; });
    CHECK_FALSE(removed);
    loop.advance(10);
    REQUIRE(removed);
    return *removed ? "ok" : removed->error().message;
  }
};

TEST_CASE("a run is removed when it is over, and refused with the remedy when it is not") {
  Desk desk;
  desk.start("over", 0);
  desk.start("live", 60'000);

  CHECK(desk.remove("live", Force::yes).find("pawl cancel live") != std::string::npos);
  CHECK(desk.remove("over", Force::no) == "ok");
  CHECK(desk.remove("over", Force::no).find("no run over") != std::string::npos);
  CHECK(desk.service.list({})->size() == 1);
}

TEST_CASE("a run that could be carried on goes by force only") {
  Desk desk;
  {
    Engine other({desk.loop, desk.engine.store(), {}, {}, "other"});
    ScriptReply slow = ScriptReply::say("hi");
    slow.delay_ms = 60'000;
    Script script;
    script.replies = {slow};
    PreparedAgent agent;
    agent.charter.name = "desk";
    agent.charter.instructions = "x";
    agent.charter.model = "scripted";
    agent.executor = make_scripted_executor(script, desk.loop);
    other.start({agent, "go", RunId{"r"}, nullptr}, [](const Result<RunId>&) {});
    desk.loop.advance(200);
  }

  CHECK(desk.remove("r", Force::no).find("is interrupted") != std::string::npos);
  CHECK(desk.housekeeping.choose({.keep = 0})->empty());
  CHECK(desk.housekeeping.choose({.keep = 0, .force = Force::yes})->size() == 1);
  CHECK(desk.remove("r", Force::yes) == "ok");
}

TEST_CASE("a store without upkeep says what it cannot do") {
  TestLoop loop;
  MemoryJournal memory(loop);
  Engine engine({loop, {&memory, &memory, &memory, &memory}, {}, {}, "desk"});
  Service service(engine);
  Housekeeping housekeeping(service);
  std::vector<std::string> said;

  housekeeping.remove(RunId{"r"}, Force::no,
                      [&](const Status& status) { said.push_back(status.error().message); });
  housekeeping.compact(
      [&](const Result<std::uint64_t>& bytes) { said.push_back(bytes.error().message); });
  housekeeping.backup("somewhere",
                      [&](const Status& status) { said.push_back(status.error().message); });
  loop.run_posted();

  CHECK(said == std::vector<std::string>{"this store cannot remove runs",
                                         "this store cannot give space back",
                                         "this store cannot be copied"});
  CHECK_FALSE(housekeeping.choose({}));
}

}  // namespace
}  // namespace pawl
