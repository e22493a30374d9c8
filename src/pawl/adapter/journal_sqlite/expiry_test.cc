#include "pawl/adapter/journal_sqlite/expiry.h"

#include <doctest/doctest.h>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "tests/contract/retention_contract.h"

namespace pawl {
namespace {

using contract::expire_now;
using contract::kSomeDayMs;
using contract::make_run_with;
using contract::outcome;
using contract::Texts;
using sqlite::expiry_note;
using sqlite::read_expiry_note;

Result<std::unique_ptr<sqlite::Connection>> connect(const SqliteStore& store) {
  return sqlite::Connection::open(store.database());
}

TEST_CASE("a note is believed only for its own blob and as it was written") {
  const Digest digest = sha256("bytes");
  const std::string note = expiry_note(digest, kSomeDayMs);

  CHECK(read_expiry_note(digest, note) == kSomeDayMs);
  CHECK(read_expiry_note(digest, expiry_note(digest, -1)) == -1);
  CHECK_FALSE(read_expiry_note(sha256("other"), note));
  CHECK_FALSE(read_expiry_note(digest, ""));
  CHECK_FALSE(read_expiry_note(digest, note + " "));
  for (std::size_t at = 0; at < note.size(); ++at) {
    std::string flipped = note;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    CHECK_FALSE(read_expiry_note(digest, flipped));
  }
  CHECK(expiry_note(digest, INT64_MIN).size() < 100);
}

TEST_CASE("what looks like a note and is none is damage") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run_with(view, "a", {"bytes"});
  const std::string other = expiry_note(sha256("other"), kSomeDayMs);
  execute(store.database(), "UPDATE blobs SET bytes = CAST('" + other + "' AS BLOB)");

  CHECK(outcome(store.owner->blob(run, sha256("bytes"))) == "corrupt");
  CHECK_FALSE(*store.owner->expired_at(run, sha256("bytes")));
  CHECK(store.owner->kept_blobs(run)->size() == 1);
}

// A kill between two slices leaves this.
TEST_CASE("a slice lets some go and leaves the others whole, and the next process goes on") {
  SqliteStore store;
  StoreView view = store.view();
  const Texts blobs = {std::string(9'000, 'a'), std::string(9'000, 'b'), std::string(9'000, 'c')};
  const RunId run = make_run_with(view, "a", blobs);
  const Expiry all{run, 2, {sha256(blobs[0]), sha256(blobs[1]), sha256(blobs[2])}, kSomeDayMs};
  store.owner.reset();
  sqlite::SliceBudget budget;
  budget.ms_max = 60'000;
  budget.bytes_max = 9'001;
  {
    const auto connection = connect(store);
    REQUIRE(connection);
    CHECK(*expire_slice(**connection, all, 0, budget) == 2);
  }

  store.reopen();

  CHECK(outcome(store.owner->blob(run, sha256(blobs[0]))) == "not_found");
  CHECK(*store.owner->blob(run, sha256(blobs[2])) == blobs[2]);
  StoreView later = store.view();
  Expiry rest = all;
  rest.at_ms = kSomeDayMs + 1;
  CHECK(expire_now(later, rest) == "ok");
  CHECK(*store.owner->expired_at(run, sha256(blobs[1])) == kSomeDayMs);
  CHECK(*store.owner->expired_at(run, sha256(blobs[2])) == kSomeDayMs + 1);
}

TEST_CASE("a slice without a budget still gets on") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run_with(view, "a", {"x", "y"});
  const auto connection = connect(store);
  REQUIRE(connection);
  sqlite::SliceBudget none;
  none.ms_max = 0;

  const Expiry both{run, 2, {sha256("x"), sha256("y")}, 5};
  CHECK(*expire_slice(**connection, both, 0, none) == 1);
  CHECK(*expire_slice(**connection, both, 1, none) == 1);
}

}  // namespace
}  // namespace pawl
