#include "pawl/adapter/journal_sqlite/committer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "pawl/adapter/journal_sqlite/spare_space.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "pawl/adapter/journal_sqlite/writes.h"
#include "tests/contract/journal_contract.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::post_now;
using contract::records_of;
using contract::run_id;
using contract::Texts;

// Another program that holds the write lock until it is destroyed.
class ForeignWriter {
 public:
  explicit ForeignWriter(const std::string& database) {
    REQUIRE(sqlite3_open(database.c_str(), &handle_) == SQLITE_OK);
    sqlite3_busy_timeout(handle_, 10'000);
    REQUIRE(sqlite3_exec(handle_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  ~ForeignWriter() { sqlite3_close(handle_); }
  ForeignWriter(const ForeignWriter&) = delete;
  ForeignWriter& operator=(const ForeignWriter&) = delete;

 private:
  sqlite3* handle_ = nullptr;
};

// Every job a transaction of its own: what spans several must hold as well.
struct OneByOneStore : SqliteStore {
  OneByOneStore() : SqliteStore(one_by_one()) {}
  static SqliteOptions one_by_one() {
    SqliteOptions options;
    options.group_jobs_max = 1;
    return options;
  }
  SqliteJournal& journal = *owner;
};

// A database with the table t of one column, whoever writes into it, and what others see of it.
struct OneTable {
  OneTable() {
    std::ofstream(database).flush();
    auto opened = sqlite::Connection::open(database);
    REQUIRE(opened);
    writer = *std::move(opened);
    REQUIRE(writer->execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)"));
  }
  std::int64_t committed() const {
    const auto reader = sqlite::Connection::open(database);
    REQUIRE(reader);
    return *(*reader)->integer_of("SELECT count(*) FROM t");
  }

  TempDirectory directory;
  std::string database = directory / "db";
  std::unique_ptr<sqlite::Connection> writer;
};

TEST_CASE("the contract holds when jobs are not grouped") {
  contract::check_journal_contract<OneByOneStore>();
}

TEST_CASE("a job that is refused halfway leaves nothing, and the others of its group stay") {
  std::string prefix;  // of the runs that they are appends of
  SUBCASE("jobs of no run") {}
  SUBCASE("appends") {
    prefix = "run";
  }
  OneTable table;
  TestLoop loop;
  Texts seen;
  {
    sqlite::Committer committer(std::move(table.writer), loop, {});
    int jobs = 0;
    for (const bool refused : {false, true, false}) {
      sqlite::Job job;
      if (!prefix.empty()) job.run = prefix + std::to_string(++jobs);
      job.work = [refused](sqlite::Connection& writer) -> Status {
        PAWL_CHECK(writer.execute("INSERT INTO t VALUES (1)"));
        if (refused) return Error{ErrorCode::conflict, "no"};
        return ok();
      };
      job.done = [&](const Status& status) { seen.push_back(outcome(status)); };
      committer.submit(std::move(job));
    }
    REQUIRE(loop.run_until([&] { return seen.size() == 3; }));
  }

  CHECK(seen == Texts{"ok", "conflict", "ok"});
  CHECK(table.committed() == 2);
}

TEST_CASE("a value that is too big for SQLite is its run's failure, and nobody else's") {
  OneTable table;
  TestLoop loop;
  Texts seen;
  sqlite::Committer committer(std::move(table.writer), loop, {});
  for (const std::string& value :
       {std::string("1"), std::string("zeroblob(2000000000)"), std::string("2")}) {
    sqlite::Job job;
    job.run = "run " + value;
    job.work = [value](sqlite::Connection& writer) {
      return writer.execute("INSERT INTO t VALUES (" + value + ")");
    };
    job.done = [&](const Status& status) { seen.push_back(status ? "ok" : "refused"); };
    committer.submit(std::move(job));
  }
  REQUIRE(loop.run_until([&] { return seen.size() == 3; }));
  CHECK(seen == Texts{"ok", "refused", "ok"});
  CHECK(table.committed() == 2);
}

TEST_CASE("what the loop submits before it comes around is one transaction") {
  OneTable table;
  TestLoop loop;
  const std::string& database = table.database;
  std::promise<void> go_on;
  const std::shared_future<void> gone_on = go_on.get_future().share();
  std::size_t done = 0;
  std::int64_t seen_by_last = -1;  // rows committed when the last job is done
  {
    sqlite::Committer committer(std::move(table.writer), loop, {});
    const auto submit = [&](std::function<Status(sqlite::Connection&)> work) {
      sqlite::Job job;
      job.work = std::move(work);
      job.done = [&](const Status& status) { done += status ? 1U : 0U; };
      committer.submit(std::move(job));
    };
    const auto insert = [](sqlite::Connection& writer) {
      return writer.execute("INSERT INTO t VALUES (1)");
    };

    submit([&](sqlite::Connection& writer) {
      gone_on.wait();
      return insert(writer);
    });
    loop.run_posted();
    submit(insert);
    go_on.set_value();
    while (table.committed() < 1) std::this_thread::yield();
    // The committer has nothing to do now but the second job.
    submit([&](sqlite::Connection& writer) -> Status {
      PAWL_TRY(auto outsider, sqlite::Connection::open(database));
      PAWL_TRY(seen_by_last, outsider->integer_of("SELECT count(*) FROM t"));
      return insert(writer);
    });
    REQUIRE(loop.run_until([&] { return done == 3; }));
  }

  CHECK(seen_by_last == 1);
}

TEST_CASE("runs that are answered in parts are in the next commit together") {
  constexpr std::size_t kJobs = 20;  // more than are answered at once, and no early parts
  OneTable table;
  TestLoop loop;
  const std::string& database = table.database;
  std::size_t done = 0;
  std::vector<std::int64_t> seen;  // rows committed, by each job of the second round
  {
    sqlite::Committer committer(std::move(table.writer), loop, {});
    const auto submit = [&](std::function<void()> then) {
      sqlite::Job job;
      job.work = [&](sqlite::Connection& writer) -> Status {
        PAWL_TRY(auto outsider, sqlite::Connection::open(database));
        PAWL_TRY(const std::int64_t rows, outsider->integer_of("SELECT count(*) FROM t"));
        seen.push_back(rows);
        return writer.execute("INSERT INTO t VALUES (1)");
      };
      job.done = [&done, then = std::move(then)](const Status& status) {
        done += status ? 1U : 0U;
        then();
      };
      committer.submit(std::move(job));
    };
    // What a run does next it does in a callback of its own, as after a model or a tool.
    for (std::size_t i = 0; i < kJobs; ++i) {
      submit([&] { loop.post([&] { submit([] {}); }); });
    }
    REQUIRE(loop.run_until([&] { return done == 2 * kJobs; }));
  }

  REQUIRE(seen.size() == 2 * kJobs);
  for (std::size_t i = 0; i < kJobs; ++i) CHECK(seen[kJobs + i] == kJobs);
}

TEST_CASE("the first part of a large round is written while the loop works on the rest") {
  constexpr std::size_t kJobs = 48;
  SqliteOptions options;
  options.round_wait_ms_max = 60'000;
  OneTable table;
  TestLoop loop;
  const std::string& database = table.database;
  std::int64_t seen_by_last = -1;  // rows committed when the last job is done
  std::atomic<std::size_t> written = 0;
  std::size_t done = 0;
  {
    sqlite::Committer committer(std::move(table.writer), loop, options);
    const auto submit = [&](std::size_t jobs) {
      for (std::size_t i = 0; i < jobs; ++i) {
        sqlite::Job job;
        job.work = [&](sqlite::Connection& writer) -> Status {
          PAWL_TRY(auto outsider, sqlite::Connection::open(database));
          PAWL_TRY(seen_by_last, outsider->integer_of("SELECT count(*) FROM t"));
          ++written;
          return writer.execute("INSERT INTO t VALUES (1)");
        };
        job.done = [&](const Status& status) { done += status ? 1U : 0U; };
        committer.submit(std::move(job));
      }
    };
    submit(kJobs);
    CHECK(written == 0);  // nothing is known of rounds yet
    REQUIRE(loop.run_until([&] { return done == kJobs; }));

    submit(kJobs - 1);
    while (written < kJobs + kJobs / 2) std::this_thread::yield();
    submit(1);
    REQUIRE(loop.run_until([&] { return done == 2 * kJobs; }));

    CHECK(seen_by_last == kJobs);  // the first part was not committed alone
    submit(kJobs);
    // No round ends any more: what is queued is written by the end.
  }
  CHECK(table.committed() == 3 * kJobs);
}

TEST_CASE("an append that is refused in the first part of a round takes nobody with it") {
  constexpr std::uint64_t kRuns = 48;
  constexpr std::uint64_t kRefused = 5;  // in both rounds
  OneTable table;
  TestLoop loop;
  std::atomic<std::size_t> worked = 0;
  std::size_t done = 0;
  std::size_t refused = 0;
  {
    sqlite::Committer committer(std::move(table.writer), loop, {});
    for (int round = 0; round < 2; ++round) {
      const std::size_t before = worked;
      for (std::uint64_t run = 0; run < kRuns; ++run) {
        sqlite::Job job;
        job.run = "run" + std::to_string(run);
        job.work = [run, &worked](sqlite::Connection& writer) -> Status {
          ++worked;
          PAWL_CHECK(writer.execute("INSERT INTO t VALUES (1)"));
          if (run == kRefused) return Error{ErrorCode::conflict, "no"};
          return ok();
        };
        job.done = [&](const Status& status) {
          ++done;
          if (!status) ++refused;
        };
        committer.submit(std::move(job));
        // The first part is begun before the round is over, once there has been one like it.
        const bool last_but_one = run + 2 == kRuns;
        while (round > 0 && last_but_one && worked == before) std::this_thread::yield();
      }
      const std::size_t all = kRuns * static_cast<std::size_t>(round + 1);
      REQUIRE(loop.run_until([&] { return done == all; }));
    }
  }
  CHECK(refused == 2);
  CHECK(table.committed() == 2 * (kRuns - 1));
}

TEST_CASE("what was queued when the journal closes is written, and nobody is called") {
  SqliteStore store;
  bool called = false;
  for (std::uint64_t seq = 0; seq < 100; ++seq) {
    store.owner->append(append_of(run_id("a"), 1, seq, "x"),
                        [&called](const Status&) { called = true; });
  }

  store.reopen();
  store.loop.run_posted();

  CHECK_FALSE(called);
  StoreView view = store.view();
  CHECK(records_of(view, run_id("a")).size() == 100);
}

TEST_CASE("a full disk keeps appends waiting until there is space") {
  SqliteOptions options;
  options.database_pages_max = 200;
  options.full_retry_ms = 5;
  int told = 0;
  options.on_full = [&told] { ++told; };
  SqliteStore store(options);
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  execute(store.database(),
          "CREATE TABLE junk (bytes BLOB); INSERT INTO junk VALUES (zeroblob(1200000))");
  Append large = append_of(run, 1, 1, "large");
  large.blobs = {contract::blob_of(std::string(1U << 20U, 'x'))};
  Texts seen;
  const auto note = [&](const Status& status) { seen.push_back(outcome(status)); };
  store.owner->append(large, note);
  store.owner->append(append_of(run, 1, 2, "behind"), note);

  CHECK_FALSE(store.loop.run_until([&] { return !seen.empty(); }, 200));
  CHECK(records_of(view, run) == Texts{"r0"});
  CHECK(outcome(store.owner->acquire(run)) == "unavailable");
  CHECK(store.loop.run_until([&] { return told == 1; }));

  execute(store.database(), "DROP TABLE junk");
  CHECK(store.loop.run_until([&] { return seen.size() == 2; }));
  CHECK(seen == Texts{"ok", "ok"});
  CHECK(records_of(view, run) == Texts{"r0", "large", "behind"});
  CHECK(told == 1);  // however often it was tried
}

TEST_CASE("with little space left large appends wait, and those of other runs go on") {
  std::atomic<bool> has_space = false;
  int told = 0;
  SqliteOptions options;
  options.full_retry_ms = 5;
  options.has_space_for = [&](std::uint64_t bytes) { return has_space || bytes < (1U << 10U); };
  options.on_full = [&told] { ++told; };
  SqliteStore store(options);
  StoreView view = store.view();
  const RunId loud = make_run(view, "loud");
  const RunId quiet = make_run(view, "quiet");
  Append large = append_of(loud, 1, 1, "large");
  large.blobs = {contract::blob_of(std::string(sqlite::kLargeJobBytes, 'x'))};
  Texts seen;
  const auto note = [&](const Status& status) { seen.push_back(outcome(status)); };
  store.owner->append(large, note);
  store.owner->append(append_of(loud, 1, 2, "behind"), note);
  store.loop.run_until([&] { return told == 1; });

  for (std::uint64_t seq = 1; seq < 20; ++seq) {
    CHECK(append_now(view, append_of(quiet, 1, seq, "small")) == "ok");
    if (seq == 10) store.owner->append(append_of(loud, 1, 3, "last"), note);
  }
  CHECK(post_now(view, loud, "a message") == "ok");
  CHECK(records_of(view, loud) == Texts{"r0"});
  CHECK(seen.empty());
  CHECK(told == 1);

  has_space = true;
  CHECK(store.loop.run_until([&] { return seen.size() == 3; }));
  CHECK(seen == Texts{"ok", "ok", "ok"});
  CHECK(records_of(view, loud) == Texts{"r0", "large", "behind", "last"});
}

TEST_CASE("an append that is held back keeps its place when the disk is full besides") {
  std::atomic<bool> has_space = false;
  SqliteOptions options;
  options.database_pages_max = 200;
  options.full_retry_ms = 5;
  options.has_space_for = [&](std::uint64_t) { return has_space.load(); };
  SqliteStore store(options);
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  execute(store.database(),
          "CREATE TABLE junk (bytes BLOB); INSERT INTO junk VALUES (zeroblob(1560000))");
  Texts seen;
  const auto note = [&](const Status& status) { seen.push_back(outcome(status)); };
  Texts wanted = {"r0"};
  for (std::uint64_t seq = 1; seq <= 40; ++seq) {
    Append next = append_of(run, 1, seq, std::string(8'000, 'x'));
    if (seq % 4 == 0) next.blobs = {contract::blob_of(std::string(20'000 + seq, 'y'))};
    wanted.push_back(next.bytes);
    store.owner->append(std::move(next), note);
    if (seq % 8 == 0) store.loop.run_until([] { return false; }, 10);
  }
  CHECK_FALSE(store.loop.run_until([&] { return seen.size() == 40; }, 100));

  has_space = true;
  store.loop.run_until([] { return false; }, 50);
  execute(store.database(), "DROP TABLE junk");
  CHECK(store.loop.run_until([&] { return seen.size() == 40; }));
  CHECK(seen == Texts(40, "ok"));
  CHECK(records_of(view, run) == wanted);
}

TEST_CASE("a store on a full disk can be closed, and loses what nobody was told about") {
  SqliteOptions options;
  options.database_pages_max = 60;
  SqliteStore store(options);
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  Append large = append_of(run, 1, 1, "large");
  large.blobs = {contract::blob_of(std::string(1U << 20U, 'x'))};
  store.owner->append(large, [](const Status&) { FAIL("it cannot have been written"); });
  store.loop.run_until([] { return false; }, 50);

  store.reopen();

  StoreView again = store.view();
  CHECK(records_of(again, run) == Texts{"r0"});
  CHECK(append_now(again, append_of(run, 1, 1, "small")) == "ok");
}

TEST_CASE("the queue is bounded, and a run's refusals keep their place") {
  SqliteOptions options;
  options.queued_jobs_max = 4;
  options.database_pages_max = 60;
  options.full_retry_ms = 1'000'000;
  SqliteStore store(options);
  StoreView view = store.view();
  make_run(view, "a");
  Append large = append_of(run_id("a"), 1, 1, "x");
  large.blobs = {contract::blob_of(std::string(1U << 20U, 'x'))};
  Texts seen;
  for (int job = 0; job < 12; ++job) {
    store.owner->append(large, [&](const Status& status) { seen.push_back(outcome(status)); });
  }

  CHECK(post_now(view, run_id("a"), "x") == "limit_exceeded");
  Append fresh = append_of(run_id("b"), 1, 0, "x");
  CHECK(append_now(view, fresh) == "limit_exceeded");
  CHECK(seen.empty());
}

TEST_CASE("a foreign writer is waited for, and too long a wait is no reason to stop") {
  SqliteOptions options;
  options.busy_wait_ms_max = 300;
  options.acquire_wait_ms_max = 50;
  SqliteStore store(options);
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  auto writer = std::make_unique<ForeignWriter>(store.database());
  Texts seen;
  const auto note = [&](const Status& status) { seen.push_back(outcome(status)); };

  store.owner->append(append_of(run, 1, 1, "r1"), note);
  CHECK_FALSE(store.loop.run_until([&] { return !seen.empty(); }, 50));
  CHECK(records_of(view, run) == Texts{"r0"});
  CHECK(outcome(store.owner->acquire(run)) == "unavailable");
  writer.reset();
  CHECK(store.loop.run_until([&] { return seen == Texts{"ok"}; }));

  writer = std::make_unique<ForeignWriter>(store.database());
  store.owner->append(append_of(run, 1, 2, "r2"), note);
  CHECK(store.loop.run_until([&] { return seen == Texts{"ok", "unavailable"}; }));
  writer.reset();
  CHECK(append_now(view, append_of(run, 1, 2, "r2")) == "ok");
}

TEST_CASE("what has been written no longer counts as waiting") {
  SqliteOptions options;
  options.queued_bytes_max = 10'000;
  SqliteStore store(options);
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  for (std::uint64_t seq = 1; seq <= 20; ++seq) {
    REQUIRE(append_now(view, append_of(run, 1, seq, std::string(2'000, 'x'))) == "ok");
  }
  auto writer = std::make_unique<ForeignWriter>(store.database());
  Texts seen;
  for (std::uint64_t seq = 21; seq <= 23; ++seq) {
    store.owner->append(append_of(run, 1, seq, std::string(2'000, 'x')),
                        [&](const Status& status) { seen.push_back(outcome(status)); });
  }
  writer.reset();
  REQUIRE(store.loop.run_until([&] { return seen.size() == 3; }));
  CHECK(seen == Texts{"ok", "ok", "ok"});
}

TEST_CASE("a record that its job took back does not count as written") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  auto connection = sqlite::Connection::open(store.database());
  REQUIRE(connection);
  sqlite::Committer committer(std::move(*connection), store.loop, {});
  Texts seen;
  for (const bool refused : {true, false}) {
    sqlite::Job job;
    job.work = [refused, append = append_of(run, 1, 1, "r1")](sqlite::Connection& writer) {
      const Status written = sqlite::write_append(writer, append);
      return written && refused ? Status(Error{ErrorCode::conflict, "no"}) : written;
    };
    job.done = [&](const Status& status) { seen.push_back(outcome(status)); };
    committer.submit(std::move(job));
  }
  REQUIRE(store.loop.run_until([&] { return seen.size() == 2; }));
  CHECK(seen == Texts{"conflict", "ok"});
  CHECK(records_of(view, run) == Texts{"r0", "r1"});
}

TEST_CASE("a run whose first record is on its way is not taken for a new one") {
  SqliteOptions options;
  options.acquire_wait_ms_max = 50;
  SqliteStore store(options);
  const RunId run = run_id("a");
  auto writer = std::make_unique<ForeignWriter>(store.database());
  bool written = false;
  store.owner->append(append_of(run, 1, 0, "r0"), [&](const Status&) { written = true; });

  CHECK(outcome(store.owner->acquire(run)) == "unavailable");

  writer.reset();
  REQUIRE(store.loop.run_until([&] { return written; }));
  const auto drive = store.owner->acquire(run);
  REQUIRE(drive);
  CHECK(drive->epoch == 2);
  CHECK(drive->length == 1);
}

TEST_CASE("nobody gets a run that is being removed") {
  SqliteOptions options;
  options.acquire_wait_ms_max = 50;
  SqliteStore store(options);
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  auto writer = std::make_unique<ForeignWriter>(store.database());
  std::optional<std::string> removed;
  store.owner->remove(run, [&](const Status& status) { removed = outcome(status); });

  CHECK(outcome(store.owner->acquire(run)) == "conflict");

  writer.reset();
  REQUIRE(store.loop.run_until([&] { return removed.has_value(); }));
  CHECK(*removed == "ok");
  CHECK(store.owner->acquire(run)->length == 0);
}

TEST_CASE("a failed commit stops the store for good") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  // Another program changes the schema under us: a commit error that nobody planned for.
  execute(store.database(), "DROP TABLE journal");

  CHECK(append_now(view, append_of(run, 1, 1, "x")) == "unavailable");
  CHECK(append_now(view, append_of(run_id("b"), 1, 0, "x")) == "unavailable");
  CHECK(post_now(view, run, "x") == "unavailable");
  CHECK(outcome(store.owner->acquire(run)) == "unavailable");
  CHECK(outcome(store.owner->checkpoint()) == "unavailable");
  CHECK(outcome(store.owner->list({"a", "", "", 1})) != "ok");
}

TEST_CASE("the log is written back when it gets long") {
  SqliteOptions options;
  options.log_pages_max = 50;
  SqliteStore store(options);
  StoreView view = store.view();
  for (std::uint64_t seq = 0; seq < 500; ++seq) {
    REQUIRE(append_now(view, append_of(run_id("a"), 1, seq, std::string(2048, 'x'))) == "ok");
  }

  const auto log_bytes = std::filesystem::file_size(store.database() + "-wal");

  CHECK(log_bytes < 100 * 8192);
}

}  // namespace
}  // namespace pawl
