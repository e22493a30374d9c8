#include "pawl/service/worker.h"

#include <doctest/doctest.h>

#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "pawl/testing/stage/rate_limited_run_test.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

// A process: an engine of its own on a store that others use, too.
struct Process {
  Script script;
  TestLoop& loop;
  std::unique_ptr<Engine> engine;
  Service service{*engine};
  std::vector<std::string> taken;
  bool broken = false;
  Worker worker;

  Process(TestLoop& shared, MemoryJournal& store, Script replies, WorkerOptions options = {})
      : script(std::move(replies)),
        loop(shared),
        engine(std::make_unique<Engine>(
            EngineOptions{shared,
                          {&store, &store, &store, &store},
                          {},
                          [this](const PinnedCharter&) -> Result<PreparedAgent> {
                            if (broken) return Error{ErrorCode::invalid_argument, "no such model"};
                            return agent();
                          },
                          "process"})),
        worker(service, options, [this](const RunId& run, Due due, const Status& status) {
          taken.push_back(run.text + " " + std::string(status ? name(due) : "failed"));
        }) {
    service.on_ended(
        [this](const RunId& run, const Status& status) { worker.on_ended(run, status); });
  }
  PreparedAgent agent() {
    PreparedAgent agent;
    agent.charter.name = "desk";
    agent.charter.instructions = "x";
    agent.charter.model = "scripted";
    agent.executor = make_scripted_executor(script, loop);
    return agent;
  }
  void start(const std::string& id) {
    service.start({agent(), "go", RunId{id}, nullptr},
                  [](const Result<RunId>& accepted) { CHECK(accepted); });
  }
  std::string status(const std::string& id) { return service.summary_of(RunId{id})->status; }
  void look() {
    CHECK(worker.look());
    loop.advance(200);
  }
};

Script saying(std::vector<ScriptReply> replies) {
  Script script;
  script.replies = std::move(replies);
  script.after_last = Script::AfterLast::repeats_last;
  return script;
}

// A process that is gone before its runs have ended.
void leave_interrupted(TestLoop& loop, MemoryJournal& store, int runs) {
  ScriptReply slow = ScriptReply::say("Never.");
  slow.delay_ms = 60'000;
  Process gone(loop, store, saying({slow}));
  for (int i = 0; i < runs; ++i) gone.start("r" + std::to_string(i));
  loop.advance(100);
}

struct Two {
  TestLoop loop;
  MemoryJournal store{loop};
};

TEST_CASE("a worker takes up what a process left behind, some at a look") {
  Two on;
  leave_interrupted(on.loop, on.store, 20);
  Process worker(on.loop, on.store, saying({ScriptReply::say("Done.")}));
  worker.look();
  CHECK(worker.taken.size() == 8);
  CHECK_FALSE(worker.worker.is_settled());
  for (int i = 0; i < 3; ++i) worker.look();
  CHECK(worker.taken.size() == 20);
  CHECK(worker.worker.is_settled());
  for (int i = 0; i < 20; ++i) CHECK(worker.status("r" + std::to_string(i)) == "done");
}

TEST_CASE("two workers share what there is") {
  Two on;
  leave_interrupted(on.loop, on.store, 32);
  Process one(on.loop, on.store, saying({ScriptReply::say("Done.")}));
  Process other(on.loop, on.store, saying({ScriptReply::say("Done.")}));
  for (int i = 0; i < 3; ++i) {
    one.look();
    other.look();
  }
  CHECK(one.taken.size() == 16);
  CHECK(other.taken.size() == 16);
}

TEST_CASE("no more runs are driven at a time than asked for") {
  Two on;
  leave_interrupted(on.loop, on.store, 5);
  ScriptReply slow = ScriptReply::say("Late.");
  slow.delay_ms = 10'000;
  Process worker(on.loop, on.store, saying({slow}), {2, 250});
  worker.look();
  worker.look();
  CHECK(worker.worker.driven() == 2);
  on.loop.advance(10'000);
  worker.look();
  CHECK(worker.taken.size() == 4);
}

TEST_CASE("a run that was told something goes on, one that a person paused does not") {
  Two on;
  ScriptReply slow = ScriptReply::say("Never.");
  slow.delay_ms = 60'000;
  Process host(on.loop, on.store, saying({slow}));
  host.start("paused");
  on.loop.advance(100);
  CHECK(host.service.feed(RunId{"paused"}, PauseRequested{"ann"}));
  on.loop.advance(200);
  REQUIRE(host.status("paused") == "waiting");

  Process worker(on.loop, on.store, saying({ScriptReply::say("Done.")}));
  worker.look();
  CHECK(worker.taken.empty());
  host.service.post(RunId{"paused"}, MessageReceived{kRootInstance, Content("hi"), "ann"},
                    [](const Status& status) { CHECK(status); });
  on.loop.advance(50);
  worker.look();
  CHECK(worker.taken == std::vector<std::string>{"paused told"});
  CHECK(worker.status("paused") == "waiting");
  host.service.post(RunId{"paused"}, ResumeRequested{"ann"},
                    [](const Status& status) { CHECK(status); });
  on.loop.advance(50);
  worker.look();
  CHECK(worker.status("paused") == "done");
}

TEST_CASE("a run whose time has come goes on by itself") {
  Two on;
  write_paused(on.store, "r", on.loop.wall_ms());
  on.loop.advance(50);
  Process worker(on.loop, on.store, saying({ScriptReply::say("Done.")}));
  worker.look();
  CHECK(worker.taken.empty());
  on.loop.advance(kPauseMs);
  worker.look();
  CHECK(worker.taken == std::vector<std::string>{"r time"});
  CHECK(worker.status("r") == "done");
}

TEST_CASE("a worker that stops leaves its runs to the next") {
  Two on;
  leave_interrupted(on.loop, on.store, 3);
  ScriptReply slow = ScriptReply::say("Never.");
  slow.delay_ms = 60'000;
  Process first(on.loop, on.store, saying({slow}));
  first.look();
  REQUIRE(first.worker.driven() == 3);
  CHECK(first.service.feed(RunId{"r1"}, PauseRequested{"ann"}));  // and this is a person's
  bool stopped = false;
  first.worker.stop("worker", [&] { stopped = true; });
  on.loop.advance(1'000);
  CHECK(stopped);
  first.look();
  CHECK(first.worker.driven() == 0);

  Process next(on.loop, on.store, saying({ScriptReply::say("Done.")}));
  next.look();
  CHECK(next.status("r0") == "done");
  CHECK(next.status("r1") == "waiting");
  CHECK(next.status("r2") == "done");
}

TEST_CASE("a run that cannot be taken up is left alone for longer and longer") {
  Two on;
  leave_interrupted(on.loop, on.store, 1);
  Process worker(on.loop, on.store, saying({ScriptReply::say("Done.")}));
  worker.broken = true;
  worker.look();
  worker.look();
  CHECK(worker.taken == std::vector<std::string>{"r0 failed"});
  on.loop.advance(1'000);
  worker.look();
  on.loop.advance(1'000);
  worker.look();  // two seconds, now
  CHECK(worker.taken.size() == 2);
  worker.broken = false;
  on.loop.advance(1'000);
  worker.look();
  CHECK(worker.status("r0") == "done");
}

}  // namespace
}  // namespace pawl
