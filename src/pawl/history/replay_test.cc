#include "pawl/history/replay.h"

#include <doctest/doctest.h>

#include "pawl/testing/stage/run_stage_test.h"
#include "tests/support/forwarding_reader.h"

namespace pawl {
namespace {

Script two_notes() {
  return scripted({ScriptReply::call("note", R"({"n":1})"), ScriptReply::call("note"),
                   ScriptReply::say("All noted.")});
}

// A store that has lost the blobs of all its runs.
class WithoutBlobs final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;
  Result<std::string> blob(const RunId&, const Digest&) override {
    return Error{ErrorCode::not_found, "it is not there"};
  }
};

}  // namespace

TEST_CASE("a finished run replays to the same chain, and nothing is called") {
  RunStage stage(two_notes());
  const RunId run = stage.start("r");
  const std::size_t calls = stage.tool->keys.size();

  const auto report = replay(stage.journal, run);

  REQUIRE(report);
  CHECK(report->same());
  CHECK(report->records == stage.records(run).size());
  CHECK(report->chain == stage.chain(run));
  CHECK(report->lineage == Lineage::no_fork);
  CHECK(stage.tool->keys.size() == calls);
  CHECK(replay(stage.journal, RunId{"nobody"}).error().code == ErrorCode::not_found);
}

TEST_CASE("a run under way replays as far as it is written") {
  RunStage stage(two_notes());
  stage.tool->answers = false;
  const RunId run = stage.start("r");

  const auto report = replay(stage.journal, run);

  REQUIRE(report);
  CHECK(report->same());
  CHECK(report->chain == stage.chain(run));
}

TEST_CASE("large contents are looked at: one that is missing is damage with its record") {
  RunStage stage(two_notes());
  stage.tool->padding = std::string(5000, 'x');
  const RunId run = stage.start("r");

  CHECK(replay(stage.journal, run)->blobs == 2);

  WithoutBlobs lossy(stage.journal);
  const auto report = replay(lossy, run);
  REQUIRE(report);
  CHECK_FALSE(report->same());
  CHECK(report->damage.find("of record 2: it is not there") != std::string::npos);
  Engine engine(EngineOptions{stage.loop,
                              {&stage.journal, &lossy, &stage.journal, &stage.journal},
                              {},
                              stage.source(),
                              "lossy"});
  CHECK(Service(engine).verify(run)->damage.find("it is not there") != std::string::npos);
}

TEST_CASE("a content that is shorter than its record says is damage") {
  RunStage stage(two_notes());
  stage.tool->padding = std::string(5000, 'x');
  const RunId run = stage.start("r");
  std::vector<Record> records = decoded(stage.records(run));
  auto& finished = std::get<ToolFinished>(records.at(2).event);
  BlobRef blob = *finished.content.blob();
  const StoredBlob stored{blob.digest, *stage.journal.blob(run, blob.digest)};
  ++blob.length;
  finished.content = Content(blob);
  MemoryJournal other(stage.loop);
  write_journal(other, stage.loop, run, records, {stored});

  const auto report = replay(other, run);

  REQUIRE(report);
  CHECK_FALSE(report->same());
  CHECK(report->damage.find("of record 2: it is not as long") != std::string::npos);
}

TEST_CASE("a decision that would not be made again is named by record, path and both values") {
  RunStage stage(two_notes());
  const RunId run = stage.start("r");
  std::vector<Record> records = decoded(stage.records(run));
  for (Decision& decision : records[3].decisions) {
    if (auto* ended = std::get_if<StepEnded>(&decision)) ended->yield = YieldReason::command;
  }
  MemoryJournal other(stage.loop);
  write_journal(other, stage.loop, run, records);

  const auto report = replay(other, run);

  REQUIRE(report);
  REQUIRE(report->difference);
  CHECK_FALSE(report->same());
  CHECK(report->records == 3);
  CHECK(report->difference->seq == 3);
  CHECK(report->difference->event == "model_replied");
  CHECK(report->difference->path == "$.decisions[1].yield");
  CHECK(report->difference->recorded == "\"command\"");
  CHECK(report->difference->decided == "\"tool_use\"");
}

TEST_CASE("an event that would be refused today is a difference, not a crash") {
  RunStage stage(two_notes());
  const RunId run = stage.start("r");
  std::vector<Record> records = decoded(stage.records(run));
  records.resize(2);
  Record astray;
  astray.seq = 2;
  astray.stamp = records[1].stamp;
  astray.event = RunWaiting{};
  records.push_back(astray);
  MemoryJournal other(stage.loop);
  write_journal(other, stage.loop, run, records);

  const auto report = replay(other, run);

  REQUIRE(report);
  REQUIRE(report->difference);
  CHECK(report->difference->seq == 2);
  CHECK(report->difference->decided.starts_with("refused: "));
}

TEST_CASE("damage ends a replay and is named; what comes before it counts") {
  RunStage stage(two_notes());
  const RunId run = stage.start("r");
  std::vector<StoredRecord> stored = stage.records(run);
  MemoryJournal other(stage.loop);
  for (StoredRecord& record : stored) {
    if (record.seq == 2) record.bytes[record.bytes.size() / 2] ^= 4;
    Append append{run, 1, record.seq, record.bytes, record.chain, {}, {}, {}, {}};
    if (record.seq == 0) append.summary = RunSummary{run, "", "", "running", "", 0, 0, 0};
    other.append(std::move(append), [](const Status& status) { CHECK(status); });
  }

  const auto report = replay(other, run);

  REQUIRE(report);
  CHECK(report->records == 2);
  CHECK(report->damage.find("record 2 of run r is damaged") != std::string::npos);
}

}  // namespace pawl
