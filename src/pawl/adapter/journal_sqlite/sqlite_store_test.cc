// The embedded store as a host opens it: with the public headers alone.
#include <doctest/doctest.h>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "pawl/store.h"

namespace pawl {
namespace {

TEST_CASE("a host opens the embedded store on a loop, with all that it offers") {
  SqliteStore place;
  const StoreOpener open = sqlite_store(place.directory / "hosts");
  {
    const auto opened = open(place.loop);
    REQUIRE(opened);
    const Store& store = opened->store;
    REQUIRE(store.journal != nullptr);
    CHECK(store.journal->acquire(RunId{"one"})->length == 0);
    CHECK(store.reader != nullptr);
    CHECK(store.catalog->list({})->empty());
    CHECK(store.inbox->addressed()->empty());
    CHECK(store.upkeep->check());
    CHECK(store.copier != nullptr);
    CHECK(store.retention != nullptr);
  }
  CHECK(open(place.loop));  // again, after its owner was let go
}

TEST_CASE("a directory that cannot be a store is an error, not a store") {
  SqliteStore place;
  const auto opened = sqlite_store("/dev/null/store")(place.loop);
  REQUIRE_FALSE(opened);
  CHECK_FALSE(opened.error().message.empty());
}

}  // namespace
}  // namespace pawl
