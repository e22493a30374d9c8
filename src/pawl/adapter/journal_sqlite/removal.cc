#include "pawl/adapter/journal_sqlite/removal.h"

#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/ids.h"
#include "pawl/port/journal_checks.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kFind = "SELECT no FROM runs WHERE id = ?";
constexpr const char* kForget = "DELETE FROM runs WHERE no = ?";
constexpr const char* kMark = "INSERT INTO removals (run) VALUES (?)";
constexpr const char* kNext = "SELECT run FROM removals WHERE run > ? ORDER BY run LIMIT 1";
constexpr const char* kUnmark = "DELETE FROM removals WHERE run = ?";
constexpr const char* kCount = "SELECT count(*) FROM removals";

// What stands in `removals` is believed with everything a run held, so it proves itself: a page of
// another table in its place has rows, too, and their numbers are those of runs.
constexpr unsigned kSealBits = 20;

std::int64_t sealed(std::int64_t number) {
  const Digest digest = sha256("pawl-removal:" + std::to_string(number));
  std::int64_t check = 0;
  for (std::size_t i = 0; i < 3; ++i) check = check << 8 | digest.bytes[i];
  return (number << kSealBits) | (check & ((std::int64_t{1} << kSealBits) - 1));
}

constexpr const char* kOrphans =
    "SELECT run, count(*) FROM journal WHERE run NOT IN (SELECT no FROM runs UNION ALL "
    "SELECT run >> ? FROM removals) GROUP BY run LIMIT 1";

constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();

// One row at a time: rows differ in size by orders of magnitude, and the budget is in bytes too.
struct Content {
  const char* find;  // the row with its size
  const char* drop;
};
constexpr std::array<Content, 3> kContents = {{
    {"SELECT id, length(bytes) FROM blobs WHERE run = ? LIMIT 1", "DELETE FROM blobs WHERE id = ?"},
    {"SELECT run, length(state) FROM snapshots WHERE run = ?",
     "DELETE FROM snapshots WHERE run = ?"},
    {"SELECT id, length(body) FROM inbox WHERE run = ? LIMIT 1", "DELETE FROM inbox WHERE id = ?"},
}};

constexpr const char* kFindRecord =
    "SELECT places.seq, places.id, length(payload) FROM places LEFT JOIN journal ON "
    "journal.id = places.id WHERE places.run = ? ORDER BY places.seq LIMIT 1";
constexpr const char* kDropPlace = "DELETE FROM places WHERE run = ? AND seq = ?";
constexpr const char* kDropRecord = "DELETE FROM journal WHERE id = ?";

// False: there was none.
Result<bool> drop_one(Connection& connection, std::int64_t run, const Content& content,
                      Spending& spending) {
  std::int64_t row = 0;
  {
    Query find(connection, content.find);
    PAWL_TRY(const bool found, find.number(run).next());
    if (!found) return false;
    row = find.number_at(0);
    spending.row(find.unsigned_at(1));
  }
  PAWL_CHECK(Query(connection, content.drop).number(row).run());
  return true;
}

Result<bool> drop_record(Connection& connection, std::int64_t run, Spending& spending) {
  std::int64_t seq = 0;
  std::int64_t row = 0;
  {
    Query find(connection, kFindRecord);
    PAWL_TRY(const bool found, find.number(run).next());
    if (!found) return false;
    seq = find.number_at(0);
    row = find.number_at(1);
    spending.row(find.unsigned_at(2));
  }
  PAWL_CHECK(Query(connection, kDropRecord).number(row).run());
  PAWL_CHECK(Query(connection, kDropPlace).number(run).number(seq).run());
  return true;
}

// Runs that were under way together have their records on the same pages, in turns. Removed one
// after the other, they would have each of these pages written once a run.
constexpr int kRecordsInTurn = 16;

