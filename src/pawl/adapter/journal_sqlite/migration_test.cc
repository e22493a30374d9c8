#include "pawl/adapter/journal_sqlite/migration.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "pawl/adapter/journal_sqlite/schema.h"
#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

using contract::outcome;

Status add_color(Connection& connection) {
  return connection.execute("ALTER TABLE runs ADD COLUMN color TEXT");
}
Status add_weight(Connection& connection) {
  return connection.execute("ALTER TABLE runs ADD COLUMN weight INTEGER");
}
Status fail(Connection& connection) {
  PAWL_CHECK(add_weight(connection));
  return Error{ErrorCode::corrupt, "as planned"};
}

constexpr std::array<Migration, 2> kSteps = {{{1, add_color}, {2, add_weight}}};
constexpr std::array<Migration, 2> kWithGap = {{{1, add_color}, {3, add_weight}}};
constexpr std::array<Migration, 2> kFailing = {{{1, add_color}, {2, fail}}};

struct Old {
  Old() {
    std::ofstream(path).flush();
    connection = std::move(*Connection::open(path));
    REQUIRE(prepare_schema(*connection, path));
  }
  std::int64_t columns() {
    return *connection->integer_of("SELECT count(*) FROM pragma_table_info('runs')");
  }
  std::int64_t version() { return *connection->integer_of("PRAGMA user_version"); }

  TempDirectory directory;
  std::string path = directory / "pawl.db";
  std::unique_ptr<Connection> connection;
};

TEST_CASE("all steps are made in order, after a copy") {
  Old old;
  const std::int64_t before = old.columns();

  CHECK(outcome(migrate(*old.connection, old.path, {1, 3}, kSteps)) == "ok");

  CHECK(old.columns() == before + 2);
  CHECK(old.version() == 3);
  const auto copy = Connection::open(old.path + ".v1");
  REQUIRE(copy);
  CHECK(*(*copy)->integer_of("PRAGMA user_version") == 1);
  CHECK(*(*copy)->integer_of("SELECT count(*) FROM pragma_table_info('runs')") == before);
  struct stat info{};
  REQUIRE(::stat((old.path + ".v1").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0600);
}

TEST_CASE("steps that were made before are not made again, and later ones only when wanted") {
  Old old;
  const std::int64_t before = old.columns();
  REQUIRE(migrate(*old.connection, old.path, {1, 2}, kSteps));
  CHECK(old.version() == 2);
  CHECK(old.columns() == before + 1);
  REQUIRE(migrate(*old.connection, old.path, {2, 3}, kSteps));
  CHECK(old.columns() == before + 2);
}

TEST_CASE("a step that fails leaves everything as it was, and the copy") {
  Old old;
  const std::int64_t before = old.columns();

  CHECK(outcome(migrate(*old.connection, old.path, {1, 3}, kFailing)) == "corrupt");

  CHECK(old.columns() == before);
  CHECK(old.version() == 1);
  CHECK_FALSE(old.connection->in_transaction());
  CHECK(std::filesystem::exists(old.path + ".v1"));
  CHECK(outcome(migrate(*old.connection, old.path, {1, 3}, kSteps)) == "ok");
}

TEST_CASE("nothing is done under another process, or without a way to the version") {
  Old old;
  CHECK(outcome(migrate(*old.connection, old.path, {1, 3, Access::shared}, kSteps)) ==
        "unavailable");
  CHECK_FALSE(std::filesystem::exists(old.path + ".v1"));
  CHECK(outcome(migrate(*old.connection, old.path, {1, 4}, kSteps)) == "invalid_argument");
  CHECK(old.version() == 1);
}

TEST_CASE("a step that is missing is not stepped over") {
  Old old;
  const std::int64_t before = old.columns();
  CHECK(outcome(migrate(*old.connection, old.path, {1, 3}, kWithGap)) == "invalid_argument");
  CHECK(old.version() == 1);
  CHECK(old.columns() == before);
}

TEST_CASE("there is a step from every version to the next") {
  std::uint32_t version = 1;
  for (const Migration& step : migrations()) CHECK(step.from == version++);
  CHECK(version == kSchemaVersion);
}

}  // namespace
}  // namespace pawl::sqlite
