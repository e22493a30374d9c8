#include "pawl/adapter/journal_sqlite/schema.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

using contract::outcome;

std::unique_ptr<Connection> open_empty(const TempDirectory& directory) {
  std::ofstream(directory / "db").flush();
  auto opened = Connection::open(directory / "db");
  REQUIRE(opened);
  return std::move(*opened);
}

std::string text_of(Connection& connection, const char* sql) {
  Query query(connection, sql);
  REQUIRE(query.next());
  return std::string(query.text_at(0));
}

TEST_CASE("a crash while a store is made leaves an empty file or all of its tables") {
  const TempDirectory directory;
  const auto connection = open_empty(directory);
  struct Commits {
    std::string path;
    std::vector<std::uintmax_t> bytes_before;
  } commits{directory / "db", {}};
  const auto note = [](void* noted) {
    auto& all = *static_cast<Commits*>(noted);
    all.bytes_before.push_back(std::filesystem::file_size(all.path));
    return 0;
  };
  sqlite3_commit_hook(connection->handle(), note, &commits);

  REQUIRE(prepare_schema(*connection, "db"));

  REQUIRE(commits.bytes_before.size() == 2);  // the tables, then the switch to a log
  CHECK(commits.bytes_before[0] == 0);
  CHECK(commits.bytes_before[1] > 8192);
}

// The layout is a promise to every later version: a change here needs a new kSchemaVersion.
TEST_CASE("version 1 has these tables") {
  const TempDirectory directory;
  const auto connection = open_empty(directory);
  REQUIRE(prepare_schema(*connection, "db"));

  CHECK(text_of(*connection,
                "SELECT group_concat(name || ':' || columns, ' ') FROM (SELECT m.name, "
                "group_concat(c.name, ',') AS columns FROM sqlite_schema m, "
                "pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' "
                "GROUP BY m.name ORDER BY m.name)") ==
        "blobs:id,run,digest,bytes inbox:id,run,at,body,sum "
        "journal:id,run,seq,epoch,sum,payload,chain "
        "placed:one,up_to,generation,sum places:run,seq,id removals:run "
        "runs:no,id,tenant,name,status,reason,created_at,updated_at,epoch,loads,"
        "quarantine,length,messages,sum snapshots:run,seq,chain,digest,state "
        "store:one,id,marked,log,log_before,logs,removed,sum");
  CHECK(*connection->integer_of("PRAGMA page_size") == 8192);
  CHECK(*connection->integer_of("PRAGMA auto_vacuum") == 2);
  CHECK(*connection->integer_of("PRAGMA user_version") == 1);
  CHECK(*connection->integer_of("PRAGMA application_id") == 0x5061776c);
  CHECK(text_of(*connection, "PRAGMA journal_mode") == "wal");
}

TEST_CASE("preparing twice changes nothing") {
  const TempDirectory directory;
  const auto connection = open_empty(directory);
  REQUIRE(prepare_schema(*connection, "db"));
  const auto before = connection->integer_of("PRAGMA schema_version");

  CHECK(outcome(prepare_schema(*connection, "db")) == "ok");

  CHECK(*connection->integer_of("PRAGMA schema_version") == *before);
}

TEST_CASE("a table that is lost, changed or somebody else's is refused by name") {
  const std::pair<std::string, std::string> kEdits[] = {
      {"DROP TABLE inbox", "table inbox"},
      {"DROP TABLE removals", "table removals"},
      {"DROP INDEX blobs_by_run", "index blobs_by_run"},
      {"ALTER TABLE runs RENAME COLUMN loads TO other", "table runs"},
      {"ALTER TABLE journal ADD COLUMN other TEXT", "table journal"},
      {"CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal; END", "trigger t"},
      {"CREATE VIEW sqlitelike AS SELECT 1", "view sqlitelike"}};
  for (const auto& [edit, named] : kEdits) {
    INFO(edit);
    const TempDirectory directory;
    const auto connection = open_empty(directory);
    REQUIRE(prepare_schema(*connection, "db"));
    REQUIRE(connection->execute(edit));

    const Status prepared = prepare_schema(*connection, "the/db");

    REQUIRE(outcome(prepared) == "corrupt");
    CHECK(prepared.error().message.find(named) != std::string::npos);
    CHECK(prepared.error().message.find("the/db") != std::string::npos);
  }
}

TEST_CASE("other programs' databases and versions are refused") {
  CHECK(outcome(check_identity({kApplicationId, kSchemaVersion}, "db")) == "ok");
  CHECK(outcome(check_identity({0, kSchemaVersion}, "db")) == "invalid_argument");
  CHECK(outcome(check_identity({kApplicationId, kSchemaVersion + 1}, "db")) == "invalid_argument");
  const TempDirectory directory;
  const auto connection = open_empty(directory);
  REQUIRE(connection->execute("CREATE TABLE t (x)"));
  CHECK(outcome(prepare_schema(*connection, "db")) == "invalid_argument");
}

}  // namespace
}  // namespace pawl::sqlite
