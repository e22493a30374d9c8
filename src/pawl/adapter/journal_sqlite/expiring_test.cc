#include "pawl/adapter/journal_sqlite/expiring.h"

#include <doctest/doctest.h>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "tests/contract/retention_contract.h"

namespace pawl {
namespace {

struct RetainingStore : SqliteStore {
  SqliteJournal& journal = *owner;
};

TEST_CASE("the SQLite journal keeps the contract of retention") {
  contract::check_retention_contract<RetainingStore>();
}

TEST_CASE("a store that is closed in the middle calls nobody back") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = contract::make_run_with(view, "a", {std::string(9'000, 'a')});
  bool called = false;
  store.owner->expire({run, 2, {sha256(std::string(9'000, 'a'))}, 5},
                      [&](const Status&) { called = true; });

  store.owner.reset();
  store.loop.run_posted();

  CHECK_FALSE(called);
}

}  // namespace
}  // namespace pawl
