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

TEST_CASE("one may begin when another is done") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = contract::make_run_with(view, "a", {"x", "y"});
  std::vector<std::string> told;
  const std::string long_name(100, 'n');  // what the callback holds is not in place
  store.owner->expire({run, 2, {sha256("x")}, 5}, [&, long_name](const Status& first) {
    told.push_back(contract::outcome(first));
    store.owner->expire({run, 2, {sha256("y")}, 5},
                        [&](const Status& second) { told.push_back(contract::outcome(second)); });
    told.push_back(long_name);
  });

  contract::finish(view, [&] { return told.size() == 3; });

  CHECK(told == std::vector<std::string>{"ok", long_name, "ok"});
  CHECK(store.owner->kept_blobs(run)->empty());
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
