#include "pawl/adapter/journal_sqlite/transaction.h"

#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <utility>

#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "tests/contract/journal_contract.h"

namespace pawl::sqlite {
namespace {

using contract::outcome;
using contract::Texts;

struct Stage {
  Stage() {
    std::ofstream(database).flush();
    auto opened = Connection::open(database);
    REQUIRE(opened);
    writer = *std::move(opened);
    REQUIRE(writer->execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)"));
  }

  // A job that adds `rows` rows, and then fails or not.
  std::unique_ptr<Entry> job(std::string run, int rows, Status status = ok()) {
    Job job;
    job.run = std::move(run);
    job.work = [this, rows, status](Connection& connection) -> Status {
      ++worked;
      for (int i = 0; i < rows; ++i) PAWL_CHECK(connection.execute("INSERT INTO t VALUES (1)"));
      return status;
    };
    return std::make_unique<Entry>(Entry{std::move(job)});
  }
  std::int64_t committed() const {
    const auto reader = Connection::open(database);
    REQUIRE(reader);
    return *(*reader)->integer_of("SELECT count(*) FROM t");
  }

  TempDirectory directory;
  std::string database = directory / "db";
  std::unique_ptr<Connection> writer;
  AppendOrder order;
  int worked = 0;
};

Texts outcomes(const Group& group) {
  Texts all;
  for (const auto& entry : group) all.push_back(entry->outcome ? outcome(*entry->outcome) : "none");
  return all;
}

const Error kNo{ErrorCode::conflict, "no"};

}  // namespace

TEST_CASE("jobs that come while the transaction is open belong to it") {
  Stage stage;
  Transaction transaction(*stage.writer, stage.order);
  Group group;
  group.push_back(stage.job("a", 1));
  int asked = 0;
  const Status status = transaction.write(group, [&](Group& more) {
    CHECK(stage.committed() == 0);
    if (++asked == 3) return false;
    more.push_back(stage.job("b" + std::to_string(asked), 1));
    return true;
  });

  REQUIRE(status);
  CHECK(outcomes(group) == Texts{"ok", "ok", "ok"});
  CHECK(stage.committed() == 3);
  CHECK(stage.worked == 3);
}

TEST_CASE("an append that is refused after a change has the transaction done again without it") {
  Stage stage;
  Transaction transaction(*stage.writer, stage.order);
  Group group;
  group.push_back(stage.job("a", 1));
  group.push_back(stage.job("b", 2, kNo));
  group.push_back(stage.job("b", 1));
  group.push_back(stage.job("c", 1));
  REQUIRE(transaction.write(group, [](Group&) { return false; }));

  CHECK(outcomes(group) == Texts{"ok", "conflict", "conflict", "ok"});
  CHECK(stage.committed() == 2);
  CHECK(stage.worked == 5);  // two before it was known, and again; never the one behind the failure

  Group later;
  later.push_back(stage.job("b", 1));
  REQUIRE(transaction.write(later, [](Group&) { return false; }));
  CHECK(outcomes(later) == Texts{"ok"});  // who else is to fail the order of appends says
}

TEST_CASE("a job that nobody waits for any more is not done") {
  Stage stage;
  Transaction transaction(*stage.writer, stage.order);
  Group group;
  group.push_back(stage.job("", 1));
  group.push_back(stage.job("", 1));
  group.front()->waiter = std::make_shared<Waiter>();
  group.front()->waiter->abandoned = true;
  REQUIRE(transaction.write(group, [](Group&) { return false; }));

  CHECK(outcomes(group) == Texts{"cancelled", "ok"});
  CHECK(stage.committed() == 1);
}

TEST_CASE("appends that are done again find their runs as they were") {
  TempDirectory directory;
  std::ofstream(directory / "db").flush();
  auto writer = Connection::open(directory / "db");
  REQUIRE(writer);
  REQUIRE(prepare_schema(**writer, "db"));
  AppendOrder order;
  Transaction transaction(**writer, order);
  Group group;
  for (std::uint64_t seq = 0; seq < 2; ++seq) {
    Job job;
    job.append = contract::append_of(contract::run_id("a"), 1, seq, "x");
    group.push_back(std::make_unique<Entry>(Entry{std::move(job)}));
  }
  Job refused;
  refused.run = "b";
  refused.work = [](Connection& connection) -> Status {
    PAWL_CHECK(connection.execute("INSERT INTO inbox (run, at, body) VALUES (1, 1, x'')"));
    return kNo;
  };
  group.push_back(std::make_unique<Entry>(Entry{std::move(refused)}));

  REQUIRE(transaction.write(group, [](Group&) { return false; }));

  CHECK(outcomes(group) == Texts{"ok", "ok", "conflict"});
  CHECK(*(*writer)->integer_of("SELECT count(*) FROM journal") == 2);
  CHECK(*(*writer)->integer_of("SELECT count(*) FROM inbox") == 0);
}

}  // namespace pawl::sqlite
