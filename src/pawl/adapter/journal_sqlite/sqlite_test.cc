#include "pawl/adapter/journal_sqlite/sqlite.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

using contract::outcome;

struct Database {
  explicit Database(const std::string& bytes = "") {
    std::ofstream(directory / "db", std::ios::binary) << bytes;
    auto opened = Connection::open(directory / "db");
    REQUIRE(opened);
    connection = std::move(*opened);
  }
  TempDirectory directory;
  std::unique_ptr<Connection> connection;
};

TEST_CASE("values come back as they were bound, also empty ones") {
  Database database;
  REQUIRE(database.connection->execute("CREATE TABLE t (a, b, c, d)"));
  const std::string zeros("\0x\0", 3);
  REQUIRE(Query(*database.connection, "INSERT INTO t VALUES (?, ?, ?, ?)")
              .number(std::int64_t{-7})
              .text("text")
              .blob(zeros)
              .blob({})
              .run());

  Query query(*database.connection, "SELECT a, b, c, d, NULL FROM t");

  REQUIRE(*query.next());
  CHECK(query.number_at(0) == -7);
  CHECK(query.text_at(1) == "text");
  CHECK(query.blob_at(2) == zeros);
  CHECK(query.blob_at(3).empty());
  CHECK_FALSE(query.null_at(3));
  CHECK(query.null_at(4));
  CHECK_FALSE(*query.next());
}

TEST_CASE("a statement that cannot be prepared is an error, not a crash") {
  Database database;
  Query query(*database.connection, "SELECT nothing FROM nowhere");

  const auto found = query.number(std::int64_t{1}).text("x").blob("y").next();

  REQUIRE(outcome(found) == "unavailable");
  CHECK(found.error().message.find("nowhere") != std::string::npos);
  CHECK(database.connection->fault() == Fault::other);
}

TEST_CASE("faults say what can be done about them") {
  Database database;
  REQUIRE(database.connection->execute("CREATE TABLE t (a)"));

  SUBCASE("full") {
    REQUIRE(database.connection->execute("PRAGMA max_page_count = 2"));
    CHECK(outcome(database.connection->execute("INSERT INTO t VALUES (zeroblob(99999))")) ==
          "unavailable");
    CHECK(database.connection->fault() == Fault::full);
  }
  SUBCASE("busy") {
    auto other = Connection::open(database.directory / "db");
    REQUIRE(other);
    REQUIRE((*other)->execute("BEGIN IMMEDIATE"));
    int asked = 0;
    database.connection->set_busy_handler([&](int) { return ++asked < 3; });
    CHECK(outcome(database.connection->execute("BEGIN IMMEDIATE")) == "unavailable");
    CHECK(database.connection->fault() == Fault::busy);
    CHECK(asked == 3);
  }
  SUBCASE("too big") {
    CHECK(outcome(database.connection->execute("INSERT INTO t VALUES (zeroblob(1 << 30))")) ==
          "limit_exceeded");
    CHECK(database.connection->fault() == Fault::toobig);
  }
  SUBCASE("none any more") {
    CHECK_FALSE(database.connection->execute("nonsense"));
    database.connection->clear_fault();
    CHECK(database.connection->fault() == Fault::none);
  }
}

TEST_CASE("what is not a database is corrupt") {
  Database database(std::string(5000, 'x'));

  CHECK(outcome(database.connection->execute("SELECT * FROM sqlite_schema")) == "corrupt");
  CHECK(outcome(Connection::open(database.directory / "missing")) == "unavailable");
}

}  // namespace
}  // namespace pawl::sqlite
