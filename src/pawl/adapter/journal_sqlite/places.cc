#include "pawl/adapter/journal_sqlite/places.h"

#include <algorithm>
#include <span>

#include "pawl/adapter/journal_sqlite/row_sum.h"
#include "pawl/kernel/codec.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kPlaced =
    "SELECT last, up_to, generation, sum FROM (SELECT coalesce(max(id), 0) AS last FROM journal) "
    "LEFT JOIN placed ON one = 1";
constexpr const char* kNewer =
    "SELECT run, seq, id, length(payload), epoch, sum FROM journal WHERE id > ? ORDER BY id";
constexpr const char* kPlaceOf = "SELECT id FROM places WHERE run = ? AND seq = ?";
constexpr const char* kLengths = "SELECT no, length FROM runs";
constexpr const char* kContent = "SELECT payload, chain FROM journal WHERE id = ?";
constexpr const char* kLast = "SELECT max(seq) FROM places WHERE run = ?";
// Placing that was broken off, by a crash or for another process, begins anew: some are there.
constexpr const char* kPlace = "INSERT OR REPLACE INTO places (run, seq, id) VALUES (?, ?, ?)";
// A statement costs as much as a row.
constexpr std::size_t kPlacedAtOnce = 8;
constexpr const char* kPlaceSome =
    "INSERT OR REPLACE INTO places (run, seq, id) VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), "
    "(?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?)";
constexpr const char* kSetPlaced =
    "INSERT OR REPLACE INTO placed (one, up_to, generation, sum) VALUES (1, ?, ?, ?)";

std::int64_t sum_of_placed(std::int64_t up_to, std::int64_t generation) {
  return RowSum("placed").number(up_to).number(generation).finish();
}

Status write_placed(Connection& connection, std::int64_t up_to, std::int64_t generation) {
  Query query(connection, kSetPlaced);
  return query.number(up_to).number(generation).number(sum_of_placed(up_to, generation)).run();
}

Status place(Connection& connection, std::int64_t run, std::span<const Places::Place> places) {
  while (!places.empty()) {
    const std::size_t count = places.size() >= kPlacedAtOnce ? kPlacedAtOnce : 1;
    Query query(connection, count == 1 ? kPlace : kPlaceSome);
    for (const Places::Place& each : places.first(count)) {
      query.number(run).number(each.seq).number(each.row);
    }
    PAWL_CHECK(query.run());
    places = places.subspan(count);
  }
  return ok();
}

// Those behind it are in the tail, so that a place that is lost is missed.
Status raise_length(Connection& connection, std::int64_t run, std::uint64_t length) {
  auto row = find_run_by_number(connection, run);
  // A run whose own row is damaged is stopped by that.
  if (!row) return row.error().code == ErrorCode::corrupt ? ok() : Status(row.error());
  if (!*row || (*row)->length >= length) return ok();
  (*row)->length = length;
  return update_run(connection, **row);
}

// A run of so many is not worth writing its pages twice.
constexpr std::size_t kPlacedTogether = 512;

// About so many of the run whose turn it is. Returns their number.
Result<std::size_t> place_of_run(Connection& connection, Placing& placing, std::size_t wanted) {
  Tail& tail = connection.tail();
  const std::int64_t run = placing.runs.back();
  const Places* const places = tail.places_of(run);
  const std::span<const Places::Place> all =
      places != nullptr ? places->all() : std::span<const Places::Place>();
  const std::size_t count = std::min(all.size(), std::max(wanted, kPlacedTogether));
  PAWL_CHECK(place(connection, run, all.first(count)));
  if (count > 0) PAWL_CHECK(raise_length(connection, run, all[count - 1].seq + 1));
  if (count == all.size()) placing.runs.pop_back();
  tail.drop_first(run, count);
  return count;
}

// Rows that are not there, of those that follow one another: nothing is deleted in the tail.
struct Missing {
  std::uint64_t rows = 0;
  std::string text;  // which they are, the first of them

