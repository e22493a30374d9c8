// The contract of Retention in pawl/store.h as a test, for stores as journal_contract.h has them
// whose journal is a Retention and an Upkeep too.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/contract/upkeep_contract.h"

namespace pawl::contract {

inline constexpr std::int64_t kSomeDayMs = 1'791'936'000'000;  // 2026-10-14

template <class Store>
std::string expire_now(Store& store, Expiry expiry) {
  std::optional<std::string> seen;
  store.journal.expire(std::move(expiry), [&](Status status) { seen = outcome(status); });
  CHECK_FALSE(seen);
  finish(store, [&] { return seen.has_value(); });
  return *seen;
}

// A run of two records with these blobs.
template <class Store>
RunId make_run_with(Store& store, const std::string& id, const Texts& blobs) {
  const RunId run = make_run(store, id);
  Append append = append_of(run, 1, 1, "r1");
  for (const std::string& bytes : blobs) append.blobs.push_back(blob_of(bytes));
  REQUIRE(append_now(store, append) == "ok");
  return run;
}

template <class Store>
std::vector<std::uint64_t> kept_sizes(Store& store, const RunId& run) {
  std::vector<std::uint64_t> sizes;
  const auto kept = store.journal.kept_blobs(run);
  REQUIRE(kept);
  for (const KeptBlob& blob : *kept) sizes.push_back(blob.bytes);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

template <class Store>
void only_what_is_named_goes(Store& store) {
  const std::string old(50'000, 'o');
  const std::string young(60'000, 'y');
  const RunId run = make_run_with(store, "a", {old, young});
  const RunId other = make_run_with(store, "b", {old});
  CHECK(kept_sizes(store, run) == std::vector<std::uint64_t>{50'000, 60'000});

  CHECK(expire_now(store, {run, 2, {sha256(old), sha256("nobody's")}, kSomeDayMs}) == "ok");

  const auto gone = store.journal.blob(run, sha256(old));
  CHECK(outcome(gone) == "not_found");
  CHECK(gone.error().message.find("expired on 2026-10-14") != std::string::npos);
  CHECK(*store.journal.expired_at(run, sha256(old)) == kSomeDayMs);
  CHECK_FALSE(*store.journal.expired_at(run, sha256(young)));
  CHECK_FALSE(*store.journal.expired_at(run, sha256("nobody's")));
  CHECK(*store.journal.blob(run, sha256(young)) == young);
  CHECK(*store.journal.blob(other, sha256(old)) == old);
  CHECK(kept_sizes(store, run) == std::vector<std::uint64_t>{60'000});
  CHECK(records_of(store, run) == Texts{"r0", "r1"});
  CHECK(store.journal.check());
}

template <class Store>
void what_is_gone_keeps_its_day(Store& store) {
  const RunId run = make_run_with(store, "a", {"bytes"});
  REQUIRE(expire_now(store, {run, 2, {sha256("bytes")}, kSomeDayMs}) == "ok");

  CHECK(expire_now(store, {run, 2, {sha256("bytes")}, kSomeDayMs + 1}) == "ok");

  CHECK(*store.journal.expired_at(run, sha256("bytes")) == kSomeDayMs);
}

template <class Store>
void a_run_that_moved_on_keeps_all(Store& store) {
  const RunId run = make_run_with(store, "a", {"bytes"});

  CHECK(expire_now(store, {run, 1, {sha256("bytes")}, 5}) == "conflict");
  auto drive = store.journal.acquire(run);
  REQUIRE(drive);
  CHECK(expire_now(store, {run, 2, {sha256("bytes")}, 5}) == "conflict");
  CHECK(*store.journal.blob(run, sha256("bytes")) == "bytes");
  drive->hold.reset();

  CHECK(expire_now(store, {run, 2, {sha256("bytes")}, 5}) == "ok");
  CHECK(outcome(store.journal.acquire(run)) == "ok");
  CHECK(expire_now(store, {run_id("nobody"), 0, {}, 5}) == "not_found");
  CHECK(outcome(store.journal.kept_blobs(run_id("nobody"))) == "not_found");
}

template <class Store>
void bytes_that_come_again_are_there_again(Store& store) {
  const RunId run = make_run_with(store, "a", {"bytes"});
  REQUIRE(expire_now(store, {run, 2, {sha256("bytes")}, 5}) == "ok");

  Append again = append_of(run, 1, 2, "r2");
  again.blobs = {blob_of("bytes")};
  REQUIRE(append_now(store, again) == "ok");

  CHECK(*store.journal.blob(run, sha256("bytes")) == "bytes");
  CHECK_FALSE(*store.journal.expired_at(run, sha256("bytes")));
}

// As an import does with a run whose blobs expired elsewhere.
template <class Store>
void a_blob_may_come_without_its_bytes(Store& store) {
  const RunId run = make_run(store, "a");
  Append append = append_of(run, 1, 1, "r1");
  append.blobs = {StoredBlob{sha256("elsewhere"), "", 5}};
  REQUIRE(append_now(store, append) == "ok");

  CHECK(outcome(store.journal.blob(run, sha256("elsewhere"))) == "not_found");
  CHECK(*store.journal.expired_at(run, sha256("elsewhere")) == 5);
  CHECK(store.journal.kept_blobs(run)->empty());
}

template <class Store>
void their_space_is_given_back(Store& store) {
  Texts blobs;
  Expiry expiry{run_id("a"), 2, {}, 5};
  for (int number = 0; number < 40; ++number) {
    blobs.push_back(std::string(500'000, 'b') + std::to_string(number));
    expiry.blobs.push_back(sha256(blobs.back()));
  }
  make_run_with(store, "a", blobs);
  compact_now(store);
  const std::uint64_t before = store.journal.size()->bytes;

  CHECK(expire_now(store, expiry) == "ok");
  compact_now(store);

  CHECK(store.journal.size()->bytes + 19'000'000 <= before);
  CHECK(store.journal.kept_blobs(run_id("a"))->empty());
  CHECK(remove_now(store, run_id("a")) == "ok");
  CHECK(store.journal.run_sizes()->empty());
}

// Every check on a store of its own.
template <class Store>
void check_retention_contract() {
  struct Check {
    const char* sentence;
    void (*run)(Store&);
  };
  const std::vector<Check> checks = {
      {"only what is named goes", only_what_is_named_goes},
      {"what is gone keeps its day", what_is_gone_keeps_its_day},
      {"a run that moved on keeps all", a_run_that_moved_on_keeps_all},
      {"bytes that come again are there again", bytes_that_come_again_are_there_again},
      {"a blob may come without its bytes", a_blob_may_come_without_its_bytes},
      {"their space is given back", their_space_is_given_back},
  };
  for (const Check& check : checks) {
    SUBCASE(check.sentence) {
      Store store;
      check.run(store);
    }
  }
}

}  // namespace pawl::contract
