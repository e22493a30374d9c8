// A long run that is taken up beside others: a slice a callback.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pawl/testing/stage/run_stage_test.h"
#include "tests/support/forwarding_reader.h"

namespace pawl {
namespace {

constexpr std::size_t kCalls = 150;

// Counts the records that are read, and damages one.
class SlicedReader final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;
  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    PAWL_TRY(auto records, ForwardingReader::read(run, from, bytes_max));
    for (StoredRecord& record : records) {
      if (record.seq == damaged) record.bytes.back() ^= 1;
    }
    records_read += records.size();
    return records;
  }

  std::uint64_t damaged = UINT64_MAX;
  std::size_t records_read = 0;
};

struct LongRun {
  LongRun() {
    process();
    PreparedAgent agent = stage.agent();
    agent.charter.limits.steps = agent.charter.limits.tool_calls = 2 * kCalls;
    agent.charter.limits.model_calls = 2 * kCalls;
    agent.charter.guards = {0, 0, 0};
    engine->start({agent, "go", id, nullptr}, [](const Result<RunId>& run) { CHECK(run); });
    REQUIRE(stage.loop.run_until([&] { return stage.tool->keys.size() == kCalls; }));
    stage.tool->answers = false;
    stage.loop.run_posted();
    length = stage.records(id).size();
    process();
  }

  // Another one in the place of the one before, which was killed.
  void process() {
    engine.reset();
    MemoryJournal& journal = stage.journal;
    engine = std::make_unique<Engine>(EngineOptions{
        stage.loop, {&journal, &reader, &journal, &journal}, {}, stage.source(), "other"});
    reader.records_read = 0;
  }
  void take_up() {
    engine->take_up(id, [this](const Status& status) { taken.push_back(status); });
  }
  static Script script() {
    std::vector<ScriptReply> replies;
    for (std::size_t i = 0; i < 2 * kCalls; ++i) replies.push_back(ScriptReply::call("note"));
    return scripted(std::move(replies));
  }

  RunStage stage{script()};
  SlicedReader reader{stage.journal};
  const RunId id{"long"};
  std::unique_ptr<Engine> engine;
  std::size_t length = 0;
  std::vector<Status> taken;
};

}  // namespace

TEST_CASE("a long run is taken up in slices, and others have their turns between them") {
  LongRun run;
  run.take_up();
  CHECK(run.taken.empty());
  CHECK(run.engine->find(run.id) == nullptr);
  CHECK(run.engine->live() == 1);
  CHECK_FALSE(run.engine->is_idle());
  std::size_t before = 0;
  std::size_t most = 0;
  std::size_t turns = 0;
  REQUIRE(run.stage.loop.run_until([&] {  // asked between callbacks
    most = std::max(most, run.reader.records_read - std::exchange(before, run.reader.records_read));
    ++turns;
    return !run.taken.empty();
  }));

  CHECK(run.taken.front());
  CHECK(turns >= run.length / 128);
  CHECK(most <= 256);  // of slices of 64 and what a batch has over
  REQUIRE(run.engine->find(run.id) != nullptr);
  CHECK(run.engine->live() == 1);
  run.stage.loop.run_posted();
  CHECK(run.stage.records(run.id).size() > run.length);  // it was attached
}

TEST_CASE("whoever has something for a run that is being taken up does not wait") {
  LongRun run;
  run.take_up();
  run.take_up();
  REQUIRE(run.taken.empty());
  SUBCASE("who resumes it") {
    CHECK(run.engine->resume(run.id));
  }
  SUBCASE("who feeds it") {
    CHECK(run.engine->feed(run.id, PauseRequested{"somebody"}));
    CHECK(std::holds_alternative<Pausing>((*run.engine->find(run.id))->course));
  }
  SUBCASE("who says something to it") {
    CHECK(run.engine->whisper(run.id, std::nullopt, "psst"));
  }
  SUBCASE("who would decide in its place") {
    CHECK_FALSE(run.engine->decide(run.id, [](const Status&) {}));
  }
  CHECK(run.taken.size() == 2);  // each is told, once
  CHECK(run.engine->find(run.id) != nullptr);
  run.take_up();
  CHECK(run.taken.size() == 3);
  run.stage.loop.run_posted();
  CHECK(run.taken.size() == 3);
}

TEST_CASE("damage in a later slice is told, and quarantines the run") {
  LongRun run;
  run.reader.damaged = run.length - 2;
  run.take_up();
  REQUIRE(run.taken.empty());
  REQUIRE(run.stage.loop.run_until([&] { return !run.taken.empty(); }));
  REQUIRE_FALSE(run.taken.front());
  CHECK(run.taken.front().error().code == ErrorCode::corrupt);
  CHECK(run.engine->live() == 0);
  CHECK(run.stage.journal.list({})->front().status == "quarantined");
}

TEST_CASE("a long prefix is rehearsed and written in slices") {
  LongRun run;
  ForkRequest request;
  request.parent = run.id;
  request.step = kCalls - 1;
  request.id = RunId{"fork"};
  request.by = "somebody";
  std::optional<Result<Forked>> forked;
  run.engine->fork(request, [&](const Result<Forked>& done) { forked = done; });
  std::size_t before = run.reader.records_read;
  std::size_t most = 0;
  REQUIRE(run.stage.loop.run_until([&] {
    most = std::max(most, run.reader.records_read - std::exchange(before, run.reader.records_read));
    return forked.has_value();
  }));

  REQUIRE_MESSAGE(*forked, forked->error().message);
  CHECK((*forked)->step == kCalls - 1);
  CHECK(most <= 256);
  CHECK(run.reader.records_read >= 2 * (kCalls - 1));
}

TEST_CASE("an engine that ends while it loads a run lets go of it") {
  LongRun run;
  run.take_up();
  run.process();
  run.stage.loop.run_posted();
  CHECK(run.taken.empty());
  CHECK(run.engine->resume(run.id));
}

}  // namespace pawl
