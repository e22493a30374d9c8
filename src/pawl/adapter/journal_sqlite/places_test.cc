#include "pawl/adapter/journal_sqlite/places.h"

#include <doctest/doctest.h>

#include <array>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "pawl/adapter/journal_sqlite/writes.h"
#include "tests/contract/upkeep_contract.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::records_of;
using contract::remove_now;
using contract::run_id;
using contract::Texts;
using sqlite::Tail;

// `count` records of each of two runs, given at once.
void fill(SqliteStore& store, SqliteJournal& journal, std::uint64_t from, std::uint64_t count) {
  std::uint64_t durable = 0;
  for (std::uint64_t seq = from; seq < from + count; ++seq) {
    for (const char* id : {"a", "b"}) {
      journal.append(append_of(run_id(id), 1, seq, id + std::to_string(seq)),
                     [&](const Status& status) { durable += status ? 1U : 0U; });
    }
  }
  REQUIRE(store.loop.run_until([&] { return durable == 2 * count; }));
}

void check_records(SqliteJournal& journal, std::uint64_t count) {
  for (const std::string id : {"a", "b"}) {
    std::uint64_t seq = 0;
    while (seq < count) {
      const auto batch = journal.read(run_id(id), seq, 1'000);
      REQUIRE(batch);
      REQUIRE_FALSE(batch->empty());
      for (const StoredRecord& record : *batch) {
        REQUIRE(record.seq == seq);
        REQUIRE(record.bytes == id + std::to_string(seq));
        ++seq;
      }
    }
    CHECK(journal.read(run_id(id), count, 1)->empty());
  }
  const auto listed = journal.list({});
  REQUIRE(listed);
  for (const RunSummary& summary : *listed) CHECK(summary.length == count);
}

TEST_CASE("records are found before, after and while they get their places") {
  SqliteStore store;
  const auto other = open_store(store.directory / "store", store.loop);
  std::uint64_t count = 0;
  for (int round = 0; round < 6; ++round) {
    fill(store, *store.owner, count, 400);
    count += 400;
    check_records(*store.owner, count);
    check_records(*other, count);
  }
  // Another process's committer finds the tail that this one has left.
  fill(store, *other, count, 400);
  check_records(*store.owner, count + 400);
  StoreView view = store.view();
  CHECK(append_now(view, append_of(run_id("a"), 1, count, "twice")) == "conflict");
  store.reopen();
  check_records(*store.owner, count + 400);
}

// What a connection that opens the store now knows of it.
struct Known {
  std::int64_t records = 0;  // in the journal
  std::int64_t placed = 0;   // in `places`
  std::int64_t up_to = 0;    // rows that all are
  std::int64_t behind = 0;   // rows after them
  std::int64_t both = 0;     // of those, the ones that are in `places` nevertheless
};

Known known_in(const std::string& database) {
  auto connection = sqlite::Connection::open(database);
  REQUIRE(connection);
  REQUIRE(refresh_tail(**connection));
  const auto count = [&](const char* query) { return *(*connection)->integer_of(query); };
  return {count("SELECT count(*) FROM journal"), count("SELECT count(*) FROM places"),
          count("SELECT up_to FROM placed"),
          static_cast<std::int64_t>((*connection)->tail().size()),
          count("SELECT count(*) FROM places, placed WHERE id > up_to")};
}

TEST_CASE("what waits for its place is bounded, and has it once") {
  constexpr auto kMin = static_cast<std::int64_t>(Tail::kRecordsMin);
  SqliteStore store;
  auto reader = sqlite::Connection::open(store.database());
  REQUIRE(reader);
  std::int64_t partly = 0;
  for (std::uint64_t round = 0; round < 40; ++round) {
    fill(store, *store.owner, round * 400, 400);
    REQUIRE(refresh_tail(**reader));
    CHECK((*reader)->tail().size() <= Tail::kRecordsMin * 2);
    const Known known = known_in(store.database());
    CHECK(known.behind <= kMin * 2);
    CHECK(known.placed - known.both + known.behind == known.records);
    partly += known.both > 0 ? 1 : 0;
  }
  CHECK(known_in(store.database()).up_to > 40 * 800 - 2 * kMin);
  CHECK(partly > 0);  // it was seen under way
}

// Records of two runs until placing is under way, and the store left like that.
std::uint64_t fill_until_placing(SqliteStore& store) {
  for (std::uint64_t count = 0;; count += 10) {
    REQUIRE(count < 2 * Tail::kRecordsMin);
    fill(store, *store.owner, count, 10);
    if (known_in(store.database()).both > 0) return count + 10;
  }
}

TEST_CASE("placing that was broken off is done again by whoever comes next") {
  SqliteStore store;
  std::uint64_t count = fill_until_placing(store);
  store.reopen();
  check_records(*store.owner, count);
  for (int round = 0; round < 20; ++round, count += 100) {
    fill(store, *store.owner, count, 100);
    check_records(*store.owner, count + 100);
  }
  CHECK(known_in(store.database()).up_to > 0);
}

TEST_CASE("processes that end before they have placed all leave about twice as many at most") {
  // What the last one has placed itself does not count for it.
  constexpr std::int64_t kMax = 2 * static_cast<std::int64_t>(Tail::kRecordsMin) + 1'024;
  SqliteStore store;
  std::uint64_t count = 0;
  for (int round = 0; round < 40; ++round, count += 200) {
    fill(store, *store.owner, count, 200);
    CHECK(known_in(store.database()).behind <= kMax);
    store.reopen();
  }
  check_records(*store.owner, count);
}

TEST_CASE("a run is removed while places are brought up to date") {
  SqliteStore store;
  const std::uint64_t count = fill_until_placing(store);
  StoreView view = store.view();
  const auto other = open_store(store.directory / "store", store.loop);
  REQUIRE(other->list({})->size() == 2);  // its tail knows rows that will go

  REQUIRE(remove_now(view, run_id("a")) == "ok");

  make_run(view, "c", 30);
  StoreView there{store.loop, *other};
  for (StoreView& one : std::array<StoreView, 2>{view, there}) {
    CHECK(records_of(one, run_id("b")).size() == count);
    CHECK(records_of(one, run_id("c")).back() == "r29");
    CHECK(outcome(one.journal.read(run_id("a"), 0, 1)) == "not_found");
  }
}

TEST_CASE("two processes that write in turn place what both have written") {
  SqliteStore store;
  const auto other = open_store(store.directory / "store", store.loop);
  std::uint64_t count = 0;
  for (int round = 0; round < 120; ++round, count += 50) {
    fill(store, round % 2 == 0 ? *store.owner : *other, count, 50);
  }
  check_records(*store.owner, count);
  check_records(*other, count);
  const Known known = known_in(store.database());
  CHECK(known.behind <= 2 * static_cast<std::int64_t>(Tail::kRecordsMin) + 512);
  CHECK(known.up_to > 0);
}

TEST_CASE("rows that a removal frees are given again, and everybody finds what is in them now") {
  SqliteStore store;
  StoreView view = store.view();
  const auto other = open_store(store.directory / "store", store.loop);
  make_run(view, "stays", 3);
  make_run(view, "gone", 50);
  CHECK(other->list({})->size() == 2);  // its tail knows all rows now

  REQUIRE(remove_now(view, run_id("gone")) == "ok");
  make_run(view, "new", 20);

  StoreView there{store.loop, *other};
  for (StoreView& one : std::array<StoreView, 2>{view, there}) {
    CHECK(records_of(one, run_id("new")).size() == 20);
    CHECK(records_of(one, run_id("new")).back() == "r19");
    CHECK(records_of(one, run_id("stays")) == Texts{"r0", "r1", "r2"});
    CHECK(outcome(one.journal.read(run_id("gone"), 0, 1)) == "not_found");
  }
}

// Two writers know the same rows: those that one has placed the other must not place again.
TEST_CASE("all of a tail is placed, also what has come since placing began") {
  SqliteStore store;
  fill(store, *store.owner, 0, 3);
  auto opened = sqlite::Connection::open(store.database());
  REQUIRE(opened);
  sqlite::Connection& own = **opened;
  REQUIRE(own.execute("BEGIN IMMEDIATE"));
  REQUIRE(sqlite::ensure_tail(own));
  REQUIRE(sqlite::place_some(own, 1));
  REQUIRE(own.tail().placing);  // of one run, and the other's turn comes
  REQUIRE(sqlite::write_append(own, append_of(run_id("a"), 1, 3, "a3")));

  REQUIRE(sqlite::place_tail(own));

  REQUIRE(own.execute("COMMIT"));
  const Known known = known_in(store.database());
  CHECK(known.behind == 0);
  CHECK(known.placed == known.records);
}

TEST_CASE("what another connection has placed is no longer waiting here") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 5);
  auto one = sqlite::Connection::open(store.database());
  auto other = sqlite::Connection::open(store.database());
  REQUIRE(refresh_tail(**one));
  REQUIRE(refresh_tail(**other));
  REQUIRE((*other)->tail().size() == 5);

  REQUIRE(place_tail(**one));
  REQUIRE(refresh_tail(**other));

  CHECK((*other)->tail().size() == 0);
  CHECK(outcome(place_tail(**other)) == "ok");
}

