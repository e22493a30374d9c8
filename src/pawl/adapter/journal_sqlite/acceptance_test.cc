#include "pawl/adapter/journal_sqlite/acceptance.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/adapter/journal_sqlite/mark.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "pawl/kernel/codec.h"
#include "pawl/port/loss.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;

}  // namespace

TEST_CASE("what was lost is accepted once: runs that are not over are fenced and paused") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  const std::string path = store.directory / "store";
  const auto kept = std::filesystem::file_size(path + "/pawl.db-wal");
  REQUIRE(append_now(view, append_of(run, 1, 1, "r1")) == "ok");
  const std::string copy = store.directory / "copy";
  std::filesystem::copy(path, copy);
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  std::filesystem::remove(copy + "/pawl.db-shm");
  std::filesystem::resize_file(copy + "/pawl.db-wal", kept);

  const auto accepted = sqlite::accept_store(copy, 5);
  REQUIRE_MESSAGE(accepted, accepted.error().message);
  CHECK(accepted->records == 1);
  REQUIRE(accepted->paused.size() == 1);
  CHECK(accepted->paused[0] == run);

  TestLoop loop;
  const auto opened = open_store(copy, loop);
  CHECK_FALSE(opened->refusal());
  CHECK(opened->check());
  StoreView there{loop, *opened};
  CHECK(append_now(there, append_of(run, 1, 1, "of the driver before")) == "conflict");
  const auto waiting = opened->pending(run);
  REQUIRE(waiting);
  REQUIRE(waiting->size() == 1);
  const auto event = decode_event(waiting->front().body);
  REQUIRE(event);
  CHECK(std::get<PauseRequested>(*event).by == kPausedAfterLoss);
  CHECK(opened->acquire(run)->epoch == 3);
}

TEST_CASE("a store that lacks nothing has nothing to accept, and one in use cannot be") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a");
  CHECK(outcome(sqlite::accept_store(store.directory / "store", 1)) == "unavailable");
  store.owner.reset();
  const auto accepted = sqlite::accept_store(store.directory / "store", 1);
  REQUIRE(accepted);
  CHECK(accepted->why == "");
  CHECK(accepted->paused.empty());
  store.reopen();
  CHECK(store.owner->pending(contract::run_id("a"))->empty());
}

TEST_CASE("a damaged mark, and a damaged row of the store, are accepted too") {
  for (const char* what : {"mark", "row"}) {
    CAPTURE(what);
    SqliteStore store;
    StoreView view = store.view();
    make_run(view, "a");
    const std::string path = store.directory / "store";
    store.owner.reset();
    if (std::string(what) == "mark") {
      std::filesystem::resize_file(path + "/pawl.mark", 63);
    } else {
      execute(store.database(), "UPDATE store SET logs = logs + 1");
    }
    {
      TestLoop loop;
      CHECK(open_store(path, loop)->refusal());
    }
    REQUIRE(sqlite::accept_store(path, 1));
    TestLoop loop;
    CHECK_FALSE(open_store(path, loop)->refusal());
  }
}

}  // namespace pawl
