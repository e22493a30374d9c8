// The part of the contract about appends.
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
void callbacks_come_later(Store& store) {
  bool appended = false;
  bool posted = false;
  store.journal.append(append_of(run_id("a"), 1, 0, "x"), [&](const Status&) { appended = true; });
  store.journal.post(run_id("nobody"), 1, "x", [&](const Status&) { posted = true; });

  CHECK_FALSE(appended);
  CHECK_FALSE(posted);
  CHECK(store.loop.run_until([&] { return appended && posted; }));
}

// An append with everything in it, at `seq` under `epoch`.
inline Append full_append(const RunId& run, std::uint64_t epoch, std::uint64_t seq,
                          std::uint64_t row) {
  Append append = append_of(run, epoch, seq, "full");
  append.blobs = {blob_of("blob-bytes")};
  append.inbox_taken = {row};
  append.summary = summary_of(run, "waiting");
  append.snapshot = StoredSnapshot{seq, append.chain, "state"};
  return append;
}

template <class Store>
void a_refused_append_leaves_nothing(Store& store) {
  const RunId run = make_run(store, "a", 2);
  REQUIRE(post_now(store, run, "message") == "ok");
  const auto rows = store.journal.pending(run);
  REQUIRE(rows);
  REQUIRE(rows->size() == 1);
  const std::uint64_t row = rows->front().row;

  CHECK(append_now(store, full_append(run, 2, 2, row)) == "conflict");
  CHECK(append_now(store, full_append(run, 0, 2, row)) == "conflict");
  CHECK(append_now(store, full_append(run, 1, 1, row)) == "conflict");
  CHECK(append_now(store, full_append(run, 1, 3, row)) == "conflict");
  CHECK(append_now(store, full_append(run, 1, 0, row)) == "conflict");
  CHECK(append_now(store, full_append(run_id("b"), 2, 0, row)) == "conflict");
  CHECK(append_now(store, full_append(run_id("b"), 1, 1, row)) == "conflict");

  CHECK(records_of(store, run) == Texts{"r0", "r1"});
  CHECK(outcome(store.journal.blob(run, sha256("blob-bytes"))) == "not_found");
  CHECK(*store.journal.pending(run) == *rows);
  CHECK(*store.journal.snapshot(run) == std::nullopt);
  const auto listed = store.journal.list({});
  REQUIRE(listed);
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().status == "running");
}

template <class Store>
void an_append_is_whole(Store& store) {
  const RunId run = make_run(store, "a");
  REQUIRE(post_now(store, run, "first") == "ok");
  REQUIRE(post_now(store, run, "second") == "ok");
  const auto rows = *store.journal.pending(run);
  REQUIRE(rows.size() == 2);
  const Append full = full_append(run, 1, 1, rows[0].row);

  CHECK(append_now(store, full) == "ok");

  const auto records = store.journal.read(run, 1, 1);
  REQUIRE(records);
  CHECK(*records == std::vector<StoredRecord>{{1, "full", full.chain}});
  CHECK(*store.journal.blob(run, sha256("blob-bytes")) == "blob-bytes");
  CHECK(*store.journal.pending(run) == std::vector<InboxRow>{rows[1]});
  CHECK(*store.journal.snapshot(run) == full.snapshot);
  RunSummary expected = *full.summary;
  expected.length = 2;
  expected.number = store.journal.list({})->front().number;
  CHECK(*store.journal.list({}) == std::vector<RunSummary>{expected});
}

template <class Store>
void limits_hold(Store& store) {
  const RunId run = make_run(store, "a");
  CHECK(append_now(store, append_of(run, 1, 1, std::string(kRecordBytesMax + 1, 'x'))) ==
        "limit_exceeded");
  Append append = append_of(run, 1, 1, "small");
  append.blobs = {blob_of("good"), {Digest{}, std::string(kBlobBytesMax + 1, 'x')}};
  CHECK(append_now(store, append) == "limit_exceeded");
  CHECK(outcome(store.journal.blob(run, sha256("good"))) == "not_found");
  CHECK(post_now(store, run, std::string(kInboxBodyBytesMax + 1, 'x')) == "limit_exceeded");

  CHECK(append_now(store, append_of(run, 1, 1, std::string(kRecordBytesMax, 'x'))) == "ok");
  CHECK(post_now(store, run, std::string(kInboxBodyBytesMax, 'x')) == "ok");
  CHECK(records_of(store, run).size() == 2);
}

template <class Store>
void the_first_record_needs_a_summary(Store& store) {
  Append append = append_of(run_id("a"), 1, 0, "r0");
  append.summary.reset();

  CHECK(append_now(store, append) == "invalid_argument");

  CHECK(outcome(store.journal.read(run_id("a"), 0, 1)) == "not_found");
}

template <class Store>
void appends_complete_in_order(Store& store) {
  constexpr std::uint64_t kRuns = 4;
  constexpr std::uint64_t kAppends = 25;
  std::vector<std::vector<std::uint64_t>> seen(kRuns);
  for (std::uint64_t seq = 0; seq < kAppends; ++seq) {
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      store.journal.append(append_of(run_id("run" + std::to_string(run)), 1, seq, "x"),
                           [&seen, run, seq](const Status& status) {
                             CHECK(outcome(status) == "ok");
                             seen[run].push_back(seq);
                           });
    }
  }
  std::vector<std::uint64_t> expected;
  for (std::uint64_t seq = 0; seq < kAppends; ++seq) expected.push_back(seq);

  CHECK(store.loop.run_until([&] {
    return std::all_of(seen.begin(), seen.end(), [&](const auto& s) { return s == expected; });
  }));
}

// Both kinds of refusal: one found in the store, one found before it gets there.
template <class Store>
void one_failure_fails_those_behind(Store& store) {
  const RunId run = make_run(store, "a");
  const RunId other = make_run(store, "b");
  for (const bool oversize : {false, true}) {
    const std::uint64_t at = oversize ? 2 : 1;
    Append bad = append_of(run, oversize ? 1 : 9, at + 1,
                           oversize ? std::string(kRecordBytesMax + 1, 'x') : "x");
    Texts seen;
    const auto note = [&](const Status& status) { seen.push_back(outcome(status)); };
    store.journal.append(append_of(run, 1, at, "good"), note);
    store.journal.append(std::move(bad), note);
    store.journal.append(append_of(run, 1, at + 1, "behind"), note);
    std::string other_seen;
    store.journal.append(append_of(other, 1, at, "x"),
                         [&](const Status& status) { other_seen = outcome(status); });
    CHECK(store.loop.run_until([&] { return seen.size() == 3 && !other_seen.empty(); }));
    REQUIRE(seen.size() == 3);
    CHECK(seen[0] == "ok");
    CHECK(seen[1] == (oversize ? "limit_exceeded" : "conflict"));
    CHECK(seen[2] != "ok");
    CHECK(other_seen == "ok");
  }
  CHECK(records_of(store, run) == Texts{"r0", "good", "good"});
  CHECK(append_now(store, append_of(run, 1, 3, "later")) == "ok");
}

}  // namespace pawl::contract
