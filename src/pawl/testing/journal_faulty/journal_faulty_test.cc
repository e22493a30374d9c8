#include "pawl/testing/journal_faulty/journal_faulty.h"

#include <doctest/doctest.h>

#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/contract/journal_contract.h"
#include "tests/contract/upkeep_contract.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::records_of;
using contract::run_id;
using contract::Texts;
using Kind = JournalFault::Kind;

struct FaultyStore {
  explicit FaultyStore(JournalFaults faults = {}) : journal(ports_of(behind), loop, faults) {}

  TestLoop loop;
  MemoryJournal behind{loop};
  FaultyJournal journal;
};

// What the store behind knows, whatever the faulty one says.
struct Behind {
  MemoryJournal& journal;
};

Texts written(FaultyStore& store, const std::string& run) {
  Behind behind{store.behind};
  return records_of(behind, run_id(run));
}

// The outcomes of three appends of one run, given at once.
Texts append_three(FaultyStore& store) {
  Texts seen;
  for (std::uint64_t seq = 0; seq < 3; ++seq) {
    store.journal.append(append_of(run_id("a"), 1, seq, "r" + std::to_string(seq)),
                         [&](const Status& status) { seen.push_back(outcome(status)); });
  }
  store.loop.run_posted();
  return seen;
}

TEST_CASE("without faults the faulty journal keeps the contract") {
  contract::check_journal_contract<FaultyStore>();
}

TEST_CASE("without faults the faulty journal keeps the contract of upkeep") {
  contract::check_upkeep_contract<FaultyStore>();
}

TEST_CASE("a store behind that offers no upkeep is said to offer none") {
  TestLoop loop;
  MemoryJournal behind(loop);
  FaultyJournal journal({behind, behind, behind, behind}, loop);
  std::string seen;

  journal.remove(run_id("a"), [&](const Status& status) { seen = outcome(status); });
  loop.run_posted();

  CHECK(seen == "unavailable");
  CHECK(outcome(journal.size()) == "unavailable");
}

TEST_CASE("a refused append is not written, nor are those behind it") {
  FaultyStore store({{Kind::refuse_append, 2, 0}});

  CHECK(append_three(store) == Texts{"ok", "unavailable", "conflict"});

  CHECK(written(store, "a") == Texts{"r0"});
  CHECK(append_now(store, append_of(run_id("a"), 1, 1, "again")) == "ok");
}

TEST_CASE("a lost acknowledgement leaves the record written and fails those behind it") {
  FaultyStore store({{Kind::lose_acknowledgement, 2, 0}});

  CHECK(append_three(store) == Texts{"ok", "unavailable", "conflict"});

  CHECK(written(store, "a") == Texts{"r0", "r1", "r2"});
}

TEST_CASE("a delayed acknowledgement delays those behind it, and no other run") {
  FaultyStore store({{Kind::delay_acknowledgement, 1, 5}});
  Texts order;
  const auto note = [&](const std::string& what) {
    return [&order, what](const Status& status) { order.push_back(what + " " + outcome(status)); };
  };

  store.journal.append(append_of(run_id("a"), 1, 0, "x"), note("a0"));
  store.journal.append(append_of(run_id("a"), 1, 1, "x"), note("a1"));
  store.journal.append(append_of(run_id("b"), 1, 0, "x"), note("b0"));
  store.loop.run_posted();

  CHECK(order == Texts{"b0 ok", "a0 ok", "a1 ok"});
}

TEST_CASE("after a crash nothing is acknowledged and the runs are free") {
  for (const Kind kind : {Kind::crash_before_append, Kind::crash_after_append}) {
    FaultyStore store({{kind, 2, 0}});
    const auto drive = store.journal.acquire(run_id("a"));
    REQUIRE(drive);

    append_three(store);

    CHECK(store.journal.crashed());
    CHECK(outcome(store.journal.acquire(run_id("b"))) == "unavailable");
    CHECK(outcome(store.journal.read(run_id("a"), 0, 1)) == "unavailable");
    FaultyJournal restarted(ports_of(store.behind), store.loop);
    CHECK(outcome(restarted.acquire(run_id("a"))) == "ok");
  }
}

TEST_CASE("a crash comes before or after the write") {
  FaultyStore before({{Kind::crash_before_append, 2, 0}});
  CHECK(append_three(before).empty());  // the first was not called back yet
  CHECK(written(before, "a") == Texts{"r0"});

  FaultyStore after({{Kind::crash_after_append, 2, 0}});
  CHECK(append_three(after) == Texts{"ok"});
  CHECK(written(after, "a") == Texts{"r0", "r1", "r2"});
}

TEST_CASE("acquires fail and reads are damaged as planned") {
  FaultyStore store({{Kind::refuse_acquire, 2, 0}, {Kind::damage_read, 2, 0}});
  const RunId run = make_run(store, "a", 3);

  CHECK(outcome(store.journal.acquire(run)) == "ok");
  CHECK(outcome(store.journal.acquire(run)) == "unavailable");
  CHECK(outcome(store.journal.acquire(run)) == "ok");
  CHECK(records_of(store, run) == Texts{"r0", "r1", "r2"});
  const Texts damaged = records_of(store, run);
  CHECK(damaged[0] != "r0");
  CHECK(damaged[1] == "r1");
  CHECK(records_of(store, run) == Texts{"r0", "r1", "r2"});
}

TEST_CASE("one seed gives one plan") {
  const auto plan = seeded_faults({1, 1000, 10, 8});

  CHECK(plan == seeded_faults({1, 1000, 10, 8}));
  CHECK(plan != seeded_faults({2, 1000, 10, 8}));
  CHECK(plan.size() > 20);
  CHECK(plan.size() < 100);
}

}  // namespace
}  // namespace pawl
