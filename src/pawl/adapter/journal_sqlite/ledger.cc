#include "pawl/adapter/journal_sqlite/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/row_sum.h"
#include "pawl/adapter/journal_sqlite/stop_gate.h"
#include "pawl/adapter/journal_sqlite/store_row.h"

namespace pawl {
namespace {

using sqlite::CommitSection;
using sqlite::Connection;
using sqlite::LedgerMark;
using sqlite::LedgerState;
using sqlite::Query;

// "PwlB", so that no other program's database is taken for a ledger.
constexpr std::int64_t kApplication = 0x50776C42;
constexpr std::int64_t kLayout = 3;
// Sums of what is stored must stay within 63 bits, also of many.
constexpr std::uint64_t kAmountMax = 1ULL << 53U;
constexpr int kBusyStepMs = 5;

// Every row has a sum, and `totals` has how many rows there are and what their sums come to: a row
// that is lost, or is another tenant's by a flipped bit, shows as well as one that is changed.
#define PAWL_LEDGER_COLUMNS                                                                        \
  "id, tenant, at_ms, run, settled, cost, tokens, time, raised_cost, raised_tokens, raised_time, " \
  "sum "
constexpr int kSumColumn = 11;

std::int64_t sum_of_entry(const Query& row) {
  sqlite::RowSum sum("entries");
  sum.number(row.number_at(0)).text(row.text_at(1)).number(row.number_at(2)).text(row.text_at(3));
  for (int column = 4; column < kSumColumn; ++column) sum.number(row.number_at(column));
  return sum.finish();
}

struct LedgerTotals {
  std::int64_t rows = 0;
  std::int64_t sums = 0;

