#include "pawl/journal/run_loader.h"

#include <doctest/doctest.h>

#include "pawl/kernel/kernel.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

// A run of four records, with one bit of a record flipped when it is read.
class FlippedJournal : public JournalReader {
 public:
  FlippedJournal() {
    Run run;
    Digest chain = chain_origin(id);
    RunStarted start;
    start.run = id;
    start.input = Content("go");
    add(run, chain, start);
    for (const char* text : {"one", "two", "three"}) {
      add(run, chain, MessageReceived{kRootInstance, Content(text), "user"});
    }
    loop.run_posted();
  }

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    auto records = memory.read(run, from, bytes_max);
    for (StoredRecord& record : *records) {
      if (record.seq != flipped) continue;
      record.bytes[record.bytes.find("two")] ^= 1;
    }
    return records;
  }
  Result<std::string> blob(const RunId& run, const Digest& digest) override {
    return memory.blob(run, digest);
  }
  Result<std::optional<std::int64_t>> expired_at(const RunId& run, const Digest& digest) override {
    return memory.expired_at(run, digest);
  }
  Result<std::optional<StoredSnapshot>> snapshot(const RunId&) override { return taken; }

  const RunId id{"r"};
  std::optional<std::uint64_t> flipped;
  std::optional<StoredSnapshot> taken;

 private:
  void add(Run& run, Digest& chain, Event event) {
    const auto record = advance(run, std::move(event), {1, 1'000, 0});
    REQUIRE(record);
    Append append;
    append.run = id;
    append.epoch = 1;
    append.seq = record->seq;
    append.bytes = encode_record(*record);
    append.chain = chain = chain_after(chain, append.bytes);
    if (append.seq == 0) append.summary = RunSummary{id, "default", "t", "running", "", 0, 0, 0};
    memory.append(append, [](const Status& status) { CHECK(status); });
    if (append.seq == 2) taken = StoredSnapshot{2, chain, encode_snapshot(run)};
  }

  TestLoop loop;
  MemoryJournal memory{loop};
};

TEST_CASE("a record that is read alone is checked against the one before") {
  FlippedJournal journal;
  CHECK(read_record(journal, journal.id, 2));
  journal.flipped = 2;

  const auto damaged = read_record(journal, journal.id, 2);
  REQUIRE(!damaged);
  CHECK(damaged.error().code == ErrorCode::corrupt);
  CHECK(damaged.error().message == "record 2 of run r is damaged: its chain hash does not match");
  CHECK(read_record(journal, journal.id, 3));
}

TEST_CASE("a run that was loaded behind a snapshot knows what it has not checked") {
  FlippedJournal journal;
  journal.flipped = 2;

  const auto from_snapshot = load_run(journal, journal.id, UseSnapshot::yes);
  REQUIRE(from_snapshot);
  CHECK(from_snapshot->checked_from == 3);
  CHECK(!load_run(journal, journal.id, UseSnapshot::no));

  journal.flipped.reset();
  CHECK(load_run(journal, journal.id, UseSnapshot::no)->checked_from == 0);
}

}  // namespace
}  // namespace pawl