// True: nothing is left of the run. False: its turn or the budget is over.
Result<bool> drop_content(Connection& connection, std::int64_t run, Spending& spending) {
  bool record = true;
  for (int dropped = 0; record; ++dropped) {
    if (spending.is_over() || dropped == kRecordsInTurn) return false;
    PAWL_TRY(record, drop_record(connection, run, spending));
  }
  for (const Content& content : kContents) {
    bool left = true;
    while (left) {
      if (spending.is_over()) return false;
      PAWL_TRY(left, drop_one(connection, run, content, spending));
    }
  }
  PAWL_CHECK(Query(connection, kUnmark).number(sealed(run)).run());
  return true;
}

// The one after `last`, in the order of their marks.
Result<std::optional<std::int64_t>> next_removal(Connection& connection, std::int64_t last) {
  Query query(connection, kNext);
  PAWL_TRY(const bool found, query.number(last == kBeforeAll ? last : sealed(last)).next());
  if (!found) return std::optional<std::int64_t>();
  const std::int64_t stored = query.number_at(0);
  const std::int64_t number = stored >> kSealBits;
  if (stored < 0 || sealed(number) != stored) {
    return Error{ErrorCode::corrupt, "table removals has a row " + std::to_string(stored) +
                                         " that no removal wrote; nothing was deleted"};
  }
  return std::optional(number);
}

Result<std::uint64_t> pragma(Connection& connection, const char* name) {
  PAWL_TRY(const std::int64_t value, connection.integer_of(std::string("PRAGMA ") + name));
  return static_cast<std::uint64_t>(value);
}

// Adds the sizes of one table's rows, `kRowsMax` in one read.
struct Sizing {
  const char* sql;  // key, run, bytes of rows after a key, in the order of keys
};
constexpr std::int64_t kRowsMax = 20'000;
constexpr std::array<Sizing, 4> kSizings = {{
    {"SELECT id, run, length(payload) + length(chain) FROM journal WHERE id > ? ORDER BY id "
     "LIMIT ?"},
    {"SELECT id, run, length(bytes) FROM blobs WHERE id > ? ORDER BY id LIMIT ?"},
    {"SELECT run, run, length(state) FROM snapshots WHERE run > ? ORDER BY run LIMIT ?"},
    {"SELECT id, run, length(body) FROM inbox WHERE id > ? ORDER BY id LIMIT ?"},
}};
constexpr const char* kRunsInOrder = "SELECT no, id FROM runs WHERE no > ? ORDER BY no LIMIT ?";

using Sizes = std::unordered_map<std::int64_t, std::uint64_t>;

Status add_sizes(Connection& connection, const Sizing& sizing, Sizes& sizes) {
  std::int64_t key = -1;
  bool more = true;
  while (more) {
    Query query(connection, sizing.sql);
    query.number(key).number(kRowsMax);
    std::int64_t rows = 0;
    PAWL_TRY(bool row, query.next());
    for (; row; ++rows) {
      key = query.number_at(0);
      sizes[query.number_at(1)] += query.unsigned_at(2);
      PAWL_TRY(row, query.next());
    }
    more = rows == kRowsMax;
  }
  return ok();
}

}  // namespace

Result<std::int64_t> write_removal(Connection& connection, const RunId& run) {
  std::int64_t number = 0;
  {
    Query find(connection, kFind);
    PAWL_TRY(const bool found, find.text(run.text).next());
    if (!found) return no_such_run(run);
    number = find.number_at(0);
  }
  PAWL_CHECK(Query(connection, kForget).number(number).run());
  PAWL_TRY(StoreRow store, read_store(connection));
  ++store.removed;
  PAWL_CHECK(write_store(connection, store));
  connection.known_runs().forget();
  PAWL_CHECK(Query(connection, kMark).number(sealed(number)).run());
  return number;
}