  void toggle(std::int64_t sum, std::int64_t count) {
    rows += count;
    sums ^= sum;
  }
  friend bool operator==(const LedgerTotals&, const LedgerTotals&) = default;
};

Error damaged_ledger(const std::string& what) {
  return Error{ErrorCode::corrupt, std::string(kLedgerName) + " is damaged: " + what +
                                       "; nothing is spent by it. Restore the directory from a "
                                       "backup (pawl restore BACKUP)"};
}

Result<LedgerTotals> read_totals(Connection& database) {
  Query query(database, "SELECT rows, sums FROM totals");
  PAWL_TRY(const bool found, query.next());
  if (!found) return damaged_ledger("its totals are gone");
  return LedgerTotals{query.number_at(0), query.number_at(1)};
}

Status write_totals(Connection& database, const LedgerTotals& totals) {
  Query query(database, "UPDATE totals SET rows=?, sums=?, changes=changes+1");
  return query.number(totals.rows).number(totals.sums).run();
}

Status set_sum(Connection& database, std::int64_t id, std::int64_t sum) {
  return Query(database, "UPDATE entries SET sum=? WHERE id=?").number(sum).number(id).run();
}

// The sum of the row as it is now, and the one that it has.
struct EntrySums {
  std::int64_t computed = 0;
  std::int64_t stored = 0;
};
Result<EntrySums> sums_of(Connection& database, std::int64_t id) {
  Query query(database, "SELECT " PAWL_LEDGER_COLUMNS "FROM entries WHERE id=?");
  PAWL_TRY(const bool found, query.number(id).next());
  if (!found) return damaged_ledger("row " + std::to_string(id) + " is gone");
  return EntrySums{sum_of_entry(query), query.number_at(kSumColumn)};
}

// After a row was added (its stored sum is 0) or changed.
Status seal_entry(Connection& database, std::int64_t id, std::int64_t added) {
  PAWL_TRY(const EntrySums sums, sums_of(database, id));
  PAWL_CHECK(set_sum(database, id, sums.computed));
  PAWL_TRY(LedgerTotals totals, read_totals(database));
  totals.toggle(sums.computed ^ sums.stored, added);
  return write_totals(database, totals);
}

// Gives rows without a sum theirs, and looks at all others. After rows were summed up.
Status reseal(Connection& database) {
  LedgerTotals totals;
  std::vector<std::pair<std::int64_t, std::int64_t>> unsealed;
  {
    Query query(database, "SELECT " PAWL_LEDGER_COLUMNS "FROM entries");
    PAWL_TRY(bool row, query.next());
    while (row) {
      const std::int64_t sum = sum_of_entry(query);
      totals.toggle(sum, 1);
      if (query.number_at(kSumColumn) != sum) unsealed.emplace_back(query.number_at(0), sum);
      PAWL_TRY(row, query.next());
    }
  }
  for (const auto& [id, sum] : unsealed) PAWL_CHECK(set_sum(database, id, sum));
  return write_totals(database, totals);
}

Status check_all(Connection& database) {
  LedgerTotals found;
  Query query(database, "SELECT " PAWL_LEDGER_COLUMNS "FROM entries");
  PAWL_TRY(bool row, query.next());
  while (row) {
    if (query.number_at(kSumColumn) != sum_of_entry(query)) {
      return damaged_ledger("row " + std::to_string(query.number_at(0)) +
                            " of table entries does not fit its checksum");
    }
    found.toggle(query.number_at(kSumColumn), 1);
    PAWL_TRY(row, query.next());
  }
  PAWL_TRY(const LedgerTotals totals, read_totals(database));
  return totals == found ? ok() : Status(damaged_ledger("its rows do not come to its totals"));
}

std::uint64_t bounded(std::uint64_t amount) {
  return std::min(amount, kAmountMax);
}

class Transaction {
 public:
  static Result<std::unique_ptr<Transaction>> begin(Connection& database) {
    std::unique_ptr<Transaction> begun(new Transaction(database));
    PAWL_CHECK(database.execute("BEGIN IMMEDIATE"));
    return begun;
  }
  ~Transaction() {
    // Nothing helps if even that fails; the next BEGIN will say so.
    if (database_.in_transaction()) (void)database_.execute("ROLLBACK");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Status commit() { return database_.execute("COMMIT"); }

 private:
  explicit Transaction(Connection& database) : database_(database) {}
  const CommitSection section_;
  Connection& database_;
};

Status make_file(const std::string& path) {
  constexpr mode_t kMode = 0600;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode);
  if (fd < 0) {
    return Error{ErrorCode::unavailable,
                 "the ledger " + path + " cannot be opened: errno " + std::to_string(errno)};
  }
  ::close(fd);
  return ok();
}

// Not with a write-ahead log: SQLite ends that at the first frame that does not check, so that a
// flipped bit in it would take back what was spent since, and nobody would be told. With this
// everything is in the database, where each row has its sum. The journal is kept empty and synced
// so: in this mode a commit is as durable as with a log.
Status use_rollback_journal(Connection& database) {
  return database.execute("PRAGMA journal_mode=TRUNCATE");
}

struct Layout {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;

