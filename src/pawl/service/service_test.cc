#include "pawl/service/service.h"

#include <doctest/doctest.h>

#include "pawl/journal/event_json.h"
#include "pawl/json.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/forwarding_reader.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

// Shows the records of another store, one of them with a flipped bit. Or no records at all.
class DamagedReader final : public ForwardingReader {
 public:
  enum class Reading : std::uint8_t { flipped, refused, sound, shortened };

  using ForwardingReader::ForwardingReader;
  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    if (reading == Reading::refused) return Error{ErrorCode::unavailable, "the disk says no"};
    PAWL_TRY(auto records, ForwardingReader::read(run, from, bytes_max));
    if (reading == Reading::shortened) {
      std::erase_if(records, [](const StoredRecord& record) { return record.seq > 1; });
    }
    for (StoredRecord& record : records) {
      if (reading != Reading::flipped) break;
      if (record.seq == 1) record.bytes[record.bytes.size() / 2] ^= 4;
    }
    return records;
  }

  Reading reading = Reading::flipped;
};

struct Desk {
  Script script;
  TestLoop loop;
  MemoryJournal memory{loop};
  DamagedReader damaged{memory};
  Engine engine;
  Service service{engine};

  explicit Desk(Script replies, bool damage = false)
      : script(std::move(replies)), engine(options(damage)) {}

  EngineOptions options(bool damage) {
    JournalReader* reader = damage ? static_cast<JournalReader*>(&damaged) : &memory;
    const AgentSource source = [this](const PinnedCharter&) -> Result<PreparedAgent> {
      return agent();
    };
    EngineOptions options{loop, {&memory, reader, &memory, &memory}, {}, source, "desk"};
    if (damage) options.kept_bytes_max = 0;  // Each request reads the store.
    return options;
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
    loop.advance(200);
  }
};

Script saying(std::vector<ScriptReply> replies) {
  Script script;
  script.replies = std::move(replies);
  return script;
}

TEST_CASE("a run is found by any unique prefix of its id") {
  Desk desk(saying({ScriptReply::say("hi")}));
  desk.start("abc1");
  desk.start("abd2");

  CHECK(desk.service.find("abc")->text == "abc1");
  CHECK(desk.service.find("ab").error().code == ErrorCode::conflict);
  CHECK(desk.service.find("x").error().code == ErrorCode::not_found);
  CHECK(desk.service.find("").error().code == ErrorCode::not_found);
  for (int i = 0; i < 12; ++i) desk.start("abc1-" + std::to_string(i));
  REQUIRE(desk.service.find("abc1"));
  CHECK(desk.service.find("abc1")->text == "abc1");
  CHECK(desk.service.summary_of(RunId{"abc1"})->id.text == "abc1");
}

TEST_CASE("every run is visited, however many fit on a page") {
  Desk desk(saying({ScriptReply::say("hi")}));
  for (int i = 0; i < 7; ++i) desk.start("r" + std::to_string(i));
  for (const std::size_t page : {1U, 2U, 7U, 100U}) {
    std::string seen;
    ListQuery query;
    query.count_max = page;
    REQUIRE(desk.service.for_each(query, [&](const RunSummary& run) -> Result<bool> {
      seen += run.id.text;
      return true;
    }));
    CHECK(seen == "r6r5r4r3r2r1r0");
  }
  int visits = 0;
  CHECK(desk.service.for_each({}, [&](const RunSummary&) -> Result<bool> { return ++visits < 3; }));
  CHECK(visits == 3);
  CHECK_FALSE(desk.service.for_each(
      {}, [](const RunSummary&) -> Result<bool> { return Error{ErrorCode::unavailable, "no"}; }));
}

TEST_CASE("however often an id is asked for that is taken, the run that has it can be driven") {
  ScriptReply suspending = ScriptReply::say("wait");
  std::get<ScriptSpeech>(suspending.outcome).stop = ReplyStop::suspend;
  Desk desk(saying({suspending}));
  desk.start("r");
  for (int i = 0; i <= kFailedLoadsMax; ++i) {
    std::optional<Result<RunId>> answer;
    desk.service.start({desk.agent(), "go", RunId{"r"}, nullptr},
                       [&](const Result<RunId>& accepted) { answer = accepted; });
    desk.loop.advance(10);
    REQUIRE(answer);
    CHECK(answer->error().code == ErrorCode::conflict);
  }
  CHECK(desk.service.resume(RunId{"r"}));
}

TEST_CASE("show and explain say where a finished run ended, verify that it is whole") {
  Desk desk(saying({ScriptReply::call("nothing"), ScriptReply::say("hi")}));
  desk.start("r");

  const auto details = desk.service.show(RunId{"r"});
  REQUIRE(details);
  CHECK(details->output == "hi");
  CHECK(details->summary.status == "done");
  CHECK(desk.service.explain(RunId{"r"})->find("ended its turn in step 2") != std::string::npos);
  const auto report = desk.service.verify(RunId{"r"});
  REQUIRE(report);
  CHECK(report->damage.empty());
  CHECK(report->records == details->state.length);
}

