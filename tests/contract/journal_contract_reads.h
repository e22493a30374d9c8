// The part of the contract about reads, lists and the inbox.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/kernel/codec.h"
#include "tests/contract/journal_contract_support.h"

namespace pawl::contract {

template <class Store>
void reads_come_in_batches(Store& store) {
  const RunId run = make_run(store, "a", 5);  // two bytes a record
  make_run(store, "b", 3);
  const auto seqs = [&](std::uint64_t from, std::size_t bytes_max) {
    std::vector<std::uint64_t> found;
    const auto records = store.journal.read(run, from, bytes_max);
    REQUIRE(records);
    for (const StoredRecord& record : *records) found.push_back(record.seq);
    return found;
  };
  using Seqs = std::vector<std::uint64_t>;

  CHECK(seqs(0, 1000) == Seqs{0, 1, 2, 3, 4});
  CHECK(seqs(0, 4) == Seqs{0, 1});
  CHECK(seqs(0, 5) == Seqs{0, 1});
  CHECK(seqs(2, 6) == Seqs{2, 3, 4});
  CHECK(seqs(3, 0) == Seqs{3});
  CHECK(seqs(5, 1000).empty());
  CHECK(seqs(UINT64_MAX, 1000).empty());
  CHECK(outcome(store.journal.read(run_id("nobody"), 0, 1)) == "not_found");
}

template <class Store>
void bytes_come_back_as_they_were(Store& store) {
  const RunId run = run_id("a");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  Append append = append_of(run, 1, 0, all);
  append.blobs = {blob_of(all), blob_of("")};
  append.snapshot = StoredSnapshot{0, append.chain, all};
  REQUIRE(append_now(store, append) == "ok");
  REQUIRE(append_now(store, append_of(run, 1, 1, "")) == "ok");
  REQUIRE(post_now(store, run, all) == "ok");

  CHECK(records_of(store, run) == Texts{all, ""});
  CHECK(*store.journal.blob(run, sha256(all)) == all);
  CHECK(*store.journal.blob(run, sha256("")) == "");
  CHECK(store.journal.snapshot(run)->value().state == all);
  CHECK(store.journal.pending(run)->front().body == all);
  CHECK(store.journal.pending(run)->front().at_ms == 77);
}

template <class Store>
void blobs_belong_to_one_run(Store& store) {
  const RunId run = make_run(store, "a");
  const RunId other = make_run(store, "b");
  Append append = append_of(run, 1, 1, "x");
  append.blobs = {blob_of("secret"), blob_of("secret")};
  REQUIRE(append_now(store, append) == "ok");
  append.seq = 2;
  REQUIRE(append_now(store, append) == "ok");

  CHECK(*store.journal.blob(run, sha256("secret")) == "secret");
  CHECK(outcome(store.journal.blob(other, sha256("secret"))) == "not_found");
  CHECK(outcome(store.journal.blob(run_id("nobody"), sha256("secret"))) == "not_found");
}

template <class Store>
void snapshots_are_replaced_and_dropped(Store& store) {
  const RunId run = make_run(store, "a");
  CHECK(*store.journal.snapshot(run) == std::nullopt);
  CHECK(*store.journal.snapshot(run_id("nobody")) == std::nullopt);
  Append append = append_of(run, 1, 1, "x");
  append.snapshot = StoredSnapshot{1, append.chain, "one"};
  REQUIRE(append_now(store, append) == "ok");
  append = append_of(run, 1, 2, "x");
  append.snapshot = StoredSnapshot{2, append.chain, "two"};
  REQUIRE(append_now(store, append) == "ok");
  REQUIRE(append_now(store, append_of(run, 1, 3, "x")) == "ok");
  CHECK(*store.journal.snapshot(run) == append.snapshot);

  append = append_of(run, 1, 4, "x");
  append.snapshots = Append::Snapshots::drop;
  REQUIRE(append_now(store, append) == "ok");

  CHECK(*store.journal.snapshot(run) == std::nullopt);
}

template <class Store>
void lists_find_runs(Store& store) {
  for (const char* id : {"aa1", "ab2", "a_3", "b.4", "ab-5"}) make_run(store, id, 2);
  Append append = append_of(run_id("ab2"), 1, 2, "x");
  append.summary = RunSummary{run_id("ab2"), "acme", "other", "waiting", "approval", 5, 6, 0};
  REQUIRE(append_now(store, append) == "ok");
  const auto ids = [&](const ListQuery& query) {
    Texts found;
    const auto listed = store.journal.list(query);
    REQUIRE(listed);
    for (const RunSummary& summary : *listed) found.push_back(summary.id.text);
    return found;
  };

  CHECK(ids({}) == Texts{"ab-5", "b.4", "a_3", "ab2", "aa1"});
  CHECK(ids({"ab", "", "", 1000}) == Texts{"ab-5", "ab2"});
  CHECK(ids({"a_", "", "", 1000}) == Texts{"a_3"});
  CHECK(ids({"", "acme", "", 1000}) == Texts{"ab2"});
  CHECK(ids({"", "", "running", 1000}) == Texts{"ab-5", "b.4", "a_3", "aa1"});
  CHECK(ids({"", "", "", 2}) == Texts{"ab-5", "b.4"});
  CHECK(ids({"", "", "", 0}).empty());
  CHECK(ids({"zz", "", "", 1000}).empty());
  // However many others begin like it, a run is found by its whole id.
  for (const char* id : {"aa12", "aa1-3"}) make_run(store, id, 2);
  CHECK(ids({"aa1", "", "", 1000}) == Texts{"aa1", "aa1-3", "aa12"});
  CHECK(ids({"aa1", "", "", 1}) == Texts{"aa1"});
  append.summary->length = 3;
  append.summary->number = store.journal.list({"ab2", "", "", 1})->front().number;
  CHECK(*store.journal.list({"ab2", "", "", 1}) == std::vector<RunSummary>{*append.summary});
}

template <class Store>
void lists_come_in_pages(Store& store) {
  for (int run = 0; run < 7; ++run) make_run(store, "run" + std::to_string(run));
  Texts seen;
  ListQuery query;
  query.count_max = 3;
  for (int page = 0; page < 4; ++page) {
    const auto runs = *store.journal.list(query);
    if (runs.empty()) break;
    for (const RunSummary& run : runs) seen.push_back(run.id.text);
    query.before = runs.back().number;
  }
  CHECK(seen == Texts{"run6", "run5", "run4", "run3", "run2", "run1", "run0"});
  query.id_prefix = "run";
  query.before = store.journal.list({})->at(2).number;
  CHECK(store.journal.list(query)->front().id.text == "run3");
}

template <class Store>
void every_commit_changes_the_version(Store& store) {
  std::uint64_t last = *store.journal.version();
  const auto changed = [&] {
    const std::uint64_t before = std::exchange(last, *store.journal.version());
    return last != before;
  };
  const RunId run = make_run(store, "a");
  CHECK(changed());
  CHECK_FALSE(changed());
  REQUIRE(append_now(store, append_of(run, 1, 1, "x")) == "ok");
  CHECK(changed());
  REQUIRE(post_now(store, run, "x") == "ok");
  CHECK(changed());
  REQUIRE(store.journal.acquire(run));
  CHECK(changed());
  REQUIRE(store.journal.quarantine(run, "why"));
  CHECK(changed());
}

template <class Store>
void the_inbox_keeps_order_and_bounds(Store& store) {
  const RunId run = make_run(store, "a");
  CHECK(post_now(store, run_id("nobody"), "x") == "not_found");
  CHECK(store.journal.pending(run_id("nobody"))->empty());
  make_run(store, "b");
  CHECK(store.journal.addressed()->empty());
  for (std::size_t row = 0; row < kInboxRowsMax; ++row) {
    store.journal.post(run, 1, std::to_string(row), [](const Status&) {});
  }
  CHECK(post_now(store, run, "one too many") == "limit_exceeded");
  const auto rows = store.journal.pending(run);
  REQUIRE(rows);
  CHECK(*store.journal.addressed() == std::vector<RunId>{run});
  REQUIRE(rows->size() == kInboxRowsMax);
  for (std::size_t row = 0; row < kInboxRowsMax; ++row) {
    REQUIRE((*rows)[row].body == std::to_string(row));
    REQUIRE((row == 0 || (*rows)[row].row > (*rows)[row - 1].row));
  }
  Append append = append_of(run, 1, 1, "x");
  for (const InboxRow& row : *rows) append.inbox_taken.push_back(row.row);

  CHECK(append_now(store, append) == "ok");

  CHECK(store.journal.pending(run)->empty());
  CHECK(store.journal.addressed()->empty());
  CHECK(post_now(store, run, "next") == "ok");
  CHECK(store.journal.pending(run)->front().row > rows->back().row);
}

template <class Store>
void an_ended_run_takes_no_messages(Store& store) {
  for (const char* status : {"done", "stopped", "failed", "cancelled", "quarantined"}) {
    const RunId run = make_run(store, status);
    Append append = append_of(run, 1, 1, "x");
    append.summary = summary_of(run, status);
    REQUIRE(append_now(store, append) == "ok");
    CHECK(post_now(store, run, "x") == "conflict");
  }
}

// Whoever posted the row was told that it is accepted: a driver must see it.
template <class Store>
void a_run_does_not_end_over_its_inbox(Store& store) {
  const RunId other = make_run(store, "other");
  REQUIRE(post_now(store, other, "not for them") == "ok");
  for (const char* status : {"done", "stopped", "failed", "cancelled"}) {
    const RunId run = make_run(store, status);
    REQUIRE(post_now(store, run, "first") == "ok");
    REQUIRE(post_now(store, run, "second") == "ok");
    const auto rows = *store.journal.pending(run);
    Append end = append_of(run, 1, 1, "end");
    end.summary = summary_of(run, status);
    end.inbox_taken = {rows[0].row};
    std::optional<Status> seen;
    store.journal.append(end, [&](const Status& given) { seen = given; });
    REQUIRE(store.loop.run_until([&] { return seen.has_value(); }));

    REQUIRE(outcome(*seen) == "conflict");
    CHECK(waits_in_inbox(seen->error()));
    CHECK(records_of(store, run) == Texts{"r0"});
    CHECK(*store.journal.pending(run) == rows);
    CHECK(post_now(store, run, "third") == "ok");
    const auto all = *store.journal.pending(run);
    for (const InboxRow& row : all) end.inbox_taken.push_back(row.row);
    CHECK(append_now(store, end) == "ok");
    CHECK(post_now(store, run, "too late") == "conflict");
    CHECK(store.journal.pending(run)->empty());
  }
  // Whoever takes the run up next finds the row.
  const RunId waiting = make_run(store, "waiting");
  REQUIRE(post_now(store, waiting, "x") == "ok");
  Append park = append_of(waiting, 1, 1, "park");
  park.summary = summary_of(waiting, "waiting");
  CHECK(append_now(store, park) == "ok");
}

template <class Store>
void a_row_is_taken_only_from_its_run(Store& store) {
  const RunId run = make_run(store, "a");
  const RunId other = make_run(store, "b");
  REQUIRE(post_now(store, other, "for b") == "ok");
  const auto rows = *store.journal.pending(other);
  Append append = append_of(run, 1, 1, "x");
  append.inbox_taken = {rows.front().row};

  CHECK(append_now(store, append) == "ok");

  CHECK(*store.journal.pending(other) == rows);
}

// A driver takes what is urgent first: what came before it is still there.
template <class Store>
void a_row_is_taken_alone(Store& store) {
  const RunId run = make_run(store, "a");
  for (const char* body : {"first", "second", "third"}) {
    REQUIRE(post_now(store, run, body) == "ok");
  }
  const auto rows = *store.journal.pending(run);
  REQUIRE(rows.size() == 3);
  Append append = append_of(run, 1, 1, "x");
  append.inbox_taken = {rows[1].row};

  CHECK(append_now(store, append) == "ok");

  CHECK(*store.journal.pending(run) == std::vector<InboxRow>{rows[0], rows[2]});
}

inline std::string answer_to(std::uint64_t call, std::uint64_t answer) {
  CallDecided decided;
  decided.call = CallId{call};
  decided.binding = sha256("what was shown");
  decided.answer = answer;
  return encode_event(decided);
}

template <class Store>
void of_the_answers_to_a_question_one_waits(Store& store) {
  const RunId run = make_run(store, "a");
  const RunId other = make_run(store, "b");
  CHECK(post_now(store, run, answer_to(1, 11)) == "ok");
  CHECK(post_now(store, run, answer_to(1, 12)) == "conflict");
  CHECK(post_now(store, run, answer_to(2, 13)) == "ok");
  CHECK(post_now(store, other, answer_to(1, 14)) == "ok");
  CHECK(post_now(store, run, "no answer") == "ok");
  CHECK(post_now(store, run, "no answer") == "ok");
  const auto rows = *store.journal.pending(run);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].body == answer_to(1, 11));
  Append append = append_of(run, 1, 1, "x");
  append.inbox_taken = {rows[0].row};
  REQUIRE(append_now(store, append) == "ok");
  CHECK(post_now(store, run, answer_to(1, 15)) == "ok");
}

