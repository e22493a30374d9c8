// The contract of Upkeep in pawl/store.h as a test, for stores as journal_contract.h has them
// whose journal is an Upkeep too.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "pawl/store.h"
#include "tests/contract/journal_contract_support.h"

namespace pawl::contract {

// Runs the loop, moving its clock from timer to timer, until `done()` holds.
template <class Store, class Done>
void finish(Store& store, Done done) {
  while (!done()) {
    REQUIRE(store.loop.run_until([&] { return done() || store.loop.timer_count() > 0; }));
    if (!done()) store.loop.skip_to_next_timer();
  }
}

template <class Store>
std::string remove_now(Store& store, const RunId& run) {
  std::optional<std::string> seen;
  store.journal.remove(run, [&](Status status) { seen = outcome(status); });
  CHECK_FALSE(seen);
  finish(store, [&] { return seen.has_value(); });
  return *seen;
}

template <class Store>
std::uint64_t compact_now(Store& store) {
  std::optional<Result<std::uint64_t>> seen;
  store.journal.compact([&](Result<std::uint64_t> bytes) { seen = std::move(bytes); });
  CHECK_FALSE(seen);
  finish(store, [&] { return seen.has_value(); });
  REQUIRE(*seen);
  return **seen;
}

// A run with something of every kind.
template <class Store>
RunId make_rich_run(Store& store, const std::string& id) {
  const RunId run = make_run(store, id);
  Append append = append_of(run, 1, 1, "r1");
  append.blobs = {blob_of("the blob of " + id), blob_of("shared")};
  append.snapshot = StoredSnapshot{1, append.chain, "state"};
  REQUIRE(append_now(store, append) == "ok");
  REQUIRE(post_now(store, run, "hello") == "ok");
  return run;
}

template <class Store>
void a_removed_run_is_gone_whole(Store& store) {
  const RunId run = make_rich_run(store, "a");
  const RunId other = make_rich_run(store, "b");
  CHECK(store.journal.check());

  CHECK(remove_now(store, run) == "ok");

  CHECK(outcome(store.journal.read(run, 0, 100)) == "not_found");
  CHECK(outcome(store.journal.blob(run, sha256("shared"))) == "not_found");
  CHECK_FALSE(*store.journal.snapshot(run));
  CHECK(store.journal.pending(run)->empty());
  CHECK(post_now(store, run, "too late") == "not_found");
  CHECK(remove_now(store, run) == "not_found");
  CHECK(records_of(store, other) == Texts{"r0", "r1"});
  CHECK(*store.journal.blob(other, sha256("shared")) == "shared");
  CHECK(store.journal.snapshot(other)->has_value());
  CHECK(store.journal.pending(other)->size() == 1);
  REQUIRE(store.journal.list({})->size() == 1);
  CHECK(store.journal.list({})->front().id == other);
  CHECK(store.journal.size()->removing == 0);
}

template <class Store>
void its_id_is_free_and_finds_nothing_of_it(Store& store) {
  const RunId run = make_rich_run(store, "a");
  REQUIRE(remove_now(store, run) == "ok");

  const auto drive = store.journal.acquire(run);
  REQUIRE(drive);
  CHECK(drive->epoch == 1);
  CHECK(drive->length == 0);
  REQUIRE(append_now(store, append_of(run, 1, 0, "new")) == "ok");
  CHECK(records_of(store, run) == Texts{"new"});
  CHECK(outcome(store.journal.blob(run, sha256("shared"))) == "not_found");
  CHECK_FALSE(*store.journal.snapshot(run));
  CHECK(store.journal.pending(run)->empty());
}

template <class Store>
void a_driven_run_is_not_removed(Store& store) {
  const RunId run = make_rich_run(store, "a");
  auto drive = store.journal.acquire(run);
  REQUIRE(drive);

  CHECK(remove_now(store, run) == "conflict");
  CHECK(append_now(store, append_of(run, drive->epoch, 2, "r2")) == "ok");
  CHECK(records_of(store, run) == Texts{"r0", "r1", "r2"});

  drive->hold.reset();
  CHECK(remove_now(store, run) == "ok");
  CHECK(append_now(store, append_of(run, drive->epoch, 3, "late")) == "conflict");
  CHECK(store.journal.list({})->empty());
}

template <class Store>
void quarantined_runs_are_removed_too(Store& store) {
  const RunId run = make_run(store, "a");
  REQUIRE(store.journal.quarantine(run, "row 7 is damaged"));

  CHECK(remove_now(store, run) == "ok");

  CHECK(store.journal.list({})->empty());
  CHECK(outcome(store.journal.acquire(run)) == "ok");
}

template <class Store>
void sizes_follow_what_is_stored(Store& store) {
  make_run(store, "small");
  Append large = append_of(run_id("large"), 1, 0, std::string(3'000, 'x'));
  large.blobs = {blob_of(std::string(500'000, 'b'))};
  REQUIRE(append_now(store, large) == "ok");
  const auto bytes_of = [&](const std::string& id) {
    const auto sizes = store.journal.run_sizes();
    REQUIRE(sizes);
    for (const RunSize& size : *sizes) {
      if (size.id.text == id) return size.bytes;
    }
    return std::uint64_t{0};
  };
  CHECK(store.journal.run_sizes()->size() == 2);
  CHECK(bytes_of("large") >= 503'000);
  CHECK(bytes_of("large") < 504'000);
  CHECK(bytes_of("small") < 100);
  const std::uint64_t before = store.journal.size()->bytes;

  REQUIRE(remove_now(store, run_id("large")) == "ok");
  compact_now(store);

  CHECK(store.journal.run_sizes()->size() == 1);
  CHECK(bytes_of("large") == 0);
  CHECK(store.journal.size()->bytes + 450'000 <= before);
  CHECK(store.journal.size()->unused_bytes == 0);
}

// Every check on a store of its own.
template <class Store>
void check_upkeep_contract() {
  struct Check {
    const char* sentence;
    void (*run)(Store&);
  };
  const std::vector<Check> checks = {
      {"a removed run is gone whole", a_removed_run_is_gone_whole},
      {"its id is free and finds nothing of it", its_id_is_free_and_finds_nothing_of_it},
      {"a driven run is not removed", a_driven_run_is_not_removed},
      {"quarantined runs are removed too", quarantined_runs_are_removed_too},
      {"sizes follow what is stored", sizes_follow_what_is_stored},
  };
  for (const Check& check : checks) {
    SUBCASE(check.sentence) {
      Store store;
      check.run(store);
    }
  }
}

}  // namespace pawl::contract