  bool is_ours() const { return application == kApplication && version == kLayout; }
  bool is_nothing() const { return application == 0 && version == 0 && tables == 0; }
};

Result<Layout> layout_of(Connection& database) {
  Layout layout;
  PAWL_TRY(layout.application, database.integer_of("PRAGMA application_id"));
  PAWL_TRY(layout.version, database.integer_of("PRAGMA user_version"));
  PAWL_TRY(layout.tables, database.integer_of("SELECT count(*) FROM sqlite_master"));
  return layout;
}

Status make_layout(Connection& database) {
  PAWL_CHECK(database.execute(
      "CREATE TABLE entries(id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, at_ms "
      "INTEGER NOT NULL, run TEXT NOT NULL, settled INTEGER NOT NULL, cost INTEGER NOT NULL, "
      "tokens INTEGER NOT NULL, time INTEGER NOT NULL, raised_cost INTEGER NOT NULL, "
      "raised_tokens INTEGER NOT NULL, raised_time INTEGER NOT NULL, sum INTEGER NOT NULL DEFAULT "
      "0)"));
  PAWL_CHECK(
      database.execute("CREATE TABLE totals(one INTEGER PRIMARY KEY, rows INTEGER NOT NULL, sums "
                       "INTEGER NOT NULL, id INTEGER NOT NULL, changes INTEGER NOT NULL, marked "
                       "INTEGER NOT NULL)"));
  PAWL_CHECK(Query(database, "INSERT INTO totals VALUES(1, 0, 0, ?, 0, 0)")
                 .number(sqlite::random_store_id())
                 .run());
  PAWL_CHECK(database.execute("CREATE INDEX by_time ON entries(tenant, at_ms)"));
  PAWL_CHECK(database.execute("PRAGMA application_id=" + std::to_string(kApplication)));
  return database.execute("PRAGMA user_version=" + std::to_string(kLayout));
}

// Another process may be making it between two looks: what is not ours is looked at again where
// nobody else writes.
Status check_layout(Connection& database, const std::string& path) {
  PAWL_TRY(const Layout first, layout_of(database));
  if (first.is_ours()) return ok();
  PAWL_TRY(const auto transaction, Transaction::begin(database));
  PAWL_TRY(const Layout layout, layout_of(database));
  if (layout.is_ours()) return transaction->commit();
  if (!layout.is_nothing()) {
    return Error{
        ErrorCode::invalid_argument,
        path +
            " is no ledger that this version reads; restore the one it had from a backup, or name "
            "another directory with --data"};
  }
  PAWL_CHECK(make_layout(database));
  return transaction->commit();
}

Status insert(Connection& database, const std::string& tenant, const std::string& run,
              std::int64_t at_ms, const BudgetAmount& spent, const BudgetAmount& raised) {
  const std::int64_t settled = raised == BudgetAmount{} ? 0 : 1;
  Query query(database,
              "INSERT INTO entries(tenant, at_ms, run, settled, cost, tokens, time, raised_cost, "
              "raised_tokens, raised_time) VALUES(?,?,?,?,?,?,?,?,?,?)");
  query.text(tenant).number(at_ms).text(run).number(settled);
  query.number(bounded(spent.cost_pico)).number(bounded(spent.tokens));
  query.number(bounded(spent.time_ms)).number(bounded(raised.cost_pico));
  query.number(bounded(raised.tokens)).number(bounded(raised.time_ms));
  PAWL_CHECK(query.run());
  return seal_entry(database, sqlite3_last_insert_rowid(database.handle()), 1);
}

Result<std::vector<BudgetEntry>> read_entries(Connection& database, const std::string& tenant,
                                              std::int64_t since_ms) {
  std::vector<BudgetEntry> entries;
  Query query(database, "SELECT " PAWL_LEDGER_COLUMNS
                        "FROM entries WHERE tenant=? AND at_ms>? ORDER BY at_ms");
  query.text(tenant).number(since_ms);
  for (;;) {
    PAWL_TRY(const bool row, query.next());
    if (!row) return entries;
    if (query.number_at(kSumColumn) != sum_of_entry(query)) {
      return damaged_ledger("row " + std::to_string(query.number_at(0)) +
                            " of table entries does not fit its checksum");
    }
    entries.push_back({query.number_at(2),
                       {query.unsigned_at(5), query.unsigned_at(6), query.unsigned_at(7)},
                       {query.unsigned_at(8), query.unsigned_at(9), query.unsigned_at(10)}});
  }
}

// One entry for those of each stretch of `step_ms`, at the time of the latest: none leaves a window
// too early.
Status sum_up(Connection& database, const std::string& tenant, std::int64_t before_ms,
              std::int64_t step_ms, std::int64_t settled_least) {
  PAWL_TRY(const std::int64_t last, database.integer_of("SELECT max(id) FROM entries"));
  {
    Query query(database,
                "INSERT INTO entries(tenant, at_ms, run, settled, cost, tokens, time, raised_cost, "
                "raised_tokens, raised_time) SELECT tenant, max(at_ms), '', 1, sum(cost), "
                "sum(tokens), sum(time), sum(raised_cost), sum(raised_tokens), sum(raised_time) "
                "FROM entries WHERE tenant=? AND at_ms<? AND settled>=? AND id<=? GROUP BY "
                "at_ms/?");
    query.text(tenant).number(before_ms).number(settled_least).number(last).number(step_ms);
    PAWL_CHECK(query.run());
  }
  Query query(database, "DELETE FROM entries WHERE tenant=? AND at_ms<? AND settled>=? AND id<=?");
  return query.text(tenant).number(before_ms).number(settled_least).number(last).run();
}

Error behind_mark(const std::string& why) {
  return Error{ErrorCode::corrupt,
               why +
                   ", so that tenants could spend what they have spent before; nothing is spent by "
                   "it. Restore the directory from a backup (pawl restore BACKUP), or go on with "
                   "what is there (pawl doctor --accept)"};
}

// A ledger that has gone and left its mark is not made anew: tenants would have spent nothing.
Result<std::unique_ptr<Connection>> open_ledger(const std::string& directory) {
  const std::string path = directory + "/" + kLedgerName;
  if (!sqlite::is_present(path) && sqlite::is_present(directory + "/" + sqlite::kLedgerMarkName)) {
    return behind_mark(std::string(kLedgerName) + " is missing");
  }
  PAWL_CHECK(make_file(path));
  PAWL_TRY(auto database, Connection::open(path));
  database->set_busy_handler([](int asked) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kBusyStepMs));
    return asked < kLedgerBusyMsMax / kBusyStepMs;
  });
  PAWL_CHECK(use_rollback_journal(*database));
  PAWL_CHECK(database->execute("PRAGMA synchronous=FULL"));
  PAWL_CHECK(check_layout(*database, path));
  return database;
}

}  // namespace

