#include "pawl/adapter/journal_sqlite/store_row.h"

#include <doctest/doctest.h>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl::sqlite {
namespace {

TEST_CASE("the row of a store is read as it was written, and a changed one is damage") {
  SqliteStore store;
  store.owner.reset();
  auto connection = Connection::open(store.database());
  REQUIRE(connection);
  const StoreRow row{7, 1, -3, 4, 5, 6};
  REQUIRE(write_store(**connection, row));
  CHECK(*read_store(**connection) == row);
  for (const char* column : {"id", "marked", "log", "log_before", "logs", "sum"}) {
    REQUIRE(write_store(**connection, row));
    const std::string name(column);
    REQUIRE((*connection)->execute("UPDATE store SET " + name + " = " + name + " + 1"));
    const auto damaged = read_store(**connection);
    REQUIRE_FALSE(damaged);
    CHECK(damaged.error().code == ErrorCode::corrupt);
    CHECK(damaged.error().message.find("table store") != std::string::npos);
  }
  REQUIRE((*connection)->execute("DELETE FROM store"));
  CHECK_FALSE(read_store(**connection));
}

TEST_CASE("every store gets an id of its own") {
  CHECK(random_store_id() != random_store_id());
  CHECK(random_store_id() >= 0);
}

}  // namespace
}  // namespace pawl::sqlite
