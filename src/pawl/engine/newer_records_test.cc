// Records of a program with a newer minor version, of which this one does not know all.
#include "pawl/history/replay.h"
#include "pawl/testing/stage/exported_run_test.h"
#include "tests/support/forwarding_reader.h"

namespace pawl {
namespace {

constexpr std::uint64_t kPatched = 1;  // the record

// One record has something behind its effects that only a newer program writes.
class NewerReader final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    PAWL_TRY(auto all, ForwardingReader::read(run, 0, kReadBatchBytes));
    Digest chain = chain_origin(run);
    for (StoredRecord& record : all) {
      if (record.seq == kPatched) {
        record.bytes[1] = static_cast<char>(kRecordMinor + 1);
        record.bytes += "\x05";
      }
      record.chain = chain = chain_after(chain, record.bytes);
    }
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(from));
    if (bytes_max == 1 && all.size() > 1) all.resize(1);
    return all;
  }
};

struct Stage {
  RunStage stage{a_note()};
  RunId id = stage.start("r");
  NewerReader reader{stage.journal};

  Result<ExportReport> exports(ExportOptions::Redaction redaction, std::string& text) {
    ExportOptions options;
    options.redaction = redaction;
    const auto summary = stage.service.summary_of(id);
    REQUIRE(summary);
    return export_run(reader, *summary, options, [&text](std::string_view piece) {
      text += piece;
      return ok();
    });
  }
};

const std::string kNewer =
    "record 1 of run r was written by a newer version of Pawl, and this one does not know all of "
    "it; use that version";

}  // namespace

TEST_CASE("a run with records of a newer version is read, and says which it did not understand") {
  Stage stage;
  const auto loaded = load_run(stage.reader, stage.id, UseSnapshot::yes);
  REQUIRE(loaded);
  CHECK(loaded->not_understood == kPatched);
  CHECK(loaded->chain == stage.reader.read(stage.id, 0, kReadBatchBytes)->back().chain);
  CHECK(*output_text(stage.reader, loaded->run.state()) == "All noted.");
  CHECK_FALSE(load_run(stage.stage.journal, stage.id, UseSnapshot::no)->not_understood);
}

TEST_CASE("such a run is not driven, and not quarantined either") {
  RunStage stage{a_note()};
  stage.tool->answers = false;
  const RunId id = stage.start("r");
  MemoryJournal copy(stage.loop);
  write_journal(copy, stage.loop, id, decoded(stage.records(id)));
  NewerReader reader(copy);
  Engine engine(
      EngineOptions{stage.loop, {&copy, &reader, &copy, &copy}, {}, stage.source(), "second"});

  const Status resumed = engine.resume(id);

  REQUIRE(!resumed);
  CHECK(resumed.error().message == kNewer);
  CHECK(engine.live() == 0);
  CHECK(copy.list({"", "", "", 1})->front().status != "quarantined");
}

TEST_CASE("such a record is not decided again") {
  Stage stage;
  const auto report = replay(stage.reader, stage.id);
  REQUIRE(report);
  CHECK(report->damage == kNewer);
  CHECK(report->records == kPatched);
}

TEST_CASE("such a record is exported as it is stored, and may be looked at elsewhere") {
  Stage stage;
  std::string text;
  REQUIRE(stage.exports(ExportOptions::Redaction::off, text));
  RunStage elsewhere(a_note());
  const auto report = imported(elsewhere, text);
  REQUIRE(report);
  CHECK(report->chain == stage.reader.read(stage.id, 0, kReadBatchBytes)->back().chain);
  CHECK(elsewhere.service.summary_of(stage.id)->reason ==
        "for looking only: this version of Pawl would not have written record 1");
}

TEST_CASE("such a record is not redacted: there may be secrets in what was skipped") {
  Stage stage;
  std::string text;
  const auto report = stage.exports(ExportOptions::Redaction::on, text);
  REQUIRE(!report);
  CHECK(report.error().message == kNewer);
  CHECK(text.empty());
}

}  // namespace pawl
