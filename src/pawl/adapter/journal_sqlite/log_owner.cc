#include "pawl/adapter/journal_sqlite/log_owner.h"

#include <sys/stat.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace pawl::sqlite {
namespace {

// So many at either end: a store has any number of runs, and opening it should not read them all.
constexpr std::int64_t kRunsMax = 64;
constexpr std::int64_t kRecordsMax = 64;
// In a database whose log has been written back in part a page may belong to another table, whose
// second column is no text.
constexpr std::array<const char*, 2> kRuns = {
    "SELECT no, id FROM runs WHERE typeof(id) = 'text' ORDER BY no LIMIT ?",
    "SELECT no, id FROM runs WHERE typeof(id) = 'text' ORDER BY no DESC LIMIT ?"};
constexpr const char* kRun = "SELECT id FROM runs WHERE no = ?";
// Each is in a table of one page, and never falls.
constexpr std::array<const char*, 3> kCounters = {
    "SELECT seq FROM sqlite_sequence WHERE name = 'runs'",
    "SELECT seq FROM sqlite_sequence WHERE name = 'inbox'", "SELECT generation FROM placed"};
constexpr const char* kRecords =
    "SELECT id, run, seq, chain FROM journal WHERE typeof(seq) = 'integer' AND "
    "typeof(payload) = 'blob' AND length(chain) = 32 ORDER BY id DESC LIMIT ?";
constexpr const char* kRecord = "SELECT run, seq, chain FROM journal WHERE id = ?";
constexpr const char* kNewRuns = "SELECT no FROM runs WHERE no > ? ORDER BY no LIMIT ?";
constexpr const char* kNewRecords =
    "SELECT run, seq FROM journal WHERE id > ? AND seq > 0 AND run IN (SELECT no FROM runs) "
    "ORDER BY id LIMIT ?";
constexpr const char* kHasRecord =
    "SELECT 1 FROM places JOIN journal ON journal.id = places.id WHERE places.run = ?1 AND "
    "places.seq = ?2 UNION ALL SELECT 1 FROM journal WHERE id > (SELECT up_to FROM placed) AND "
    "run = ?1 AND seq = ?2 LIMIT 1";
constexpr std::int64_t kNewMax = 8;  // Where the log goes on from the database shows most.

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

Result<std::int64_t> counter(Connection& connection, const char* sql) {
  Query query(connection, sql);
  PAWL_TRY(const bool row, query.next());
  return row ? query.number_at(0) : std::int64_t{0};
}

struct Record {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::int64_t seq = 0;
  std::string chain;
};

Result<std::vector<Record>> last_records(Connection& connection) {
  std::vector<Record> records;
  Query query(connection, kRecords);
  PAWL_TRY(bool row, query.number(kRecordsMax).next());
  while (row) {
    records.push_back({query.number_at(0), query.number_at(1), query.number_at(2),
                       std::string(query.blob_at(3))});
    PAWL_TRY(row, query.next());
  }
  return records;
}

// What the database holds without its log, as far as it can be read.
struct Alone {
  Runs runs;
  std::array<std::int64_t, kCounters.size()> counters{};
  std::vector<Record> records;  // the last ones, last first

  explicit Alone(const std::string& database) {
    const auto opened = Connection::open_to_read(database, Connection::Log::ignored);
    if (!opened) return;
    Connection& connection = **opened;
    for (const char* sql : kRuns) {
      if (!read_runs(connection, sql, runs)) break;
    }
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      if (const auto value = counter(connection, kCounters[i])) counters[i] = *value;
    }
    if (auto last = last_records(connection)) records = *std::move(last);
  }
};

// Compares the two. Each check: why the log is not this database's, or nothing.
class Comparison {
 public:
  Comparison(Connection& both, const Alone& alone) : both_(both), alone_(alone) {}

  Result<std::string> runs_differ() {
    for (const auto& [number, id] : alone_.runs) {
      Query query(both_, kRun);
      PAWL_TRY(const bool row, query.number(number).next());
      if (!row || query.text_at(0) == id) continue;  // without a row it was removed
      return "run " + std::to_string(number) + " is " + id + " here and " +
             std::string(query.text_at(0)) + " there";
    }
    return std::string();
  }

  Result<std::string> is_older() {
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      PAWL_TRY(const std::int64_t now, counter(both_, kCounters[i]));
      if (now < alone_.counters[i]) return std::string("it is of an older state");
    }
    for (const Record& record : alone_.records) {
      PAWL_TRY(const bool kept, is_kept(record));
      if (!kept) return "it has another row " + std::to_string(record.id) + " of table journal";
    }
    return std::string();
  }

  // What is new in the log has all that came before it.
  Result<std::string> is_newer() {
    if (alone_.runs.empty() || alone_.records.empty()) return std::string();
    std::vector<std::pair<std::int64_t, std::int64_t>> wanted;  // run and record
    PAWL_CHECK(add(wanted, kNewRuns, alone_.runs.rbegin()->first));
    PAWL_CHECK(add(wanted, kNewRecords, alone_.records.front().id));
    for (const auto& [run, seq] : wanted) {
      Query query(both_, kHasRecord);
      PAWL_TRY(const bool found, query.number(run).number(seq).next());
      if (found) continue;
      return "record " + std::to_string(seq) + " of run number " + std::to_string(run) +
             " is in neither";
    }
    return std::string();
  }

 private:
  // Rows of a run never change; those of one that was removed are given again.
  Result<bool> is_kept(const Record& record) {
    Query query(both_, kRecord);
    PAWL_TRY(const bool row, query.number(record.id).next());
    if (row && query.number_at(0) == record.run && query.number_at(1) == record.seq &&
        query.blob_at(2) == record.chain) {
      return true;
    }
    Query owner(both_, kRun);
    PAWL_TRY(const bool there, owner.number(record.run).next());
    return !there;
  }

  Status add(std::vector<std::pair<std::int64_t, std::int64_t>>& wanted, const char* sql,
             std::int64_t after) {
    Query query(both_, sql);
    PAWL_TRY(bool row, query.number(after).number(kNewMax).next());
    while (row) {
      const bool is_run = sql == kNewRuns;
      wanted.emplace_back(query.number_at(0), is_run ? 0 : query.number_at(1) - 1);
      PAWL_TRY(row, query.next());
    }
    return ok();
  }

  Connection& both_;
  const Alone& alone_;
};

bool has_log(const std::string& database) {
  struct stat info{};
  return ::stat((database + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

}  // namespace

Status check_log_owner(Connection& connection, const std::string& database) {
  if (!has_log(database)) return ok();
  const Alone alone(database);
  Comparison comparison(connection, alone);
  for (const auto check :
       {&Comparison::runs_differ, &Comparison::is_older, &Comparison::is_newer}) {
    PAWL_TRY(const std::string why, (comparison.*check)());
    if (why.empty()) continue;
    return Error{ErrorCode::corrupt, database + "-wal is not the log of this database: " + why +
                                         "; nothing was changed. Where the database was restored, "
                                         "move the log away"};
  }
  return ok();
}

}  // namespace pawl::sqlite