  // Rows that are out of order: one is taken for another.
  void before(std::int64_t row, std::int64_t last_row) {
    const bool ahead = row > last_row;
    rows += ahead ? static_cast<std::uint64_t>(row - last_row - 1) : 1;
    if (!text.empty()) return;
    text = ahead ? "rows " + std::to_string(last_row + 1) + " to " + std::to_string(row - 1) +
                       " of table journal are gone"
                 : "row " + std::to_string(row) + " of table journal stands behind row " +
                       std::to_string(last_row);
  }
};

enum class Rows : std::uint8_t { in_a_row, with_gaps };

Result<Missing> read_newer(Connection& connection, Rows rows) {
  Tail& tail = connection.tail();
  Missing missing;
  Query query(connection, kNewer);
  PAWL_TRY(bool more, query.number(tail.last_row()).next());
  while (more) {
    const std::int64_t run = query.number_at(0);
    const std::uint64_t seq = query.unsigned_at(1);
    const std::int64_t row = query.number_at(2);
    const bool follows = rows == Rows::with_gaps || row == tail.last_row() + 1;
    if (!follows) missing.before(row, tail.last_row());
    if (row <= tail.last_row()) {
      PAWL_TRY(more, query.next());
      continue;
    }
    if (query.number_at(5) == sum_of_record(run, seq, query.unsigned_at(4))) {
      tail.add(run, seq, row, query.unsigned_at(3));
    } else {
      tail.add_damaged(row);
    }
    PAWL_TRY(more, query.next());
  }
  return missing;
}

// Records that are known to be missing from the runs that are here: those runs are stopped by that.
Result<std::uint64_t> count_holes(Connection& connection) {
  std::uint64_t holes = connection.tail().count_holes();
  Query runs(connection, kLengths);
  PAWL_TRY(bool more, runs.next());
  while (more) {
    PAWL_TRY(const std::uint64_t length, length_of(connection, runs.number_at(0)));
    if (runs.unsigned_at(1) > length) holes += runs.unsigned_at(1) - length;
    PAWL_TRY(more, runs.next());
  }
  return holes;
}

Result<Digest> chain_up_to(Connection& connection, const RunRow& row, std::uint64_t length) {
  if (length == 0) return chain_origin(row.summary.id);
  const Places* const tail = connection.tail().places_of(row.no);
  std::int64_t id = 0;
  if (tail != nullptr && tail->contains(length - 1)) {
    id = tail->from(length - 1)->row;
  } else {
    Query place(connection, kPlaceOf);
    PAWL_TRY(const bool found, place.number(row.no).number(length - 1).next());
    if (found) id = place.number_at(0);
  }
  Query content(connection, kContent);
  PAWL_TRY(const bool found, content.number(id).next());
  if (found) {
    if (const auto chain = digest_from_raw(content.blob_at(1))) return *chain;
  }
  return Error{ErrorCode::corrupt, "record " + std::to_string(length - 1) + " of run " +
                                       row.summary.id.text + " cannot be read"};
}

}  // namespace

Status insert_placed(Connection& connection) {
  return write_placed(connection, 0, 0);
}

Result<Placed> read_placed(Connection& connection) {
  Query query(connection, kPlaced);
  PAWL_TRY(const bool found, query.next());
  if (!found) return Error{ErrorCode::corrupt, "table journal of pawl.db cannot be read"};
  Placed placed{query.number_at(1), query.number_at(2), query.number_at(0), {}};
  if (query.null_at(1)) {
    placed.damage = "has lost its row";
    return placed;
  }
  // Rows beyond the end would be taken for placed when they come, and never be found again.
  if (placed.up_to < 0 || placed.up_to > placed.last_row) {
    placed.damage = "ends at row " + std::to_string(placed.up_to) + ", table journal at row " +
                    std::to_string(placed.last_row);
  } else if (query.number_at(3) != sum_of_placed(placed.up_to, placed.generation)) {
    placed.damage = "is damaged: its checksum does not fit its columns";
  }
  if (!placed.damage.empty()) placed.up_to = 0;
  return placed;
}