TEST_CASE("a limit is named by explain, with its step and what to change") {
  Desk desk(saying({ScriptReply::call("nothing"), ScriptReply::call("nothing", R"({"n":2})")}));
  PreparedAgent agent = desk.agent();
  agent.charter.limits.steps = 1;
  desk.service.start({agent, "go", RunId{"r"}, nullptr}, [](const Result<RunId>&) {});
  desk.loop.advance(200);

  const std::string text = *desk.service.explain(RunId{"r"});

  CHECK(text.find("stopped in step 1 by steps") != std::string::npos);
  CHECK(text.find("pawl resume r --steps +20") != std::string::npos);
}

TEST_CASE("a damaged record is named by verify and quarantines the run when it is taken up") {
  ScriptReply suspending = ScriptReply::say("wait");
  std::get<ScriptSpeech>(suspending.outcome).stop = ReplyStop::suspend;
  Desk desk(saying({suspending}), true);
  desk.start("r");

  CHECK(desk.service.verify(RunId{"r"})->damage.find("record 1 of run r") != std::string::npos);
  const Status resumed = desk.service.resume(RunId{"r"});
  REQUIRE(!resumed);
  CHECK(resumed.error().code == ErrorCode::corrupt);
  CHECK(desk.service.list({})->front().status == "quarantined");
}

TEST_CASE("verify notices that the end of a run that is over has gone") {
  Desk desk(saying({ScriptReply::say("hi")}), true);
  desk.damaged.reading = DamagedReader::Reading::sound;
  desk.start("r");
  CHECK(desk.service.verify(RunId{"r"})->damage.empty());

  desk.damaged.reading = DamagedReader::Reading::shortened;

  const std::string damage = desk.service.verify(RunId{"r"})->damage;
  CHECK(damage.find("record 2 and what follows it are gone") != std::string::npos);
  CHECK(damage.find("done in the list of runs") != std::string::npos);
}

TEST_CASE("a run is not failed for a store that cannot be read for a while") {
  Desk desk(saying({ScriptReply::say("hi")}), true);
  desk.damaged.reading = DamagedReader::Reading::refused;
  desk.start("r");
  desk.damaged.reading = DamagedReader::Reading::sound;

  const auto left = desk.service.show(RunId{"r"});
  CHECK(left->summary.status == "running");
  CHECK(left->state.length == 1);
  CHECK(desk.service.resume(RunId{"r"}));
  desk.loop.advance(300);
  CHECK(desk.service.show(RunId{"r"})->output == "hi");
}

TEST_CASE("an output that cannot be read is null, and not another one") {
  Desk desk(saying({ScriptReply::say("hi")}), true);
  desk.damaged.reading = DamagedReader::Reading::sound;
  desk.start("r");
  std::shared_ptr<const RecordView> last;
  const auto watch = desk.service.watch(
      RunId{"r"}, 0, Service::Follow::no,
      [&last](const std::shared_ptr<const RecordView>& view) { last = view; },
      [](const Result<WatchEnd>&) {});
  desk.loop.advance(300);
  REQUIRE(last);

  desk.damaged.reading = DamagedReader::Reading::refused;

  CHECK(!desk.service.output_of(*last));
  const FinalFields nothing;
  CHECK(parse_json(event_json(*last, &nothing))->find("output")->is_null());
}

TEST_CASE("watching gives every event as a line of JSON, the last with status and output") {
  Desk desk(saying({ScriptReply::say("hi")}));
  desk.start("r");
  std::vector<std::string> lines;
  std::optional<Result<WatchEnd>> ended;

  const auto watch = desk.service.watch(
      RunId{"r"}, 0, Service::Follow::yes,
      [&](const std::shared_ptr<const RecordView>& view) {
        const FinalFields fields{*desk.service.output_of(*view)};
        lines.push_back(event_json(*view, &fields));
      },
      [&](const Result<WatchEnd>& end) { ended = end; });
  desk.loop.advance(300);

  REQUIRE(ended);
  CHECK(**ended == WatchEnd::over);
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = parse_json(lines[i]);
    REQUIRE(line);
    CHECK(line->find("seq")->as_uint64() == i);
    for (const char* key : {"run", "type", "at", "step", "instance", "primary"}) {
      CHECK(line->find(key) != nullptr);
    }
  }
  const auto last = parse_json(lines.back());
  CHECK(*last->find_string("type") == "run_finished");
  CHECK(*last->find_string("status") == "done");
  CHECK(*last->find_string("stop_reason") == "end_turn");
  CHECK(*last->find_string("output") == "hi");
  CHECK(last->find("usage")->find("steps")->as_uint64() == 1);
}

