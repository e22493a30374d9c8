#include "pawl/adapter/journal_sqlite/removal.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>

#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/writes.h"
#include "pawl/base/descriptor.h"
#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

using contract::append_of;
using contract::blob_of;
using contract::outcome;
using contract::run_id;

// A database without a committer: every call is its own transaction.
struct Tables {
  Tables() {
    const std::string path = directory / "db";
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    auto opened = Connection::open(path);
    REQUIRE(opened);
    connection = std::move(*opened);
    REQUIRE(prepare_schema(*connection, path));
  }
  void fill(const std::string& id, std::uint64_t records, std::size_t bytes) {
    for (std::uint64_t seq = 0; seq < records; ++seq) {
      Append append = append_of(run_id(id), 1, seq, std::string(bytes, 'x'));
      append.blobs = {blob_of(id + std::to_string(seq))};
      REQUIRE(write_append(*connection, append));
    }
  }
  std::int64_t count(const std::string& table) {
    return *connection->integer_of("SELECT count(*) FROM " + table);
  }

  TempDirectory directory;
  std::unique_ptr<Connection> connection;
};

TEST_CASE("a run is hidden by one row and swept within the budget of each slice") {
  Tables tables;
  tables.fill("gone", 30, 10);
  tables.fill("stays", 5, 10);
  const auto number = write_removal(*tables.connection, run_id("gone"));
  REQUIRE(number);
  CHECK(tables.count("runs") == 1);
  CHECK(tables.count("journal") == 35);
  CHECK(*count_removals(*tables.connection) == 1);

  SliceBudget budget;
  budget.ms_max = 60'000;
  budget.rows_max = 25;
  auto swept = sweep_slice(*tables.connection, budget);
  REQUIRE(swept);
  CHECK(swept->more);
  CHECK(swept->finished.empty());
  CHECK(tables.count("journal") == 10);
  CHECK(tables.count("blobs") == 35);
  int slices = 1;
  while (swept->more) {
    swept = sweep_slice(*tables.connection, budget);
    REQUIRE(swept);
    ++slices;
  }

  CHECK(slices == 3);
  CHECK(swept->finished == std::vector<std::int64_t>{*number});
  CHECK(tables.count("journal") == 5);
  CHECK(tables.count("blobs") == 5);
  CHECK(*count_removals(*tables.connection) == 0);
  CHECK_FALSE(sweep_slice(*tables.connection, budget)->more);
}

TEST_CASE("removed runs go in turns, so that pages they share are written once") {
  Tables tables;
  tables.fill("first", 40, 10);
  tables.fill("second", 40, 10);
  const auto first = write_removal(*tables.connection, run_id("first"));
  const auto second = write_removal(*tables.connection, run_id("second"));
  SliceBudget budget;
  budget.ms_max = 60'000;
  budget.rows_max = 40;

  REQUIRE(sweep_slice(*tables.connection, budget)->more);

  CHECK(tables.count("journal WHERE run = " + std::to_string(*first)) == 16);
  CHECK(tables.count("journal WHERE run = " + std::to_string(*second)) == 24);
  budget.rows_max = 1'000;
  const auto swept = sweep_slice(*tables.connection, budget);
  CHECK(swept->finished.size() == 2);
  CHECK_FALSE(swept->more);
}

TEST_CASE("nothing of a removed run is left in any table") {
  Tables tables;
  tables.fill("gone", 2, 10);
  Append last = append_of(run_id("gone"), 1, 2, "x");
  last.snapshot = StoredSnapshot{2, last.chain, "state"};
  REQUIRE(write_append(*tables.connection, last));
  REQUIRE(write_inbox(*tables.connection, run_id("gone"), 0, "a message"));
  REQUIRE(write_removal(*tables.connection, run_id("gone")));

  SliceBudget budget;
  budget.ms_max = 60'000;
  REQUIRE_FALSE(sweep_slice(*tables.connection, budget)->more);

  for (const std::string table :
       {"runs", "journal", "places", "blobs", "snapshots", "inbox", "removals"}) {
    CAPTURE(table);
    CHECK(tables.count(table) == 0);
  }
}

TEST_CASE("a removal that nobody wrote deletes nothing") {
  Tables tables;
  tables.fill("stays", 5, 10);
  // As when a page of another table has come to stand in the place of this one.
  REQUIRE(tables.connection->execute("INSERT INTO removals (run) VALUES (1)"));

  const auto swept = sweep_slice(*tables.connection, SliceBudget{});

  REQUIRE_FALSE(swept);
  CHECK(swept.error().code == ErrorCode::corrupt);
  CHECK(tables.count("journal") == 5);
}

TEST_CASE("a slice ends at its bytes, and has always done something") {
  Tables tables;
  tables.fill("gone", 10, 1'000);
  REQUIRE(write_removal(*tables.connection, run_id("gone")));

  SliceBudget budget;
  budget.ms_max = 60'000;
  budget.bytes_max = 2'500;
  REQUIRE(sweep_slice(*tables.connection, budget));
  CHECK(tables.count("journal") == 7);
  budget.bytes_max = 1;
  REQUIRE(sweep_slice(*tables.connection, budget));
  CHECK(tables.count("journal") == 6);
}

TEST_CASE("the size of a run is that of all its rows, however many there are") {
  constexpr std::int64_t kRows = 45'000;  // more than two reads of them
  Tables tables;
  tables.fill("a", 1, 10);
  const auto before = sizes_of_runs(*tables.connection);
  REQUIRE(before);
  REQUIRE(tables.connection->execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(kRows) + ") INSERT INTO inbox (run, at, body) SELECT 1, 1, x'00' FROM n"));

  const auto after = sizes_of_runs(*tables.connection);

  REQUIRE(after);
  CHECK(after->front().bytes == before->front().bytes + kRows);
}

TEST_CASE("numbers of removed runs are not given again") {
  Tables tables;
  tables.fill("a", 1, 1);
  const auto number = write_removal(*tables.connection, run_id("a"));
  REQUIRE(number);
  tables.fill("a", 1, 1);

  CHECK(*tables.connection->integer_of("SELECT no FROM runs") > *number);
  CHECK(outcome(write_removal(*tables.connection, run_id("nobody"))) == "not_found");
}

TEST_CASE("unused pages are given back, so many at a time") {
  Tables tables;
  tables.fill("stays", 1, 10);
  tables.fill("gone", 200, 8'000);
  REQUIRE(write_removal(*tables.connection, run_id("gone")));
  SliceBudget budget;
  budget.ms_max = 60'000;
  while (sweep_slice(*tables.connection, budget)->more) {
  }
  const StoreSize before = *size_of_store(*tables.connection);
  CHECK(before.unused_bytes > 1'500'000);

  budget.pages_max = 50;
  const auto first = vacuum_slice(*tables.connection, budget);
  REQUIRE(first);
  CHECK(first->pages >= 50);
  CHECK(first->pages < 60);
  CHECK(first->more);
  std::uint64_t pages = first->pages;
  bool more = true;
  while (more) {
    const auto next = vacuum_slice(*tables.connection, budget);
    REQUIRE(next);
    pages += next->pages;
    more = next->more;
  }

  const StoreSize after = *size_of_store(*tables.connection);
  CHECK(after.unused_bytes == 0);
  CHECK(before.bytes - after.bytes == pages * kPageBytes);

  CHECK(tables.count("journal") == 1);
}

}  // namespace
}  // namespace pawl::sqlite