Result<Swept> sweep_slice(Connection& connection, const SliceBudget& budget) {
  Swept swept;
  Spending spending(budget);
  PAWL_TRY(auto run, next_removal(connection, kBeforeAll));
  if (!run) return swept;
  // A run is found by its places alone.
  PAWL_CHECK(ensure_tail(connection));
  if (!connection.tail().is_whole()) {
    return Error{ErrorCode::corrupt,
                 "table journal is damaged, so that nothing is taken out of it; restore the "
                 "directory from a backup (pawl restore)"};
  }
  PAWL_CHECK(place_tail(connection));
  while (run) {
    PAWL_TRY(const bool finished, drop_content(connection, *run, spending));
    if (finished) swept.finished.push_back(*run);
    if (spending.is_over()) break;
    PAWL_TRY(run, next_removal(connection, *run));
    if (run) continue;
    PAWL_TRY(run, next_removal(connection, kBeforeAll));
  }
  PAWL_CHECK(after_deleting(connection));
  PAWL_TRY(const std::uint64_t left, count_removals(connection));
  swept.more = left > 0;
  return swept;
}

Result<Vacuumed> vacuum_slice(Connection& connection, const SliceBudget& budget) {
  Vacuumed vacuumed;
  const Spending spending(budget);
  PAWL_TRY(const std::uint64_t pages_before, pragma(connection, "page_count"));
  PAWL_TRY(std::uint64_t unused, pragma(connection, "freelist_count"));
  while (unused > 0 && vacuumed.pages < budget.pages_max && !spending.out_of_time()) {
    PAWL_CHECK(connection.execute("PRAGMA incremental_vacuum(8)"));
    PAWL_TRY(const std::uint64_t left, pragma(connection, "freelist_count"));
    if (left >= unused) break;  // A store that was made without it cannot give anything back.
    unused = left;
    PAWL_TRY(const std::uint64_t pages, pragma(connection, "page_count"));
    vacuumed.pages = pages_before - pages;
  }
  vacuumed.more = unused > 0 && vacuumed.pages > 0;
  return vacuumed;
}

Result<std::uint64_t> count_removals(Connection& connection) {
  Query query(connection, kCount);
  PAWL_TRY(const bool row, query.next());
  return row ? query.unsigned_at(0) : std::uint64_t{0};
}

Result<std::optional<Orphan>> find_orphan(Connection& connection) {
  Query query(connection, kOrphans);
  PAWL_TRY(const bool found, query.number(std::int64_t{kSealBits}).next());
  if (!found) return std::optional<Orphan>();
  return std::optional(Orphan{query.number_at(0), query.unsigned_at(1)});
}

Result<StoreSize> size_of_store(Connection& connection) {
  StoreSize size;
  PAWL_TRY(const std::uint64_t page_bytes, pragma(connection, "page_size"));
  PAWL_TRY(const std::uint64_t pages, pragma(connection, "page_count"));
  PAWL_TRY(const std::uint64_t unused, pragma(connection, "freelist_count"));
  size.bytes = pages * page_bytes;
  size.unused_bytes = unused * page_bytes;
  PAWL_TRY(size.removing, count_removals(connection));
  return size;
}

Result<std::vector<RunSize>> sizes_of_runs(Connection& connection) {
  Sizes sizes;
  for (const Sizing& sizing : kSizings) PAWL_CHECK(add_sizes(connection, sizing, sizes));
  std::vector<RunSize> runs;
  std::int64_t number = -1;
  bool more = true;
  while (more) {
    Query query(connection, kRunsInOrder);
    query.number(number).number(kRowsMax);
    std::int64_t rows = 0;
    PAWL_TRY(bool row, query.next());
    for (; row; ++rows) {
      number = query.number_at(0);
      const auto found = sizes.find(number);
      runs.push_back({RunId{std::string(query.text_at(1))},
                      found == sizes.end() ? std::uint64_t{0} : found->second});
      PAWL_TRY(row, query.next());
    }
    more = rows == kRowsMax;
  }
  return runs;
}

}  // namespace pawl::sqlite