// Between the two looks somebody may have placed rows and deleted them.
Status refresh_tail(Connection& connection) {
  constexpr int kLooksMax = 4;
  Tail& tail = connection.tail();
  for (int look = 1;; ++look) {
    PAWL_TRY(const Placed placed, read_placed(connection));
    if (tail.generation != placed.generation) tail.forget();
    if (placed.up_to > tail.dropped_up_to()) tail.drop_up_to(placed.up_to);
    tail.generation = placed.generation;
    // Without that row it is not known where the tail begins.
    const Rows rows = placed.damage.empty() ? Rows::in_a_row : Rows::with_gaps;
    PAWL_TRY(const Missing missing, read_newer(connection, rows));
    if (missing.rows == 0) return ok();
    PAWL_TRY(const Placed now, read_placed(connection));
    const bool same = now.generation == placed.generation && now.up_to == placed.up_to;
    if (same || look == kLooksMax) {
      PAWL_TRY(const std::uint64_t holes, count_holes(connection));
      if (holes < missing.rows + tail.damaged_rows.size()) tail.gap = missing.text;
      return ok();
    }
    tail.forget();
  }
}

// Whose a damaged row is, its chain says: it continues that of its run.
Status check_none_lost(Connection& connection, const RunRow& row, std::uint64_t length) {
  const auto lost = [&row](const std::string& what) {
    return Error{ErrorCode::corrupt, "run " + row.summary.id.text + " has lost a record: " + what +
                                         "; restore the directory from a backup (pawl restore)"};
  };
  if (length < row.length) {
    return lost("it had at least " + std::to_string(row.length) + ", and " +
                std::to_string(length) + " can be found");
  }
  const Tail& tail = connection.tail();
  if (tail.damaged_rows.empty()) return ok();
  PAWL_TRY(const Digest before, chain_up_to(connection, row, length));
  for (const std::int64_t id : tail.damaged_rows) {
    Query content(connection, kContent);
    PAWL_TRY(const bool found, content.number(id).next());
    if (!found || chain_after(before, content.blob_at(0)).view() != content.blob_at(1)) continue;
    return lost("row " + std::to_string(id) + " of table journal is damaged");
  }
  return ok();
}

Status ensure_tail(Connection& connection) {
  if (connection.tail().is_current) return ok();
  PAWL_CHECK(refresh_tail(connection));
  connection.tail().is_current = true;
  return ok();
}

Result<std::uint64_t> length_of(Connection& connection, std::int64_t run) {
  if (const auto last = connection.tail().last_of(run)) return *last + 1;
  Query query(connection, kLast);
  PAWL_TRY(const bool found, query.number(run).next());
  return found && !query.null_at(0) ? query.unsigned_at(0) + 1 : std::uint64_t{0};
}

Status place_some(Connection& connection, std::size_t wanted) {
  Tail& tail = connection.tail();
  if (!tail.placing) tail.begin_placing();
  Placing& placing = *tail.placing;
  while (!placing.runs.empty() && wanted > 0) {
    PAWL_TRY(const std::size_t count, place_of_run(connection, placing, wanted));
    wanted -= std::min(count, wanted);
  }
  if (!placing.runs.empty()) return ok();
  // The next one who opens the store must see that, too.
  if (!tail.is_whole()) {
    tail.placing.reset();
    return ok();
  }
  const std::int64_t up_to = placing.up_to;
  PAWL_ASSERT(tail.generation.has_value());
  PAWL_CHECK(write_placed(connection, up_to, *tail.generation));
  tail.drop_up_to(up_to);
  return ok();
}

Status place_tail(Connection& connection) {
  Tail& tail = connection.tail();
  tail.placing.reset();  // what has come since belongs to it, too
  return tail.dropped_up_to() == tail.last_row() ? ok() : place_some(connection, tail.size());
}

Status after_deleting(Connection& connection) {
  // Of a place behind the last row that is left, everything up to that row is placed.
  const std::int64_t up_to_before = connection.tail().dropped_up_to();
  PAWL_TRY(const Placed placed, read_placed(connection));
  const std::int64_t up_to = std::min(up_to_before, placed.last_row);
  const std::int64_t generation = placed.generation;
  PAWL_CHECK(write_placed(connection, up_to, generation + 1));
  Newest& newest = connection.newest();
  newest.generation = generation + 1;
  newest.row = 0;
  newest.chain = 0;
  connection.forget();
  return ok();
}

}  // namespace pawl::sqlite
