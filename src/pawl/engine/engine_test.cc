// What an engine makes of runs that are driven already, are over, or need what this process lacks.
#include "pawl/engine/engine.h"

#include <stdexcept>

#include "pawl/testing/stage/run_stage_test.h"
#include "tests/support/forwarding_reader.h"

namespace pawl {
namespace {

// Never answers, of any class; asking about it throws.
class MuteTool final : public Tool {
 public:
  explicit MuteTool(EffectClass effect) {
    spec_.name = "mute";
    spec_.effect = effect;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    attempts.push_back(invocation.attempt);
    answer = std::move(done);
    return std::make_unique<CountingTool::Running>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    throw std::runtime_error("nobody knows");
  }

  std::vector<std::uint32_t> attempts;
  std::function<void(ToolOutcome)> answer;  // of the last attempt, for a test that wants one

 private:
  ToolSpec spec_;
};

// A disk that loses a bit of a record while the run is driven.
class WornReader final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;
  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    PAWL_TRY(auto records, ForwardingReader::read(run, from, bytes_max));
    for (StoredRecord& record : records) {
      if (worn && record.seq == 1) record.bytes[record.bytes.size() / 2] ^= 4;
    }
    return records;
  }

  bool worn = false;
};

// A catalogue of messages that can be out of order.
class MoodyInbox final : public Inbox {
 public:
  explicit MoodyInbox(Inbox& inner) : inner_(inner) {}
  void post(const RunId& run, std::int64_t at_ms, std::string body, StatusCallback done) override {
    inner_.post(run, at_ms, std::move(body), std::move(done));
  }
  void drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
            StatusCallback done) override {
    inner_.drop(run, epoch, std::move(rows), std::move(done));
  }
  Result<std::vector<InboxRow>> pending(const RunId& run) override { return inner_.pending(run); }
  Result<std::vector<RunId>> addressed() override {
    if (refusals > 0) {
      --refusals;
      return Error{ErrorCode::unavailable, "the disk says no"};
    }
    return inner_.addressed();
  }

  int refusals = 0;

 private:
  Inbox& inner_;
};

struct Works {
  explicit Works(EffectClass effect) : tool(std::make_shared<MuteTool>(effect)) { process(); }

  // Another process in the place of the one before.
  void process() {
    engine.reset();
    const AgentSource source = [this](const PinnedCharter&) -> Result<PreparedAgent> {
      if (!has_agent) return Error{ErrorCode::invalid_argument, "no such agent here"};
      return agent();
    };
    engine = std::make_unique<Engine>(
        EngineOptions{loop, {&journal, &reader, &journal, &inbox}, {}, source, "works"});
  }
  PreparedAgent agent() {
    PreparedAgent made;
    made.charter.name = "works";
    made.charter.instructions = "Go.";
    made.charter.model = "scripted";
    made.executor = make_scripted_executor(
        scripted({ScriptReply::call("mute"), ScriptReply::say("Over.")}), loop);
    if (has_tool) made.tools.push_back(tool);
    return made;
  }
  void start() {
    engine->start({agent(), "go", id, nullptr},
                  [](const Result<RunId>& accepted) { CHECK(accepted); });
    loop.advance(300);
  }
  Status take_over() {
    process();
    const Status taken = engine->resume(id);
    loop.advance(300);
    return taken;
  }
  RunSummary listed() { return journal.list({})->front(); }
  std::size_t length() { return journal.read(id, 0, SIZE_MAX)->size(); }
  std::string last_result() {
    for (const Record& record : decoded(*journal.read(id, 0, SIZE_MAX))) {
      const auto* finished = std::get_if<ToolFinished>(&record.event);
      if (finished != nullptr) return std::string(name(finished->end));
    }
    return "none";
  }

  TestLoop loop;
  MemoryJournal journal{loop};
  MoodyInbox inbox{journal};
  WornReader reader{journal};
  std::shared_ptr<MuteTool> tool;
  bool has_agent = true;
  bool has_tool = true;
  std::unique_ptr<Engine> engine;
  const RunId id{"r"};
};

TEST_CASE("a run that is driven here is not taken up a second time") {
  Works works(EffectClass::once);
  works.start();
  const std::size_t before = works.length();
  CHECK(works.engine->resume(works.id));
  works.loop.advance(300);
  CHECK(works.length() == before);
  CHECK(works.engine->live() == 1);
}

TEST_CASE("a run that is over is not taken up, and nothing is written") {
  Works works(EffectClass::pure);
  works.has_tool = false;  // refused: an unknown tool
  works.start();
  REQUIRE(works.listed().status == "done");
  const std::size_t before = works.length();
  const Status again = works.take_over();
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::conflict);
  CHECK(again.error().message.find("is over") != std::string::npos);
  CHECK(works.length() == before);
  CHECK(works.engine->live() == 0);
}

