// Loads that fail, and what they say about the run.
#include <doctest/doctest.h>

#include <new>

#include "pawl/base/memory_shortage.h"
#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {
namespace {

// Has no memory for what it reads, as often as it is told.
class PoorReader final : public JournalReader {
 public:
  explicit PoorReader(JournalReader& inner) : inner_(inner) {}
  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    return inner_.read(run, from, bytes_max);
  }
  Result<std::string> blob(const RunId& run, const Digest& digest) override {
    return inner_.blob(run, digest);
  }
  // The first thing that a load asks for.
  Result<std::optional<StoredSnapshot>> snapshot(const RunId& run) override {
    if (failures == 0) return inner_.snapshot(run);
    --failures;
    CHECK(MemoryMayLack::here());
    if (failures % 2 == 0) throw std::bad_alloc();
    return Error{ErrorCode::unavailable, "SQLite: out of memory (code 7)"};
  }
  Result<std::optional<std::int64_t>> expired_at(const RunId& run, const Digest& digest) override {
    return inner_.expired_at(run, digest);
  }

  int failures = 0;

 private:
  JournalReader& inner_;
};

TEST_CASE("loads that fail for want of memory do not count against a run") {
  RunStage stage(scripted({ScriptReply::say("one")}));
  PoorReader reader(stage.journal);
  Engine poor(EngineOptions{stage.loop,
                            {&stage.journal, &reader, &stage.journal, &stage.journal},
                            {},
                            stage.source(),
                            "poor"});
  const RunId run = stage.start("r");
  CHECK(stage.journal.list({})->front().status == "done");
  // A run that is over is loaded too before it is refused: every load counts the same.
  reader.failures = 3 * kFailedLoadsMax;
  while (reader.failures > 0) {
    const Status resumed = poor.resume(run);
    REQUIRE_FALSE(resumed);
    REQUIRE(resumed.error().code == ErrorCode::unavailable);
  }
  CHECK_FALSE(MemoryMayLack::here());
  CHECK(poor.resume(run).error().message == "run r is over: done");
}

TEST_CASE("a quarantine by loads is lifted when the run is found sound, and explained") {
  RunStage stage(scripted({ScriptReply::call("note", "{}"), ScriptReply::say("done")}));
  stage.tool->answers = false;
  const RunId run = stage.start("r");
  stage.loop.advance(300);
  {
    // Others load it again and again and die before they can add anything.
    MemoryJournal& journal = stage.journal;
    REQUIRE(journal.quarantine(run, "loaded 16 times without a record being added"));
  }
  const auto why = stage.service.explain(run);
  REQUIRE(why);
  CHECK(why->find("loaded 16 times") != std::string::npos);
  CHECK(why->find("cannot be trusted") == std::string::npos);
  CHECK(why->find("`pawl resume r`") != std::string::npos);

  const auto lifted = stage.service.lift_quarantine(run);

  REQUIRE(lifted);
  CHECK(*lifted);
  CHECK(stage.service.summary_of(run)->status == "running");
  const auto again = stage.service.lift_quarantine(run);
  CHECK((again && !*again));
}

TEST_CASE("a quarantine by damage stays while the damage is there") {
  RunStage stage(scripted({ScriptReply::say("done")}));
  const RunId run = stage.start("r");
  MemoryJournal damaged(stage.loop);
  std::vector<StoredRecord> records = stage.records(run);
  records.back().bytes.back() ^= 1;
  for (const StoredRecord& record : records) {
    Append append;
    append.run = run;
    append.epoch = 1;
    append.seq = record.seq;
    append.bytes = record.bytes;
    append.chain = record.chain;
    if (record.seq == 0)
      append.summary = RunSummary{run, "default", "stage", "running", "", 0, 0, 0};
    damaged.append(std::move(append), [](const Status& status) { CHECK(status); });
  }
  stage.loop.run_posted();
  Engine engine(EngineOptions{
      stage.loop, {&damaged, &damaged, &damaged, &damaged}, {}, stage.source(), "other"});
  Service service(engine);
  CHECK(engine.resume(run).error().code == ErrorCode::corrupt);
  CHECK(service.summary_of(run)->status == "quarantined");

  const auto lifted = service.lift_quarantine(run);

  CHECK((lifted && !*lifted));
  CHECK(service.summary_of(run)->status == "quarantined");
}

}  // namespace
}  // namespace pawl