Result<Connection*> SqliteLedger::connection() {
  if (connection_) return connection_.get();
  PAWL_TRY(LedgerMark mark, LedgerMark::open(directory_));
  PAWL_TRY(auto database, open_ledger(directory_));
  {
    PAWL_TRY(const auto transaction, Transaction::begin(*database));
    PAWL_CHECK(check_all(*database));
    // Once more: another process may have made it before this transaction began.
    PAWL_TRY(mark, LedgerMark::open(directory_));
    PAWL_TRY(const std::string why, mark.shortfall(*database));
    if (!why.empty()) return behind_mark(why);
    PAWL_TRY(const LedgerState state, sqlite::read_ledger_state(*database));
    if (state.marked == 0) PAWL_CHECK(mark.accept(*database));
    PAWL_CHECK(transaction->commit());
  }
  mark_ = std::move(mark);
  connection_ = std::move(database);
  return connection_.get();
}

// Nothing is acknowledged before the mark has it, and by a file that is still the ledger.
Status SqliteLedger::commit() {
  PAWL_TRY(const LedgerState state, sqlite::read_ledger_state(*connection_));
  PAWL_CHECK(connection_->execute("COMMIT"));
  if (connection_->is_in_place()) return mark_->raise(state);
  return Error{ErrorCode::unavailable, directory_ + "/" + kLedgerName +
                                           " was moved, deleted or replaced while it was in use"};
}

Result<BudgetGrant> SqliteLedger::reserve(const BudgetAsk& ask) {
  PAWL_TRY(Connection* const database, connection());
  PAWL_TRY(const auto transaction, Transaction::begin(*database));
  std::uint64_t longest = 0;
  for (const BudgetWindow& window : ask.windows) longest = std::max(longest, window.length_ms);
  PAWL_TRY(const auto known,
           read_entries(*database, ask.tenant, ask.now_ms - static_cast<std::int64_t>(longest)));
  BudgetGrant grant = weigh(ask, known);
  if (!grant.granted()) return grant;
  PAWL_CHECK(insert(*database, ask.tenant, ask.run, ask.now_ms, grant.reserved, {}));
  PAWL_TRY(const std::int64_t id, database->integer_of("SELECT last_insert_rowid()"));
  grant.id = static_cast<std::uint64_t>(id);
  if (grant.id % kLedgerTidyEvery == 0) PAWL_CHECK(tidy(*database, ask.tenant, ask.now_ms));
  PAWL_CHECK(commit());
  return grant;
}

Status SqliteLedger::settle(std::uint64_t grant, const BudgetAmount& spent) {
  PAWL_TRY(Connection* const database, connection());
  PAWL_TRY(const auto transaction, Transaction::begin(*database));
  {
    Query query(*database,
                "UPDATE entries SET cost=?, tokens=?, time=?, settled=1 WHERE id=? AND settled=0");
    query.number(bounded(spent.cost_pico)).number(bounded(spent.tokens));
    PAWL_CHECK(query.number(bounded(spent.time_ms)).number(grant).run());
  }
  if (sqlite3_changes(database->handle()) > 0) {
    PAWL_CHECK(seal_entry(*database, static_cast<std::int64_t>(grant), 0));
  }
  return commit();
}

