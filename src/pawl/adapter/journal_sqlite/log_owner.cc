#include "pawl/adapter/journal_sqlite/log_owner.h"

#include <sys/stat.h>

#include <array>
#include <map>

namespace pawl::sqlite {
namespace {

// So many at either end: a store has any number of runs, and opening it should not read them all.
constexpr std::int64_t kRunsMax = 64;
// In a database whose log has been written back in part a page may belong to another table, whose
// second column is no text.
constexpr std::array<const char*, 2> kRuns = {
    "SELECT no, id FROM runs WHERE typeof(id) = 'text' ORDER BY no LIMIT ?",
    "SELECT no, id FROM runs WHERE typeof(id) = 'text' ORDER BY no DESC LIMIT ?"};
constexpr const char* kRun = "SELECT id FROM runs WHERE no = ?";

using Runs = std::map<std::int64_t, std::string>;

Status read_runs(Connection& connection, const char* sql, Runs& runs) {
  Query query(connection, sql);
  PAWL_TRY(bool row, query.number(kRunsMax).next());
  while (row) {
    runs[query.number_at(0)] = std::string(query.text_at(1));
    PAWL_TRY(row, query.next());
  }
  return ok();
}

// Those of the database alone, as far as they can be read.
Runs runs_without_log(const std::string& database) {
  Runs runs;
  const auto alone = Connection::open_to_read(database, Connection::Log::ignored);
  if (!alone) return runs;
  for (const char* sql : kRuns) {
    if (!read_runs(**alone, sql, runs)) break;
  }
  return runs;
}

bool has_log(const std::string& database) {
  struct stat info{};
  return ::stat((database + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

}  // namespace

Status check_log_owner(Connection& connection, const std::string& database) {
  if (!has_log(database)) return ok();
  for (const auto& [number, id] : runs_without_log(database)) {
    Query query(connection, kRun);
    PAWL_TRY(const bool row, query.number(number).next());
    if (!row || query.text_at(0) == id) continue;  // without a row it was removed
    return Error{ErrorCode::corrupt, database + "-wal is not the log of this database: run " +
                                         std::to_string(number) + " is " + id + " here and " +
                                         std::string(query.text_at(0)) +
                                         " there; nothing was changed"};
  }
  return ok();
}

}  // namespace pawl::sqlite
