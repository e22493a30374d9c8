#include "pawl/journal/run_loader.h"

#include <doctest/doctest.h>

#include "pawl/testing/stage/run_stage_test.h"
#include "tests/support/forwarding_reader.h"

namespace pawl {
namespace {

// Shows the records of another store, with a snapshot of the test's choice, and notes where reading
// began. Some reads are damaged.
class StagedReader final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    begun_at.push_back(from);
    PAWL_TRY(auto records, ForwardingReader::read(run, from, bytes_max));
    const bool whole = bytes_max == kReadBatchBytes;  // not a single record
    if (whole && damaged_reads > 0) {
      --damaged_reads;
      for (StoredRecord& record : records) record.bytes.back() ^= 1;
    }
    return records;
  }
  Result<std::optional<StoredSnapshot>> snapshot(const RunId&) override { return shown; }

  std::optional<StoredSnapshot> shown;
  std::vector<std::uint64_t> begun_at;
  int damaged_reads = 0;
};

struct Shelf {
  RunStage stage{scripted({ScriptReply::call("note"), ScriptReply::say("done")})};
  RunId id = stage.start("r");
  StagedReader reader{stage.journal};
  std::vector<StoredRecord> records = stage.records(id);
  const std::string whole = encode_snapshot(load_run(reader, id, UseSnapshot::no)->run);

  // What the run was after record `seq`.
  StoredSnapshot snapshot_at(std::uint64_t seq) {
    Run run;
    for (std::uint64_t i = 0; i <= seq; ++i) {
      CHECK(fold(run, *decode_record(records[i].bytes)));
    }
    return {seq, records[seq].chain, encode_snapshot(run)};
  }
  std::string loaded() {
    reader.begun_at.clear();
    const auto run = load_run(reader, id, UseSnapshot::yes);
    REQUIRE(run);
    CHECK(run->chain == records.back().chain);
    return encode_snapshot(run->run);
  }
};

TEST_CASE("a run is read from behind its snapshot") {
  Shelf shelf;
  shelf.reader.shown = shelf.snapshot_at(2);
  CHECK(shelf.loaded() == shelf.whole);
  CHECK(shelf.reader.begun_at.front() == 3);
}

TEST_CASE("a snapshot that cannot be used is as good as none") {
  Shelf shelf;
  StoredSnapshot snapshot = shelf.snapshot_at(2);
  SUBCASE("of nonsense") {
    snapshot.state = "nonsense";
  }
  SUBCASE("of another length") {
    snapshot.seq = 1;
  }
  SUBCASE("of another run") {
    const RunId other = shelf.stage.start("other");
    Run run;
    for (const Record& record : decoded(shelf.stage.records(other))) {
      if (record.seq <= 2) CHECK(fold(run, record));
    }
    snapshot.state = encode_snapshot(run);
  }
  shelf.reader.shown = snapshot;
  CHECK(shelf.loaded() == shelf.whole);
  CHECK(shelf.reader.begun_at.front() == 0);
}

TEST_CASE("a snapshot whose chain does not lead on is left aside, and the records are read") {
  Shelf shelf;
  shelf.reader.shown = shelf.snapshot_at(2);
  shelf.reader.shown->chain = shelf.records[1].chain;
  CHECK(shelf.loaded() == shelf.whole);
}

TEST_CASE("damage that a second look does not find quarantines nothing; damage that stays does") {
  RunStage stage{scripted({ScriptReply::call("note"), ScriptReply::say("done")})};
  stage.tool->answers = false;
  const RunId id = stage.start("r");
  MemoryJournal copy(stage.loop);
  write_journal(copy, stage.loop, id, decoded(stage.records(id)));
  StagedReader reader(copy);
  Engine engine(
      EngineOptions{stage.loop, {&copy, &reader, &copy, &copy}, {}, stage.source(), "second"});

  reader.damaged_reads = 1;
  CHECK(engine.resume(id));
  CHECK(engine.live() == 1);

  MemoryJournal sick(stage.loop);
  write_journal(sick, stage.loop, id, decoded(stage.records(id)));
  StagedReader blind(sick);
  blind.damaged_reads = 100;
  Engine third(
      EngineOptions{stage.loop, {&sick, &blind, &sick, &sick}, {}, stage.source(), "third"});
  CHECK_FALSE(third.resume(id));
  CHECK(sick.list({"", "", "", 1})->front().status == "quarantined");
}

}  // namespace
}  // namespace pawl