TEST_CASE("a run that is over can be reopened, however often it was asked to go on") {
  Works works(EffectClass::pure);
  works.has_tool = false;
  works.start();
  RunReopened lower{"somebody", Limits{}, {}, Content("and now?")};
  lower.limits->steps = 0;
  for (int i = 0; i < kFailedLoadsMax; ++i) {
    CHECK_FALSE(works.take_over());
    CHECK_FALSE(works.engine->reopen(works.id, lower));
  }
  CHECK(works.listed().status == "done");
  CHECK(works.engine->reopen(works.id, RunReopened{"somebody", {}, {}, Content("and now?")}));
}

TEST_CASE("a run that had many drivers in another store is reopened in this one") {
  Works works(EffectClass::pure);
  works.start();
  for (int i = 0; i < 3; ++i) REQUIRE(works.take_over());
  works.has_tool = false;
  REQUIRE(works.take_over());
  REQUIRE(works.listed().status == "done");
  MemoryJournal other(works.loop);
  write_journal(other, works.loop, works.id, decoded(*works.journal.read(works.id, 0, SIZE_MAX)));
  const AgentSource source = [&](const PinnedCharter&) -> Result<PreparedAgent> {
    return works.agent();
  };
  Engine engine(EngineOptions{works.loop, {&other, &other, &other, &other}, {}, source, "other"});

  const Status reopened =
      engine.reopen(works.id, RunReopened{"somebody", {}, {}, Content("and now?")});

  CHECK_MESSAGE(reopened, reopened.error().message);
}

TEST_CASE("a run is not reopened without what its model has read") {
  RunStage stage(scripted({ScriptReply::call("note", "{}"), ScriptReply::say("done")}));
  stage.tool->padding = std::string(10'000, 'x');  // a blob
  const RunId id = stage.start("r");
  const std::size_t length = stage.records(id).size();
  Expiry expiry{id, length, {}, stage.loop.wall_ms()};
  const auto kept = stage.journal.kept_blobs(id);
  REQUIRE(kept->size() == 1);
  expiry.blobs.push_back(kept->front().digest);
  stage.journal.expire(expiry, [](const Status& expired) { CHECK(expired); });
  stage.loop.run_posted();

  const Status reopened =
      stage.engine.reopen(id, RunReopened{"somebody", {}, {}, Content("and now?")});

  REQUIRE_FALSE(reopened);
  CHECK(reopened.error().message.find("expired") != std::string::npos);
  CHECK(stage.records(id).size() == length);
  CHECK(stage.service.summary_of(id)->status == "done");
}

TEST_CASE("sc-R05: what this process lacks is no failed load, however often it is tried") {
  Works works(EffectClass::pure);
  works.start();
  works.has_agent = false;
  for (int i = 0; i < 2 * kFailedLoadsMax; ++i) CHECK_FALSE(works.take_over());
  works.has_agent = true;
  CHECK(works.take_over());
  CHECK(works.listed().status == "running");
}

TEST_CASE("sc-R04: a tool that is gone after an upgrade has failed, and was not run") {
  Works works(EffectClass::pure);
  works.start();
  REQUIRE(works.tool->attempts.size() == 1);
  works.has_tool = false;
  CHECK(works.take_over());
  CHECK(works.last_result() == "failed");
  CHECK(works.tool->attempts.size() == 1);
  CHECK(works.listed().status == "done");
}

TEST_CASE("sc-E05: a reconcilable call whose tool is gone, or cannot be asked, is in doubt") {
  for (const bool gone : {true, false}) {
    CAPTURE(gone);
    Works works(EffectClass::reconcilable);
    works.start();
    works.has_tool = !gone;
    CHECK(works.take_over());
    CHECK(works.listed().status == "waiting");
    CHECK(works.listed().reason == "in_doubt");
    CHECK(works.tool->attempts.size() == 1);
  }
}

TEST_CASE("every attempt at a call has its number") {
  Works works(EffectClass::pure);
  works.start();
  CHECK(works.take_over());
  CHECK(works.take_over());
  CHECK(works.tool->attempts == std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("sc-D05: damage that is met while a run is driven quarantines it, and names the record") {
  Works works(EffectClass::pure);
  works.start();
  works.reader.worn = true;
  // Another attempt reads what the model wrote.
  works.tool->answer({ToolOutcome::Kind::timed_out, "", 0});
  works.loop.advance(300);
  CHECK(works.engine->live() == 0);
  CHECK(works.tool->attempts.size() == 1);
  CHECK(works.listed().status == "quarantined");
  CHECK(works.listed().reason.find("record 1 of run r is damaged") != std::string::npos);
}

TEST_CASE("messages that could not be looked for are looked for at the next poll") {
  Works works(EffectClass::once);
  works.start();
  const std::size_t before = works.length();
  works.inbox.refusals = 3;
  works.journal.post(works.id, 1, encode_event(CancelRequested{"somebody", ""}),
                     [](const Status& posted) { CHECK(posted); });
  works.loop.advance(3 * kInboxPollMs);
  CHECK(works.length() == before);
  works.loop.advance(2 * kInboxPollMs);
  CHECK(works.length() > before);
}

}  // namespace
}  // namespace pawl
