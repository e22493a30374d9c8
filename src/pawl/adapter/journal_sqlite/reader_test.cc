#include "pawl/adapter/journal_sqlite/reader.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/removal.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::records_of;

TEST_CASE("a gap in a run is corrupt, names its row, and leaves other runs alone") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 5);
  const RunId other = make_run(view, "b", 2);
  execute(store.database(), "DELETE FROM journal WHERE run = 1 AND seq = 2");
  // Who has written it knows where it was.
  const auto known = store.owner->read(run, 0, 1000);
  REQUIRE(outcome(known) == "corrupt");
  CHECK(known.error().message.find("record 2 of run a") != std::string::npos);
  store.reopen();

  const auto records = store.owner->read(run, 0, 1000);

  REQUIRE(outcome(records) == "corrupt");
  CHECK(records.error().message.find("row 4") != std::string::npos);
  CHECK(records.error().message.find("run a") != std::string::npos);
  CHECK(store.owner->read(run, 0, 4)->size() == 2);
  StoreView reopened = store.view();
  CHECK(records_of(reopened, other).size() == 2);
}

TEST_CASE("a run that has lost all its records is corrupt, and not an empty one") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 3);
  execute(store.database(), "DELETE FROM journal; DELETE FROM places");
  store.reopen();

  REQUIRE(outcome(store.owner->read(run, 0, 1000)) == "corrupt");
  CHECK(store.owner->read(run, 0, 1000).error().message.find("record 0 of run a") !=
        std::string::npos);
}

TEST_CASE("a list of runs that has lost one does not agree with its index") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 3);
  make_run(view, "b", 3);
  CHECK(store.owner->check());
  execute(store.database(),
          "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
          "sqlite_schema WHERE name = 'removals') WHERE name = 'runs'");
  store.reopen();

  CHECK(store.owner->list({})->empty());
  CHECK(outcome(store.owner->check()) == "corrupt");
}

TEST_CASE("a reader that is told of records knows them, and what it was not told of as well") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 3);  // rows 1 to 3
  auto connection = sqlite::Connection::open(store.database());
  REQUIRE(connection);
  sqlite::Connection& inside = **connection;
  sqlite::Reader reader(*std::move(connection));
  REQUIRE(reader.read(run, 0, 1'000)->size() == 3);
  const auto generation = inside.tail().generation;
  const std::int64_t no = inside.tail().newest().run;
  for (std::uint64_t seq = 3; seq < 6; ++seq) append_now(view, append_of(run, 1, seq, "more"));
  SUBCASE("of each") {
    for (const std::int64_t row : {4, 4, 5, 6}) {
      reader.note({generation, no, static_cast<std::uint64_t>(row - 1), row, 4});
      CHECK(inside.tail().last_row() == row);
    }
  }
  SUBCASE("of the last, behind a gap") {
    reader.note({generation, no, 5, 6, 4});
    CHECK(inside.tail().last_row() == 6);
  }
  SUBCASE("of another generation's") {
    reader.note({*generation + 1, no, 7, 4, 4});
    CHECK(inside.tail().last_row() == 6);
  }
  const auto records = reader.read(run, 0, 1'000);
  REQUIRE(records);
  REQUIRE(records->size() == 6);
  CHECK(records->back().bytes == "more");
}

TEST_CASE("records whose run has gone from the list of runs are damage") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 3);
  make_run(view, "b", 2);
  execute(store.database(), "DELETE FROM runs WHERE id = 'a'");

  const Status checked = store.owner->check();

  REQUIRE(outcome(checked) == "corrupt");
  CHECK(checked.error().message.find("run number 1, of which there are 3") != std::string::npos);
}

TEST_CASE("records of a run that is being removed are no damage") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 3);
  auto connection = sqlite::Connection::open(store.database());
  REQUIRE(connection);
  REQUIRE(sqlite::write_removal(**connection, run));

  CHECK(outcome(store.owner->check()) == "ok");
}

TEST_CASE("damaged blobs are corrupt and damaged snapshots are not there") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  Append append = append_of(run, 1, 1, "x");
  append.blobs = {contract::blob_of("blob")};
  append.snapshot = StoredSnapshot{1, append.chain, "state"};
  REQUIRE(append_now(view, append) == "ok");
  execute(store.database(), "UPDATE blobs SET bytes = x'00'; UPDATE snapshots SET seq = seq + 1");

  CHECK(outcome(store.owner->blob(run, sha256("blob"))) == "corrupt");
  CHECK(*store.owner->snapshot(run) == std::nullopt);
}

}  // namespace
}  // namespace pawl
