#include "pawl/adapter/journal_sqlite/places.h"

#include <algorithm>
#include <span>

#include "pawl/adapter/journal_sqlite/row_sum.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kPlaced =
    "SELECT last, up_to, generation, sum FROM (SELECT coalesce(max(id), 0) AS last FROM journal) "
    "LEFT JOIN placed ON one = 1";
constexpr const char* kNewer =
    "SELECT run, seq, id, length(payload) FROM journal WHERE id > ? ORDER BY id";
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
  if (count == all.size()) placing.runs.pop_back();
  tail.drop_first(run, count);
  return count;
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

Status refresh_tail(Connection& connection) {
  Tail& tail = connection.tail();
  PAWL_TRY(const Placed placed, read_placed(connection));
  if (tail.generation != placed.generation) tail.forget();
  if (placed.up_to > tail.dropped_up_to()) tail.drop_up_to(placed.up_to);
  tail.generation = placed.generation;
  Query query(connection, kNewer);
  PAWL_TRY(bool row, query.number(tail.last_row()).next());
  while (row) {
    tail.add(query.number_at(0), query.unsigned_at(1), query.number_at(2), query.unsigned_at(3));
    PAWL_TRY(row, query.next());
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
