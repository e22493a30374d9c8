#include "pawl/adapter/journal_sqlite/store_guard.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;

// What somebody does to the files while a driver has them open.
void disturb(const std::string& how, const std::string& file) {
  namespace fs = std::filesystem;
  if (how == "deleted") fs::remove(file);
  if (how == "moved") fs::rename(file, file + ".old");
  if (how == "replaced") {
    fs::copy_file(file, file + ".copy");
    fs::rename(file + ".copy", file);
  }
}

}  // namespace

TEST_CASE("a file that is deleted, moved or replaced under a driver stops it unacknowledged") {
  for (const char* file : {"/pawl.db", "/pawl.db-wal", "/pawl.db-shm"}) {
    for (const char* how : {"deleted", "moved", "replaced"}) {
      CAPTURE(file);
      CAPTURE(how);
      SqliteStore store;
      StoreView view = store.view();
      const RunId run = make_run(view, "a");
      REQUIRE(append_now(view, append_of(run, 1, 1, "before")) == "ok");
      disturb(how, store.directory / "store" + file);

      Status answered = ok();
      bool over = false;
      store.owner->append(append_of(run, 1, 2, "after"), [&](Status status) {
        answered = std::move(status);
        over = true;
      });
      REQUIRE(store.loop.run_until([&] { return over; }));
      REQUIRE(outcome(answered) == "unavailable");
      CHECK(answered.error().message.find(file) != std::string::npos);
      CHECK(answered.error().message.find("moved, deleted or replaced") != std::string::npos);
      CHECK(append_now(view, append_of(run, 1, 2, "again")) == "unavailable");
    }
  }
}

TEST_CASE("two stores on one directory raise the same mark") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  auto other = open_store(store.directory / "store", store.loop);
  StoreView there{store.loop, *other};
  const RunId second = make_run(there, "b", 3);
  REQUIRE(append_now(view, append_of(run, 1, 1, "x")) == "ok");
  const auto file =
      sqlite::MarkFile::open(store.directory / "store", sqlite::MarkFile::Mode::existing);
  REQUIRE(file);
  CHECK((**file->read()).newest.row == 5);
  other.reset();
  REQUIRE(append_now(view, append_of(run, 1, 2, "y")) == "ok");
  CHECK((**file->read()).newest.row == 6);
}

}  // namespace pawl