TEST_CASE("a row that is gone is damage, whether it had its place or not") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 4);
  REQUIRE(records_of(view, run).size() == 4);
  execute(store.database(), "DELETE FROM journal WHERE seq = 1");
  CHECK(outcome(store.owner->read(run, 0, 1'000)) == "corrupt");
  store.reopen();
  CHECK(outcome(store.owner->read(run, 0, 1'000)) == "corrupt");
  {
    auto connection = sqlite::Connection::open(store.database());
    REQUIRE(refresh_tail(**connection));
    REQUIRE(place_tail(**connection));
  }
  CHECK(outcome(store.owner->read(run, 0, 1'000)) == "corrupt");
}

// Records that come would be taken for placed, acknowledged, and never found again.
TEST_CASE("damage to what is known to be placed is named, and every record is found without it") {
  for (const char* edit :
       {"UPDATE placed SET up_to = 999", "UPDATE placed SET up_to = -1", "DELETE FROM placed",
        "UPDATE placed SET up_to = 4", "UPDATE placed SET up_to = 3, sum = sum + 1"}) {
    INFO(edit);
    SqliteStore store;
    StoreView view = store.view();
    const RunId run = make_run(view, "a", 4);
    store.owner.reset();
    execute(store.database(), edit);
    store.reopen();

    const Status checked = store.owner->check();
    REQUIRE(outcome(checked) == "corrupt");
    CHECK(checked.error().message.find("table placed") != std::string::npos);
    CHECK(store.owner->read(run, 0, 1'000)->size() == 4);
    CHECK(store.owner->list({})->front().length == 4);
    StoreView again = store.view();
    CHECK(contract::append_now(again, contract::append_of(run, 1, 4, "r4")) == "ok");
    CHECK(store.owner->read(run, 0, 1'000)->size() == 5);
  }
}

}  // namespace
}  // namespace pawl
