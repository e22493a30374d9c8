#include "pawl/adapter/journal_sqlite/places.h"

#include <algorithm>
#include <vector>

namespace pawl::sqlite {
namespace {

constexpr const char* kPlaced =
    "SELECT up_to, generation, (SELECT coalesce(max(id), 0) FROM journal) FROM placed";
constexpr const char* kNewer =
    "SELECT run, seq, id, length(payload) FROM journal WHERE id > ? ORDER BY id";
constexpr const char* kLast = "SELECT max(seq) FROM places WHERE run = ?";
constexpr const char* kPlace = "INSERT INTO places (run, seq, id) VALUES (?, ?, ?)";
// A statement costs as much as a row.
constexpr std::size_t kPlacedAtOnce = 8;
constexpr const char* kPlaceSome =
    "INSERT INTO places (run, seq, id) VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), "
    "(?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?)";
constexpr const char* kSetPlaced = "UPDATE placed SET up_to = ?";
constexpr const char* kDeleted =
    "UPDATE placed SET generation = generation + 1, "
    "up_to = min(up_to, (SELECT coalesce(max(id), 0) FROM journal))";

struct Placed {
  std::int64_t up_to = 0;
  std::int64_t generation = 0;
};

Result<Placed> read_placed(Connection& connection) {
  Query query(connection, kPlaced);
  PAWL_TRY(const bool found, query.next());
  // Rows beyond the end would be taken for placed when they come, and never be found again.
  const bool whole = found && query.number_at(0) >= 0 && query.number_at(0) <= query.number_at(2);
  if (!whole) {
    return Error{ErrorCode::corrupt,
                 "table placed of pawl.db " +
                     (found ? "ends at row " + std::to_string(query.number_at(0)) +
                                  ", table journal at row " + std::to_string(query.number_at(2))
                            : std::string("has lost its row")) +
                     "; restore the directory from a backup"};
  }
  return Placed{query.number_at(0), query.number_at(1)};
}

Status place_run(Connection& connection, std::int64_t run, const Places& places) {
  auto place = places.begin();
  for (std::size_t left = places.size(); left > 0;) {
    const std::size_t count = left >= kPlacedAtOnce ? kPlacedAtOnce : 1;
    Query query(connection, count == 1 ? kPlace : kPlaceSome);
    for (std::size_t i = 0; i < count; ++i, ++place) {
      query.number(run).number(place->seq).number(place->row);
    }
    PAWL_CHECK(query.run());
    left -= count;
  }
  return ok();
}

}  // namespace

Status refresh_tail(Connection& connection) {
  Tail& tail = connection.tail();
  PAWL_TRY(const Placed placed, read_placed(connection));
  // What is placed is dropped all at once, by reading the rest anew: it is short then.
  const bool placed_since = tail.size() > 0 && placed.up_to >= tail.last_row();
  if (tail.generation != placed.generation || placed_since) tail.forget();
  if (tail.size() == 0) tail.drop_all(std::max(placed.up_to, tail.last_row()));
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

Status place_tail(Connection& connection) {
  Tail& tail = connection.tail();
  if (tail.size() == 0) return ok();
  std::vector<std::int64_t> runs;
  for (const auto& [run, places] : tail.runs()) runs.push_back(run);
  std::sort(runs.begin(), runs.end());  // neighbours in the tree one after the other
  for (const std::int64_t run : runs) PAWL_CHECK(place_run(connection, run, *tail.places_of(run)));
  const std::int64_t up_to = tail.last_row();
  PAWL_CHECK(Query(connection, kSetPlaced).number(up_to).run());
  tail.drop_all(up_to);
  return ok();
}

Status after_deleting(Connection& connection) {
  PAWL_CHECK(Query(connection, kDeleted).run());
  connection.forget();
  return ok();
}

}  // namespace pawl::sqlite
