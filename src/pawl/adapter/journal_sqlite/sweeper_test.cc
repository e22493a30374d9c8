#include "pawl/adapter/journal_sqlite/sweeper.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "tests/contract/upkeep_contract.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::blob_of;
using contract::compact_now;
using contract::make_run;
using contract::outcome;
using contract::records_of;
using contract::remove_now;
using contract::run_id;
using contract::Texts;

struct ContractStore : SqliteStore {
  SqliteJournal& journal = *owner;
};

void fill(SqliteStore& store, const std::string& id, std::uint64_t records, std::size_t bytes) {
  std::uint64_t durable = 0;
  for (std::uint64_t seq = 0; seq < records; ++seq) {
    Append append = append_of(run_id(id), 1, seq, std::string(200, 'x'));
    append.blobs = {blob_of(id + std::to_string(seq) + std::string(bytes, 'b'))};
    store.owner->append(std::move(append), [&](const Status& status) {
      CHECK(status);
      ++durable;
    });
  }
  REQUIRE(store.loop.run_until([&] { return durable == records; }));
}

TEST_CASE("the SQLite journal keeps the contract of upkeep") {
  contract::check_upkeep_contract<ContractStore>();
}

TEST_CASE("the file becomes smaller when a large run is removed") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "stays", 3);
  fill(store, "large", 3'000, 2'000);
  REQUIRE(store.owner->checkpoint());
  const auto before = std::filesystem::file_size(store.database());

  REQUIRE(remove_now(view, run_id("large")) == "ok");
  const std::uint64_t returned = compact_now(view);

  const auto after = std::filesystem::file_size(store.database());
  CHECK(before - after <= returned);  // removing it took a page or two first
  CHECK(before - after + 100'000 > returned);
  CHECK(after < 200'000);
  CHECK(returned > 6'000'000);
  store.reopen();
  StoreView again = store.view();
  CHECK(records_of(again, run_id("stays")) == Texts{"r0", "r1", "r2"});
}

TEST_CASE("a removal that was cut short is finished by whoever opens the store next") {
  SqliteStore store;
  fill(store, "large", 3'000, 100);
  bool done = false;
  store.owner->remove(run_id("large"), [&](const Status&) { done = true; });
  REQUIRE(store.loop.run_until([&] { return store.loop.timer_count() > 0; }));
  REQUIRE_FALSE(done);
  CHECK(store.owner->list({})->empty());
  CHECK(store.owner->size()->removing == 1);

  store.reopen();

  CHECK_FALSE(done);
  CHECK(store.owner->list({})->empty());
  StoreView view = store.view();
  contract::finish(view, [&] { return store.owner->size()->removing == 0; });
  compact_now(view);
  CHECK(store.owner->size()->bytes < 200'000);
}

TEST_CASE("a removal that another process has finished is answered all the same") {
  SqliteStore store;
  fill(store, "large", 3'000, 100);
  bool done = false;
  store.owner->remove(run_id("large"), [&](const Status& status) { done = status.has_value(); });
  REQUIRE(store.loop.run_until([&] { return store.loop.timer_count() > 0; }));
  REQUIRE_FALSE(done);
  TestLoop loop;
  const auto other = open_store(store.directory / "store", loop);
  StoreView there{loop, *other};
  contract::finish(there, [&] { return other->size()->removing == 0; });
  StoreView here = store.view();
  contract::finish(here, [&] { return done; });
  CHECK(done);
}

TEST_CASE("whoever waits for a sweep that fails is told") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a");
  execute(store.database(), "INSERT INTO removals (run) VALUES (1)");  // nobody's

  CHECK(remove_now(view, run_id("a")) == "corrupt");

  std::optional<std::string> compacted;
  store.owner->compact([&](const Result<std::uint64_t>& bytes) { compacted = outcome(bytes); });
  contract::finish(view, [&] { return compacted.has_value(); });
  CHECK(*compacted == "corrupt");
}

TEST_CASE("a run that is removed while space is given back goes, too") {
  SqliteStore store;
  StoreView view = store.view();
  fill(store, "large", 3'000, 2'000);
  make_run(view, "small", 3);
  REQUIRE(remove_now(view, run_id("large")) == "ok");
  bool compacted = false;
  bool removed = false;
  store.owner->compact([&](const Result<std::uint64_t>& bytes) { compacted = bytes.has_value(); });
  REQUIRE(store.loop.run_until([&] { return store.loop.timer_count() > 0; }));
  REQUIRE_FALSE(compacted);
  store.owner->remove(run_id("small"), [&](const Status& status) { removed = status.has_value(); });
  contract::finish(view, [&] { return compacted && removed; });
  CHECK(store.owner->size()->removing == 0);
}

TEST_CASE("others are not kept from committing while a large run goes") {
  constexpr double kPauseMsMax = 250;
  SqliteOptions options;
  SqliteStore store(options);
  fill(store, "large", 20'000, 0);
  TestLoop loop(TestLoop::Clock::machine);
  const auto sweeping = open_store(store.directory / "store", loop);
  StoreView here = store.view();
  bool removed = false;
  bool compacted = false;
  sweeping->remove(run_id("large"), [&](const Status& status) { removed = status.has_value(); });
  sweeping->compact([&](const Result<std::uint64_t>& bytes) { compacted = bytes.has_value(); });

  double longest_ms = 0;
  std::uint64_t commits = 0;
  while (!(removed && compacted)) {
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(append_now(here, append_of(run_id("other"), 1, commits, "r")) == "ok");
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    longest_ms = std::max(longest_ms, took.count());
    ++commits;
    loop.run_until([&] { return removed && compacted; }, 1);
  }

  MESSAGE(commits << " commits meanwhile, the longest took " << longest_ms << " ms");
  CHECK(commits > 10);
  // Twice the bound: this machine may be busy with other tests.
  CHECK(longest_ms < 2 * kPauseMsMax);
}

}  // namespace
}  // namespace pawl
