#include "pawl/adapter/journal_sqlite/run_row.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "pawl/adapter/journal_sqlite/acceptance.h"
#include "pawl/adapter/journal_sqlite/removal.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::make_run;
using contract::outcome;
using contract::run_id;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a run whose row was changed is named and not driven, and the others go on") {
  for (const char* edit :
       {"status = 'done'", "epoch = epoch + 1", "loads = 1", "tenant = 'other'", "reason = 'x'",
        "quarantine = ''", "created_at = created_at + 1", "sum = sum + 1"}) {
    CAPTURE(edit);
    SqliteStore store;
    StoreView view = store.view();
    make_run(view, "a");
    make_run(view, "b");
    store.owner.reset();
    execute(store.database(), std::string("UPDATE runs SET ") + edit + " WHERE id = 'a'");
    store.reopen();

    const auto taken = store.owner->acquire(run_id("a"));
    REQUIRE(outcome(taken) == "corrupt");
    CHECK(taken.error().message.find("row 1 of table runs, run a") != std::string::npos);
    CHECK(store.owner->acquire(run_id("b")));
    const auto listed = store.owner->list({});
    REQUIRE(listed);
    REQUIRE(listed->size() == 2);
    CHECK((*listed)[0].id == run_id("b"));
    CHECK((*listed)[0].status != "quarantined");
    CHECK((*listed)[1].status == "quarantined");
    CHECK((*listed)[1].reason.find("row 1 of table runs") != std::string::npos);
  }
}

TEST_CASE("a run's row is written as a whole and read as it was written") {
  SqliteStore store;
  store.owner.reset();
  auto connection = sqlite::Connection::open(store.database());
  REQUIRE(connection);
  sqlite::RunRow row;
  row.summary = {run_id("a"), "t", "n", "running", "r", 1, 2, 0};
  REQUIRE(sqlite::insert_run(**connection, row));
  row.epoch = 9;
  row.loads = 3;
  row.quarantine = "why";
  REQUIRE(sqlite::update_run(**connection, row));
  const auto found = sqlite::find_run(**connection, run_id("a"));
  REQUIRE(found);
  REQUIRE(*found);
  CHECK((*found)->summary == row.summary);
  CHECK((*found)->epoch == 9);
  CHECK((*found)->held_back() == "why");
  CHECK_FALSE(*sqlite::find_run(**connection, run_id("b")));
}

TEST_CASE("a run that is hidden in its table stops the store until somebody accepts the loss") {
  // The index and the table each without the row; and numbers that were never given.
  for (const char* edit :
       {"DELETE FROM runs WHERE id = 'a'", "UPDATE sqlite_sequence SET seq = 9 WHERE name = 'runs'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
        "sqlite_schema WHERE name = 'inbox_by_run') WHERE name = 'sqlite_autoindex_runs_1'"}) {
    CAPTURE(edit);
    SqliteStore store;
    StoreView view = store.view();
    make_run(view, "a");
    make_run(view, "b");
    store.owner.reset();
    execute(store.database(), edit);
    store.reopen();

    const auto refused = store.owner->refusal();
    REQUIRE(refused);
    CHECK(refused->message.find("runs and should have") != std::string::npos);
    CHECK(outcome(store.owner->acquire(run_id("b"))) != "ok");
    CHECK(outcome(store.owner->check()) == "corrupt");
  }
}

TEST_CASE("a store goes on without a run that it has lost once that was accepted") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a");
  make_run(view, "b");
  const std::string directory = store.directory / "store";
  store.owner.reset();
  execute(store.database(), "DELETE FROM runs WHERE id = 'a'");

  REQUIRE(sqlite::accept_store(directory, 1));
  store.reopen();

  CHECK_FALSE(store.owner->refusal());
  CHECK(store.owner->acquire(run_id("b")));
}

TEST_CASE("runs that are removed, refused or rolled back are not missed") {
  SqliteStore store;
  StoreView view = store.view();
  for (const char* id : {"a", "b", "c"}) make_run(view, id);
  auto connection = sqlite::Connection::open(store.database());
  REQUIRE(connection);
  sqlite::Connection& tables = **connection;
  REQUIRE(sqlite::write_removal(tables, run_id("b")));
  sqlite::RunRow row;
  row.summary = {run_id("a"), "t", "n", "running", "", 1, 1, 0};
  CHECK_FALSE(sqlite::insert_run(tables, row));  // it is there
  REQUIRE(tables.execute("BEGIN IMMEDIATE"));
  row.summary.id = run_id("d");
  REQUIRE(sqlite::insert_run(tables, row));
  REQUIRE(tables.execute("ROLLBACK"));

  CHECK(*sqlite::missing_runs(tables) == "");
}

TEST_CASE("an id that is damaged in the index of runs does not pass for a run that is not there") {
  SqliteStore store;
  StoreView view = store.view();
  for (const char* id : {"run-a", "run-b", "run-c"}) make_run(view, id);
  store.owner.reset();
  const std::string mark_path = store.directory / "store/pawl.mark";
  const std::string bytes = content_of(store.database());
  const std::string mark = content_of(mark_path);
  // Once in its row and once in the index.
  std::size_t damaged = 0;
  for (std::size_t at = bytes.find("run-b"); at != std::string::npos;
       at = bytes.find("run-b", at + 1)) {
    std::string flipped = bytes;
    flipped[at + 4] = 'f';
    for (const char* left : {"-wal", "-shm"}) std::filesystem::remove(store.database() + left);
    std::ofstream(store.database(), std::ios::binary) << flipped;
    std::ofstream(mark_path, std::ios::binary) << mark;
    store.reopen();
    const auto taken = store.owner->acquire(run_id("run-b"));
    store.owner.reset();
    if (taken) continue;  // SQLite takes the id from the index, where it is right
    damaged += taken.error().message.find("index of table runs") != std::string::npos ? 1U : 0U;
  }
  CHECK(damaged == 1);
}

TEST_CASE("a run whose status is no word is listed under every status") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a");
  store.owner.reset();
  execute(store.database(), "UPDATE runs SET status = 'wbiting'");
  store.reopen();

  ListQuery query;
  query.status = "waiting";
  const auto listed = store.owner->list(query);
  REQUIRE(listed);
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().status == "quarantined");
}

}  // namespace
}  // namespace pawl
