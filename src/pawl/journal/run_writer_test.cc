#include "pawl/journal/run_writer.h"

#include <doctest/doctest.h>

#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

struct Desk {
  TestLoop loop;
  MemoryJournal journal{loop};
  RunId run{"r"};
  std::optional<Result<RunLease>> done;

  void write(RunWriter::Source source) {
    const auto writer = std::make_shared<RunWriter>(journal, run, "not whole", [this] {
      return RunSummary{run, "default", "x", "waiting", "paused", 1, 2, 0};
    });
    writer->write(*journal.acquire(run), std::move(source),
                  [this](Result<RunLease> result) { done = std::move(result); });
  }
  RunSummary summary() { return journal.list({})->front(); }
};

RunWriter::Source counting_to(int count, std::size_t bytes = 1) {
  return [count, bytes, given = 0]() mutable -> Result<std::optional<WritePiece>> {
    if (given == count) return std::optional<WritePiece>();
    ++given;
    return std::optional(WritePiece{std::string(bytes, 'x'), sha256("x"), {}});
  };
}

}  // namespace

TEST_CASE("a run is written whole, and is what it is only after its last record") {
  Desk desk;
  desk.write(counting_to(200));
  CHECK(desk.summary().status == "quarantined");
  CHECK(desk.summary().reason == "not whole");
  CHECK(desk.summary().length == kWritesInFlightMax);

  desk.loop.run_posted();

  REQUIRE(desk.done);
  REQUIRE(*desk.done);
  CHECK(desk.summary().status == "waiting");
  CHECK(desk.summary().length == 200);
  CHECK(desk.journal.acquire(desk.run).error().code == ErrorCode::conflict);  // still held
  desk.done.reset();
  CHECK(desk.journal.acquire(desk.run));
}

TEST_CASE("large pieces wait for those before them") {
  Desk desk;
  std::size_t given = 0;
  desk.write([&given]() -> Result<std::optional<WritePiece>> {
    if (++given > 10) return std::optional<WritePiece>();
    WritePiece piece{"x", sha256("x"), {}};
    piece.blobs.push_back({sha256("b"), std::string(kWriteBytesInFlightMax, 'b')});
    return std::optional(std::move(piece));
  });
  CHECK(given <= 2);
  desk.loop.run_posted();
  CHECK(*desk.done);
}

TEST_CASE("a source that fails leaves a part that nobody can drive") {
  Desk desk;
  int given = 0;
  desk.write([&given]() -> Result<std::optional<WritePiece>> {
    if (++given == 3) return Error{ErrorCode::corrupt, "no more"};
    return std::optional(WritePiece{"x", sha256("x"), {}});
  });
  desk.loop.run_posted();

  REQUIRE(desk.done);
  CHECK(desk.done->error().message == "no more");
  CHECK(desk.summary().status == "quarantined");
  CHECK(desk.journal.acquire(desk.run).error().code == ErrorCode::corrupt);
}

TEST_CASE("a record that the store refuses ends the writing") {
  Desk desk;
  desk.write(counting_to(3, kRecordBytesMax + 1));
  desk.loop.run_posted();

  REQUIRE(desk.done);
  CHECK(desk.done->error().code == ErrorCode::limit_exceeded);
}

TEST_CASE("who is told that the writing failed finds the run free") {
  TestLoop loop;
  MemoryJournal journal(loop);
  const RunId run{"r"};
  const auto writer = std::make_shared<RunWriter>(journal, run, "", [] { return RunSummary{}; });
  bool free = false;
  writer->write(
      *journal.acquire(run),
      []() -> Result<std::optional<WritePiece>> { return Error{ErrorCode::corrupt, "no"}; },
      [&](const Result<RunLease>&) { free = journal.acquire(run).has_value(); });

  loop.run_posted();

  CHECK(free);
}

}  // namespace pawl
