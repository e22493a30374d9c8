// Messages that are accepted in the last moment of a run.
#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/service/housekeeping.h"
#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {
namespace {

// Somebody posts just when the driver hands over the record that ends the run.
class LastMoment final : public Journal {
 public:
  LastMoment(MemoryJournal& inner, Loop& loop) : inner_(inner), loop_(loop) {}
  Result<RunLease> acquire(const RunId& run) override { return inner_.acquire(run); }
  Status quarantine(const RunId& run, const std::string& why) override {
    return inner_.quarantine(run, why);
  }
  void append(Append append, StatusCallback done) override {
    if (ends_run(append) && !events.empty()) {
      const Event event = events.front();
      events.erase(events.begin());
      inner_.post(append.run, loop_.wall_ms(), encode_event(event),
                  [this](const Status& status) { accepted += status ? 1 : 0; });
      if (meanwhile) meanwhile();
    }
    inner_.append(std::move(append), [this, done = std::move(done)](const Status& status) {
      if (!status) refusals.push_back(status.error().message);
      done(status);
    });
  }

  std::vector<Event> events;        // to be posted, one at each end
  std::function<void()> meanwhile;  // between the post and the end
  int accepted = 0;
  std::vector<std::string> refusals;

 private:
  MemoryJournal& inner_;
  Loop& loop_;
};

struct LastMomentStage : RunStage {
  using RunStage::RunStage;
  LastMoment writer{journal, loop};
  CallbackRegistry callbacks;
  std::unique_ptr<Engine> late;

  RunSummary run(Limits limits = {}) {
    late = std::make_unique<Engine>(
        EngineOptions{loop, {&writer, &journal, &journal, &journal}, callbacks, source(), "late"});
    PreparedAgent made = agent();
    made.charter.limits = limits;
    late->start({std::move(made), "go", RunId{"r"}, nullptr},
                [](const Result<RunId>& accepted) { REQUIRE(accepted); });
    loop.advance(3'000);
    return journal.list({})->front();
  }
  std::vector<std::string> events() {
    std::vector<std::string> names;
    JournalWalker walker(journal, RunId{"r"});
    REQUIRE(walker.walk([&](const Record& record, const Run&) {
      names.emplace_back(name(record.event));
      return true;
    }));
    return names;
  }
};

Event message(const std::string& text) {
  return MessageReceived{kRootInstance, Content(text), "operator"};
}

TEST_CASE("a message that is accepted while the end is on its way opens another turn") {
  LastMomentStage stage(
      scripted({ScriptReply::say("one"), ScriptReply::say("two"), ScriptReply::say("three")}));
  stage.writer.events = {message("first"), message("second")};

  const RunSummary run = stage.run();

  CHECK(run.status == "done");
  CHECK(stage.writer.accepted == 2);
  CHECK(stage.writer.refusals.size() == 2);
  CHECK(stage.events() == std::vector<std::string>{
                              "run_started", "model_replied", "message_received", "model_replied",
                              "message_received", "model_replied", "run_finished"});
  CHECK(stage.service.show(RunId{"r"})->output == "three");
  CHECK(stage.journal.pending(RunId{"r"})->empty());
}

TEST_CASE("a look into the inbox while the end is on its way refuses nothing") {
  LastMomentStage stage(scripted({ScriptReply::say("one"), ScriptReply::say("two")}));
  stage.writer.events = {message("first")};
  stage.writer.meanwhile = [&stage] { stage.late->notice(RunId{"r"}); };

  const RunSummary run = stage.run();

  CHECK(run.status == "done");
  CHECK(stage.writer.accepted == 1);
  CHECK(stage.service.show(RunId{"r"})->output == "two");
  CHECK(stage.journal.pending(RunId{"r"})->empty());
}

TEST_CASE("a message that a run cannot answer any more leaves the inbox, and the run ends") {
  LastMomentStage stage(scripted({ScriptReply::say("one")}));
  stage.writer.events = {message("first"), message("second")};
  Limits limits;
  limits.steps = 1;
  int asked = 0;
  stage.callbacks.after_agent.push_back([&asked](const AgentCallbackContext&) {
    ++asked;
    return CallbackResult::proceed();
  });

  const RunSummary run = stage.run(limits);

  CHECK(run.status == "done");
  CHECK(stage.writer.accepted == 2);
  CHECK(asked == 3);
  CHECK(stage.events().back() == "run_finished");
  CHECK(stage.journal.pending(RunId{"r"})->empty());
}

TEST_CASE("a cancellation that is accepted while the end is on its way is taken") {
  LastMomentStage stage(scripted({ScriptReply::say("one")}));
  stage.writer.events = {CancelRequested{"operator", "enough"}};

  const RunSummary run = stage.run();

  CHECK(stage.writer.accepted == 1);
  CHECK(stage.journal.pending(RunId{"r"})->empty());
  const auto events = stage.events();
  CHECK(std::find(events.begin(), events.end(), "cancel_requested") != events.end());
  CHECK(is_over(run));
}

TEST_CASE("a message that comes while a waiting run is being let go is taken up") {
  ScriptReply suspending = ScriptReply::say("wait");
  std::get<ScriptSpeech>(suspending.outcome).stop = ReplyStop::suspend;
  RunStage stage(scripted({suspending}));
  const RunId id{"r"};
  PreparedAgent made = stage.agent();
  // After the driver's last look, before the run is free.
  made.release = [&stage, posted = false](const RunId& run) mutable {
    if (std::exchange(posted, true)) return;
    CHECK(*stage.journal.is_driven(run));
    stage.journal.post(run, 1, encode_event(message("hello")),
                       [](const Status& status) { CHECK(status); });
  };
  stage.service.start({std::move(made), "go", id, nullptr},
                      [](const Result<RunId>& accepted) { REQUIRE(accepted); });
  stage.loop.advance(300);

  CHECK(stage.journal.pending(id)->empty());
  CHECK_FALSE(*stage.journal.is_driven(id));
  CHECK(stage.journal.list({})->front().status == "waiting");
  bool received = false;
  for (const Record& record : decoded(stage.records(id))) {
    received = received || std::holds_alternative<MessageReceived>(record.event);
  }
  CHECK(received);
}

TEST_CASE("messages that never stop leave the run to be taken up again") {
  LastMomentStage stage(scripted({ScriptReply::say("one")}));
  stage.writer.events.assign(1'100, message("again"));
  Limits limits;
  limits.steps = 1;

  const RunSummary run = stage.run(limits);

  CHECK(run.status == "running");
  CHECK_FALSE(*stage.journal.is_driven(RunId{"r"}));
  stage.writer.events.clear();
  REQUIRE(stage.late->resume(RunId{"r"}));
  stage.loop.advance(3'000);
  CHECK(stage.journal.list({})->front().status == "done");
}

}  // namespace
}  // namespace pawl
