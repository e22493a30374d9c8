// The part of the contract about who may append: acquire and quarantine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/journal_contract_support.h"

namespace pawl::contract {

template <class Store>
void acquire_raises_the_epoch(Store& store) {
  auto fresh = store.journal.acquire(run_id("a"));
  REQUIRE(fresh);
  CHECK(fresh->epoch == 1);
  CHECK(fresh->length == 0);
  CHECK(outcome(store.journal.read(run_id("a"), 0, 1)) == "not_found");
  REQUIRE(append_now(store, append_of(run_id("a"), 1, 0, "r0")) == "ok");
  REQUIRE(append_now(store, append_of(run_id("a"), 1, 1, "r1")) == "ok");
  fresh->hold.reset();

  const auto again = store.journal.acquire(run_id("a"));

  REQUIRE(again);
  CHECK(again->epoch == 2);
  CHECK(again->length == 2);
  CHECK(append_now(store, append_of(run_id("a"), 1, 2, "late")) == "conflict");
  CHECK(append_now(store, append_of(run_id("a"), 2, 2, "r2")) == "ok");
  CHECK(records_of(store, run_id("a")) == Texts{"r0", "r1", "r2"});
}

template <class Store>
void one_driver_at_a_time(Store& store) {
  for (const RunId& run : {make_run(store, "there"), run_id("not-there")}) {
    auto first = store.journal.acquire(run);
    REQUIRE(first);
    CHECK(outcome(store.journal.acquire(run)) == "conflict");
    CHECK(outcome(store.journal.acquire(run_id("other"))) == "ok");

    std::shared_ptr<void> copy = first->hold;
    first->hold.reset();
    CHECK(outcome(store.journal.acquire(run)) == "conflict");
    copy.reset();
    CHECK(outcome(store.journal.acquire(run)) == "ok");
  }
}

template <class Store>
void a_run_is_driven_while_it_is_held(Store& store) {
  for (const RunId& run : {make_run(store, "there"), run_id("not-there")}) {
    CHECK_FALSE(*store.journal.is_driven(run));
    auto drive = store.journal.acquire(run);
    REQUIRE(drive);
    CHECK(*store.journal.is_driven(run));
    CHECK_FALSE(*store.journal.is_driven(run_id("other")));

    std::shared_ptr<void> copy = drive->hold;
    drive->hold.reset();
    CHECK(*store.journal.is_driven(run));
    copy.reset();
    CHECK_FALSE(*store.journal.is_driven(run));
  }
}

template <class Store>
void failed_loads_quarantine(Store& store) {
  const RunId run = make_run(store, "a");
  for (int load = 0; load < kFailedLoadsMax; ++load) REQUIRE(store.journal.acquire(run));

  CHECK(outcome(store.journal.acquire(run)) == "corrupt");

  CHECK(outcome(store.journal.acquire(run)) == "corrupt");
  CHECK(records_of(store, run) == Texts{"r0"});
  const auto listed = store.journal.list({});
  REQUIRE(listed);
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().status == "quarantined");
  CHECK_FALSE(listed->front().reason.empty());
}

template <class Store>
void a_forgiven_load_does_not_count(Store& store) {
  const RunId run = make_run(store, "a");
  for (int load = 0; load < 2 * kFailedLoadsMax; ++load) {
    const auto drive = store.journal.acquire(run);
    REQUIRE(drive);
    CHECK(outcome(store.journal.forgive(run, drive->epoch + 1)) == "conflict");
    REQUIRE(outcome(store.journal.forgive(run, drive->epoch)) == "ok");
  }
  CHECK(outcome(store.journal.forgive(run_id("nobody"), 1)) == "not_found");
  // Once is once: the others still count.
  for (int load = 0; load < kFailedLoadsMax; ++load) REQUIRE(store.journal.acquire(run));
  CHECK(outcome(store.journal.acquire(run)) == "corrupt");
}