template <class Store>
std::string drop_now(Store& store, const RunId& run, std::uint64_t epoch,
                     std::vector<std::uint64_t> rows) {
  std::optional<std::string> seen;
  store.journal.drop(run, epoch, std::move(rows), [&](Status status) { seen = outcome(status); });
  REQUIRE(store.loop.run_until([&] { return seen.has_value(); }));
  return *seen;
}

template <class Store>
void refused_rows_are_dropped(Store& store) {
  const RunId run = make_run(store, "a");
  const RunId other = make_run(store, "b");
  for (const char* body : {"first", "second", "third"}) {
    REQUIRE(post_now(store, run, body) == "ok");
  }
  const auto rows = *store.journal.pending(run);
  CHECK(drop_now(store, run, 2, {rows[0].row}) == "conflict");
  CHECK(drop_now(store, run_id("nobody"), 1, {rows[0].row}) == "not_found");
  CHECK(drop_now(store, other, 1, {rows[0].row}) == "ok");
  CHECK(*store.journal.pending(run) == rows);

  CHECK(drop_now(store, run, 1, {rows[0].row, rows[2].row, rows[2].row + 99}) == "ok");
  CHECK(*store.journal.pending(run) == std::vector<InboxRow>{rows[1]});
  CHECK(records_of(store, run) == Texts{"r0"});

  REQUIRE(store.journal.acquire(run));  // by another driver
  CHECK(drop_now(store, run, 1, {rows[1].row}) == "conflict");
  CHECK(*store.journal.pending(run) == std::vector<InboxRow>{rows[1]});
}

}  // namespace pawl::contract