Status SqliteLedger::raise(const std::string& tenant, const BudgetAmount& by, std::int64_t now_ms) {
  if (by == BudgetAmount{}) return Error{ErrorCode::invalid_argument, "raise it by something"};
  PAWL_TRY(Connection* const database, connection());
  PAWL_TRY(const auto transaction, Transaction::begin(*database));
  PAWL_CHECK(insert(*database, tenant, "", now_ms, {}, by));
  return commit();
}

Result<std::vector<BudgetEntry>> SqliteLedger::entries(const std::string& tenant,
                                                       std::int64_t now_ms) {
  PAWL_TRY(Connection* const database, connection());
  return read_entries(*database, tenant, now_ms - static_cast<std::int64_t>(kBudgetWindowMaxMs));
}

Status SqliteLedger::tidy(Connection& database, const std::string& tenant, std::int64_t now_ms) {
  constexpr std::int64_t kMinuteMs = 60'000;
  constexpr std::int64_t kHourMs = 3'600'000;
  const auto longest = static_cast<std::int64_t>(kBudgetWindowMaxMs);
  {
    Query query(database, "DELETE FROM entries WHERE tenant=? AND at_ms<=?");
    PAWL_CHECK(query.text(tenant).number(now_ms - longest).run());
  }
  PAWL_CHECK(sum_up(database, tenant, now_ms - kLedgerMinutesMs, kHourMs, 0));
  PAWL_CHECK(sum_up(database, tenant, now_ms - kLedgerWholeMs, kMinuteMs, 1));
  return reseal(database);
}

Result<std::string> accept_ledger(const std::string& directory) {
  const std::string path = directory + "/" + kLedgerName;
  const std::string mark_path = directory + "/" + sqlite::kLedgerMarkName;
  if (!sqlite::is_present(path)) {
    if (::unlink(mark_path.c_str()) != 0) return std::string();
    PAWL_CHECK(sqlite::sync_directory(directory));
    return std::string(kLedgerName) + " is missing";
  }
  PAWL_TRY(auto database, open_ledger(directory));
  PAWL_TRY(const auto transaction, Transaction::begin(*database));
  PAWL_CHECK(check_all(*database));
  PAWL_TRY(LedgerMark mark, LedgerMark::open(directory));
  PAWL_TRY(std::string why, mark.shortfall(*database));
  if (!why.empty()) PAWL_CHECK(mark.accept(*database));
  PAWL_CHECK(transaction->commit());
  return why;
}

Result<std::string> examine_ledger(const std::string& directory) {
  const std::string path = directory + "/" + kLedgerName;
  PAWL_TRY(const LedgerMark mark, LedgerMark::open(directory));
  if (!sqlite::is_present(path)) {
    const bool lost = sqlite::is_present(directory + "/" + sqlite::kLedgerMarkName);
    return std::string(lost ? "budget.db is missing" : "");
  }
  PAWL_TRY(const auto database, Connection::open_to_read(path, Connection::Log::included));
  sqlite3_busy_timeout(database->handle(), static_cast<int>(kLedgerBusyMsMax));
  PAWL_TRY(const Layout layout, layout_of(*database));
  if (layout.is_nothing()) return std::string();
  if (!layout.is_ours()) return std::string("budget.db is no ledger that this version reads");
  if (const Status whole = check_all(*database); !whole) return whole.error().message;
  return mark.shortfall(*database);
}

Status separate_ledger(const std::string& path) {
  PAWL_TRY(const auto database, Connection::open(path));
  // An empty file, say: its process was killed before it could make the ledger.
  PAWL_TRY(const Layout layout, layout_of(*database));
  if (!layout.is_ours()) return ok();
  return Query(*database, "UPDATE totals SET id=?, marked=0")
      .number(sqlite::random_store_id())
      .run();
}

}  // namespace pawl