template <class Store>
void a_quarantine_is_lifted(Store& store) {
  const RunId run = make_run(store, "a");
  RunSummary sound = summary_of(run, "waiting");
  sound.reason = "approval";
  CHECK(outcome(store.journal.lift_quarantine(sound)) == "conflict");
  CHECK(outcome(store.journal.lift_quarantine(summary_of(run_id("nobody")))) == "not_found");
  for (int load = 0; load < kFailedLoadsMax; ++load) REQUIRE(store.journal.acquire(run));
  REQUIRE(outcome(store.journal.acquire(run)) == "corrupt");

  CHECK(outcome(store.journal.lift_quarantine(sound)) == "ok");

  CHECK(store.journal.list({})->front().status == "waiting");
  CHECK(store.journal.list({})->front().reason == "approval");
  CHECK(outcome(store.journal.acquire(run)) == "ok");
  REQUIRE(store.journal.quarantine(run, "row 7 is damaged"));
  CHECK(outcome(store.journal.lift_quarantine(sound)) == "ok");
  CHECK(outcome(store.journal.acquire(run)) == "ok");
  // One that was never written whole stays where it is.
  const RunId part = run_id("part");
  Append first = append_of(part, 1, 0, "r0");
  first.summary = summary_of(part, "quarantined");
  REQUIRE(append_now(store, first) == "ok");
  CHECK(outcome(store.journal.lift_quarantine(summary_of(part))) == "conflict");
}

template <class Store>
void an_append_forgives_failed_loads(Store& store) {
  const RunId run = make_run(store, "a");
  for (std::uint64_t round = 1; round <= 4; ++round) {
    for (int load = 0; load < kFailedLoadsMax - 1; ++load) REQUIRE(store.journal.acquire(run));
    const auto drive = store.journal.acquire(run);
    REQUIRE(drive);
    CHECK(drive->epoch == 1 + round * kFailedLoadsMax);
    Append append = append_of(run, drive->epoch, round, "r");
    // Whatever else it changes.
    if (round % 2 == 0) append.summary = summary_of(run);
    CHECK(append_now(store, append) == "ok");
  }
}

template <class Store>
void quarantine_stops_everyone(Store& store) {
  const RunId run = make_run(store, "a");
  const auto drive = store.journal.acquire(run);
  REQUIRE(drive);

  CHECK(outcome(store.journal.quarantine(run, "row 7 is damaged")) == "ok");

  CHECK(append_now(store, append_of(run, drive->epoch, 1, "x")) == "conflict");
  CHECK(post_now(store, run, "hello") == "conflict");
  CHECK(records_of(store, run) == Texts{"r0"});
  CHECK(store.journal.list({})->front().status == "quarantined");
  CHECK(store.journal.list({})->front().reason == "row 7 is damaged");
  CHECK(outcome(store.journal.quarantine(run_id("nobody"), "why")) == "not_found");
}

template <class Store>
void a_quarantined_run_is_not_driven(Store& store) {
  const RunId run = make_run(store, "a");
  REQUIRE(store.journal.quarantine(run, "row 7 is damaged"));

  const auto drive = store.journal.acquire(run);

  REQUIRE(outcome(drive) == "corrupt");
  CHECK(drive.error().message.find("row 7 is damaged") != std::string::npos);
}

// How a run that is written piece by piece is kept from being driven before it is whole.
template <class Store>
void a_summary_can_say_quarantined(Store& store) {
  const RunId run = run_id("a");
  auto drive = store.journal.acquire(run);
  REQUIRE(drive);
  Append first = append_of(run, drive->epoch, 0, "r0");
  first.summary = summary_of(run, "quarantined");
  first.summary->reason = "not whole";
  REQUIRE(append_now(store, first) == "ok");
  Append second = append_of(run, drive->epoch, 1, "r1");
  CHECK(append_now(store, second) == "ok");
  drive->hold.reset();

  const auto refused = store.journal.acquire(run);

  REQUIRE(outcome(refused) == "corrupt");
  CHECK(refused.error().message.find("not whole") != std::string::npos);
  CHECK(post_now(store, run, "hello") == "conflict");
  Append last = append_of(run, 1, 2, "r2");
  last.summary = summary_of(run, "running");
  CHECK(append_now(store, last) == "ok");
  CHECK(outcome(store.journal.acquire(run)) == "ok");
}

}  // namespace pawl::contract
