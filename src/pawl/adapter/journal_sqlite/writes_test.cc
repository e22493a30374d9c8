#include "pawl/adapter/journal_sqlite/writes.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "pawl/adapter/journal_sqlite/acceptance.h"
#include "pawl/adapter/journal_sqlite/row_sum.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "pawl/kernel/codec.h"
#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;

struct Database {
  Database() {
    std::ofstream(directory / "db").flush();
    auto opened = Connection::open(directory / "db");
    REQUIRE(opened);
    connection = std::move(*opened);
    REQUIRE(prepare_schema(*connection, "db"));
  }
  std::int64_t changes() { return sqlite3_total_changes64(connection->handle()); }

  TempDirectory directory;
  std::unique_ptr<Connection> connection;
};

TEST_CASE("most appends touch the journal alone") {
  Database database;
  const RunId run{"a"};
  REQUIRE(write_append(*database.connection, append_of(run, 1, 0, "x")));
  const std::int64_t before = database.changes();

  REQUIRE(write_append(*database.connection, append_of(run, 1, 1, "x")));

  CHECK(database.changes() == before + 1);
}

TEST_CASE("a refused write changes nothing, even before it is rolled back") {
  Database database;
  REQUIRE(write_append(*database.connection, append_of(RunId{"a"}, 1, 0, "x")));
  const std::int64_t before = database.changes();

  CHECK(outcome(write_append(*database.connection, append_of(RunId{"a"}, 2, 1, "x"))) ==
        "conflict");
  CHECK(outcome(write_inbox(*database.connection, RunId{"b"}, 1, "x")) == "not_found");
  CHECK(outcome(write_quarantine(*database.connection, RunId{"b"}, "why", 1)) == "not_found");
  const auto position = write_acquire(*database.connection, RunId{"b"}, 1);
  REQUIRE(position);
  CHECK(position->epoch == 1);
  CHECK(position->length == 0);

  CHECK(database.changes() == before);
}

TEST_CASE("whoever drives a run when it is quarantined writes no more, though its writer knew it") {
  Database database;
  const RunId run{"a"};
  REQUIRE(write_append(*database.connection, append_of(run, 1, 0, "x")));
  REQUIRE(write_append(*database.connection, append_of(run, 1, 1, "x")));
  REQUIRE(write_quarantine(*database.connection, run, "why", 1));
  CHECK(outcome(write_append(*database.connection, append_of(run, 1, 2, "x"))) == "conflict");
}

TEST_CASE("a quarantine without a reason is still a quarantine") {
  Database database;
  REQUIRE(write_append(*database.connection, append_of(RunId{"a"}, 1, 0, "x")));
  REQUIRE(write_quarantine(*database.connection, RunId{"a"}, "", 1));

  const auto position = write_acquire(*database.connection, RunId{"a"}, 1);

  REQUIRE(position);
  CHECK(position->quarantined == "");
}

TEST_CASE("a snapshot's digest covers all of it") {
  const StoredSnapshot snapshot{7, sha256("chain"), "state"};
  const Digest digest = digest_of(snapshot);

  CHECK(digest_of({8, snapshot.chain, "state"}) != digest);
  CHECK(digest_of({7, sha256("other"), "state"}) != digest);
  CHECK(digest_of({7, snapshot.chain, "State"}) != digest);
  CHECK(digest_of({7, snapshot.chain, "state"}) == digest);
}

TEST_CASE("the size of an append is that of its content") {
  Append append = append_of(RunId{"a"}, 1, 0, "12345");
  append.blobs = {contract::blob_of("123"), contract::blob_of("4567")};
  append.snapshot = StoredSnapshot{0, {}, "ab"};

  CHECK(size_of(append) == 14);
}

TEST_CASE("what others did to a run is seen by the appends of a writer that knows it") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 3);
  REQUIRE(append_now(view, append_of(run, 1, 3, "r3")) == "ok");
  SUBCASE("another process drives it") {
    const auto other = Connection::open(store.database());
    REQUIRE(other);
    REQUIRE(write_acquire(**other, run, 1));
    CHECK(append_now(view, append_of(run, 1, 4, "r4")) == "conflict");
    CHECK(append_now(view, append_of(run, 2, 4, "r4")) == "ok");
  }
  SUBCASE("another process has added to it") {
    execute(store.database(),
            "INSERT INTO journal (run, seq, epoch, sum, payload, chain) "
            "SELECT no, 4, 1, " +
                std::to_string(sum_of_record(1, 4, 1)) + ", x'00', zeroblob(32) FROM runs");
    CHECK(append_now(view, append_of(run, 1, 4, "r4")) == "conflict");
    CHECK(append_now(view, append_of(run, 1, 5, "r5")) == "ok");
  }
  SUBCASE("it is gone") {
    execute(store.database(), "DELETE FROM runs");
    CHECK(append_now(view, append_of(run, 1, 4, "r4")) == "conflict");
  }
}

// Each hides a record or a message of run `a` from it, as a flipped bit does.
TEST_CASE("a run whose last record or message cannot be found is not driven, and others are") {
  const char* const harms[] = {
      "UPDATE journal SET run = 2 WHERE id = 3",  "UPDATE journal SET run = 77 WHERE id = 3",
      "UPDATE journal SET seq = 66 WHERE id = 3", "UPDATE journal SET epoch = 9 WHERE id = 3",
      "UPDATE journal SET sum = 5 WHERE id = 3",  "UPDATE inbox SET run = 2 WHERE id = 1",
      "DELETE FROM inbox WHERE id = 1",
  };
  for (const char* const harm : harms) {
    CAPTURE(harm);
    SqliteStore store;
    StoreView view = store.view();
    const RunId run = contract::run_id("a");
    Digest chain = chain_origin(run);
    for (std::uint64_t seq = 0; seq < 3; ++seq) {
      Append append = append_of(run, 1, seq, "record");
      chain = append.chain = chain_after(chain, append.bytes);
      REQUIRE(append_now(view, std::move(append)) == "ok");
    }
    const RunId other = make_run(view, "b", 4);
    REQUIRE(contract::post_now(view, run, "text") == "ok");
    store.owner.reset();
    execute(store.database(), harm);
    store.reopen();

    REQUIRE_FALSE(store.owner->refusal());
    CHECK(outcome(store.owner->acquire(run)) == "corrupt");
    const bool others_inbox = std::string_view(harm) == "UPDATE inbox SET run = 2 WHERE id = 1";
    CHECK((outcome(store.owner->acquire(other)) == "ok") != others_inbox);
  }
}

TEST_CASE(
    "a row of the journal that is gone without a trace stops the store until it is accepted") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 3);
  make_run(view, "b", 2);
  store.owner.reset();
  execute(store.database(), "DELETE FROM journal WHERE id = 3");
  store.reopen();
  REQUIRE(store.owner->refusal());
  CHECK(store.owner->refusal()->message.find("rows 3 to 3 of table journal are gone") !=
        std::string::npos);
  store.owner.reset();

  const auto accepted = accept_store(store.directory / "store", 1);

  REQUIRE(accepted);
  CHECK(accepted->paused.size() == 2);
  store.reopen();
  CHECK_FALSE(store.owner->refusal());
  const auto drive = store.owner->acquire(run);
  REQUIRE(drive);
  CHECK(drive->length == 2);
}

}  // namespace
}  // namespace pawl::sqlite
