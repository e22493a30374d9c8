#include "pawl/adapter/journal_sqlite/log_owner.h"

#include <sys/stat.h>

#include <optional>

#include "pawl/adapter/journal_sqlite/store_row.h"

namespace pawl::sqlite {
namespace {

bool has_log(const std::string& database) {
  struct stat info{};
  return ::stat((database + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

// What the database says without its log. Nothing: it cannot be read, or does not check.
std::optional<StoreRow> row_alone(const std::string& database) {
  const auto opened = Connection::open_to_read(database, Connection::Log::ignored);
  if (!opened) return std::nullopt;
  const auto row = read_store(**opened);
  return row ? std::optional(*row) : std::nullopt;
}

// Why the log is not this database's; empty: it is, or nothing speaks against it.
std::string difference(const StoreRow& alone, const StoreRow& both) {
  if (alone.id != both.id) return "it is the log of another store";
  if (alone.log == both.log || alone.log == both.log_before) return "";
  return alone.logs > both.logs ? "it is of an earlier state of this store"
                                : "it is of a later state of this store";
}

}  // namespace

Status check_log_owner(Connection& connection, const std::string& database) {
  if (!has_log(database)) return ok();
  PAWL_TRY(const StoreRow both, read_store(connection));
  const auto alone = row_alone(database);
  const std::string why = alone ? difference(*alone, both) : "";
  if (why.empty()) return ok();
  return Error{ErrorCode::corrupt,
               database + "-wal is not the log of this database: " + why +
                   "; nothing was changed. If a backup was copied over " + database +
                   ", restore it with `pawl restore BACKUP`, which keeps all that is here"};
}

Status bind_log(Connection& connection) {
  PAWL_TRY(const std::int64_t name, connection.log_name());
  if (name == 0) return ok();
  PAWL_TRY(StoreRow row, read_store(connection));
  if (row.log == name) return ok();
  row.log_before = row.log;
  row.log = name;
  ++row.logs;
  connection.newest().logs = row.logs;
  return write_store(connection, row);
}

}  // namespace pawl::sqlite
