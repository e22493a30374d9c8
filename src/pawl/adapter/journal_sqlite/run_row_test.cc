#include "pawl/adapter/journal_sqlite/run_row.h"

#include <doctest/doctest.h>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::make_run;
using contract::outcome;
using contract::run_id;

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

}  // namespace
}  // namespace pawl
