#include "pawl/adapter/journal_sqlite/journal_sqlite.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "tests/contract/journal_contract.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::post_now;
using contract::records_of;
using contract::run_id;
using contract::Texts;

// What the contract wants to see: a member `journal`.
struct ContractStore : SqliteStore {
  SqliteJournal& journal = *owner;
};

TEST_CASE("the SQLite journal keeps the contract") {
  contract::check_journal_contract<ContractStore>();
}

TEST_CASE("what was appended is there after closing and opening") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a", 3);
  REQUIRE(post_now(view, run, "hello") == "ok");
  REQUIRE(store.owner->acquire(run));

  store.reopen();

  StoreView again = store.view();
  CHECK(records_of(again, run) == Texts{"r0", "r1", "r2"});
  CHECK(store.owner->pending(run)->front().body == "hello");
  CHECK(store.owner->acquire(run)->epoch == 3);
  CHECK(store.owner->torn_bytes() == 0);
}

TEST_CASE("two journals of one directory see each other and exclude each other") {
  SqliteStore first;
  const auto second = open_store(first.directory / "store", first.loop);
  StoreView here{first.loop, *first.owner};
  StoreView there{first.loop, *second};
  const RunId run = make_run(here, "a");
  const std::uint64_t version = *second->version();

  CHECK(records_of(there, run) == Texts{"r0"});
  REQUIRE(append_now(here, append_of(run, 1, 1, "r1")) == "ok");
  CHECK(*second->version() != version);
  REQUIRE(post_now(there, run, "hello") == "ok");
  CHECK(first.owner->pending(run)->front().body == "hello");
  auto drive = first.owner->acquire(run);
  REQUIRE(drive);
  CHECK(outcome(second->acquire(run)) == "conflict");
  drive->hold.reset();
  CHECK(second->acquire(run)->epoch == 3);
  CHECK(append_now(here, append_of(run, 2, 2, "fenced")) == "conflict");
}

TEST_CASE("a hold outlives its journal and still keeps others away") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  auto drive = store.owner->acquire(run);
  REQUIRE(drive);

  store.reopen();

  CHECK(outcome(store.owner->acquire(run)) == "conflict");
  drive->hold.reset();
  CHECK(outcome(store.owner->acquire(run)) == "ok");
}

TEST_CASE("400 records of 2 KB take at most twice their size") {
  constexpr std::uint64_t kRecords = 400;
  constexpr std::size_t kBytes = 2048;
  SqliteStore store;
  StoreView view = store.view();
  for (std::uint64_t seq = 0; seq < kRecords; ++seq) {
    REQUIRE(append_now(view, append_of(run_id("a"), 1, seq, std::string(kBytes, 'x'))) == "ok");
  }
  REQUIRE(outcome(store.owner->checkpoint()) == "ok");
  std::uintmax_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(store.directory / "store")) {
    if (file.path().filename() != "pawl.db-shm") size += file.file_size();
  }

  const double ratio = static_cast<double>(size) / (kRecords * kBytes);

  MESSAGE("store size / payload = " << ratio);
  CHECK(ratio <= 2.0);
}

// The order of appends is one process's: what another one lost is no failure of this one's.
TEST_CASE("who takes a run up is not refused for what its last driver had handed over") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = contract::make_run(view, "a", 1);
  const auto other = SqliteJournal::open(store.directory / "store", store.loop);
  REQUIRE(other);
  auto drive = store.owner->acquire(run);
  REQUIRE(drive);
  std::vector<std::string> told;
  const auto tell = [&](const std::string& who) {
    return
        [&told, who](const Status& status) { told.push_back(who + (status ? " ok" : " refused")); };
  };
  store.owner->append(contract::append_of(run, drive->epoch, 1, "of the first"), tell("first"));
  drive->hold.reset();  // before the store has written that
  SUBCASE("another process") {
    const auto taken = (*other)->acquire(run);
    REQUIRE(taken);
    (*other)->append(contract::append_of(run, taken->epoch, taken->length, "of the second"),
                     tell("second"));
    REQUIRE(store.loop.run_until([&] { return told.size() == 2; }));
    std::sort(told.begin(), told.end());
    CHECK(told == std::vector<std::string>{"first refused", "second ok"});
  }
  SUBCASE("the same process: behind it") {
    const auto taken = store.owner->acquire(run);
    REQUIRE(taken);
    CHECK(taken->length == 2);
    store.owner->append(contract::append_of(run, taken->epoch, 2, "of the second"), tell("second"));
    REQUIRE(store.loop.run_until([&] { return told.size() == 2; }));
    CHECK(told == std::vector<std::string>{"first ok", "second ok"});
  }
}

}  // namespace
}  // namespace pawl