TEST_CASE("a run that ended while it was asked for is not called interrupted") {
  Desk desk(saying({ScriptReply::say("hi")}));
  desk.start("r");
  RunSummary seen = desk.service.list({})->front();
  seen.status = "running";  // as it was a moment before

  CHECK_FALSE(*desk.service.is_driven(seen));

  CHECK(seen.status == "done");
}

TEST_CASE("what is posted to a run that is driven here is taken without waiting for a poll") {
  ScriptReply slow = ScriptReply::say("hi");
  slow.delay_ms = 1'000;
  Desk desk(saying({slow}));
  desk.start("r");
  desk.service.post(RunId{"r"}, MessageReceived{kRootInstance, Content("and?"), "ann"},
                    [](const Status& status) { CHECK(status); });

  desk.loop.run_posted();

  REQUIRE(desk.engine.find(RunId{"r"}) != nullptr);
  CHECK((*desk.engine.find(RunId{"r"}))->instances.front().waiting_messages.size() == 1);
}

TEST_CASE("a run that waits is watched for as long as it waits, whoever drives it") {
  ScriptReply waits = ScriptReply::say("wait");
  std::get<ScriptSpeech>(waits.outcome).stop = ReplyStop::suspend;
  Desk desk(saying({waits}));
  desk.start("r");
  REQUIRE(desk.service.show(RunId{"r"})->summary.status == "waiting");
  std::optional<Result<WatchEnd>> ended;
  std::vector<std::uint64_t> seen;
  const auto watch = desk.service.watch(
      RunId{"r"}, 1, Service::Follow::yes,
      [&](const std::shared_ptr<const RecordView>& view) { seen.push_back(view->record.seq); },
      [&](const Result<WatchEnd>& end) { ended = end; });

  desk.loop.advance(10 * kUndrivenGraceMs);

  CHECK_FALSE(ended);
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.front() == 1);
}

TEST_CASE("a run whose process died is not watched for ever") {
  ScriptReply slow = ScriptReply::say("hi");
  slow.delay_ms = 3'600'000;
  Desk desk(saying({slow}));
  auto other = std::make_unique<Engine>(desk.options(false));
  other->start({desk.agent(), "go", RunId{"r"}, nullptr}, [](const Result<RunId>&) {});
  desk.loop.advance(200);
  RunSummary summary = desk.service.list({})->front();
  CHECK(*desk.service.is_driven(summary));
  CHECK(desk.service.explain(RunId{"r"})->find("A process drives it") != std::string::npos);
  std::optional<Result<WatchEnd>> ended;
  const auto watch = desk.service.watch(
      RunId{"r"}, 0, Service::Follow::yes, [](const std::shared_ptr<const RecordView>&) {},
      [&](const Result<WatchEnd>& end) { ended = end; });
  desk.loop.advance(10'000);
  CHECK_FALSE(ended);

  other.reset();

  desk.loop.advance(kUndrivenGraceMs - 2 * kInboxPollMs);
  CHECK_FALSE(ended);
  desk.loop.advance(4 * kInboxPollMs);
  REQUIRE(ended);
  CHECK(**ended == WatchEnd::undriven);
  CHECK_FALSE(*desk.service.is_driven(summary));
  CHECK(summary.status == "running");
  CHECK(desk.service.explain(RunId{"r"})->find("is interrupted.\n") != std::string::npos);
  CHECK(desk.service.explain(RunId{"r"})->find("Nobody drives it") != std::string::npos);
}

TEST_CASE("a message to a run that is over is refused, to a waiting one it is kept") {
  ScriptReply suspending = ScriptReply::say("wait");
  std::get<ScriptSpeech>(suspending.outcome).stop = ReplyStop::suspend;
  Desk desk(saying({suspending, ScriptReply::say("bye")}));
  desk.start("r");
  const auto event = desk.service.message(RunId{"r"}, "hello", "ann");
  REQUIRE(event);
  std::optional<Status> posted;
  desk.service.post(RunId{"r"}, *event, [&](const Status& status) { posted = status; });
  desk.loop.advance(50);
  REQUIRE(posted);
  CHECK(*posted);

  const auto resumption = desk.service.instance_resumption(RunId{"r"}, kRootInstance, "s1", "ann");
  REQUIRE(resumption);
  CHECK(!desk.service.instance_resumption(RunId{"r"}, kRootInstance, "s9", "ann"));
  desk.service.post(RunId{"r"}, *resumption, [](const Status&) {});
  desk.loop.advance(50);
  CHECK(desk.service.resume(RunId{"r"}));
  desk.loop.advance(300);

  const auto details = desk.service.show(RunId{"r"});
  CHECK(details->output == "bye");
  bool answered = false;
  for (const Entry& entry : details->state.instances.front().transcript) {
    if (entry.kind == EntryKind::message) answered = true;
  }
  CHECK(answered);
  desk.service.post(RunId{"r"}, *event, [&](const Status& status) { posted = status; });
  desk.loop.advance(50);
  CHECK(posted->error().code == ErrorCode::conflict);
}

}  // namespace
}  // namespace pawl
