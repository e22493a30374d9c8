#include "pawl/adapter/journal_sqlite/tail.h"

#include <doctest/doctest.h>

namespace pawl::sqlite {

TEST_CASE("a tail knows the rows of each run, and forgets them") {
  Tail tail;
  tail.add(1, 0, 10, 100);
  tail.add(2, 5, 11, 100);
  tail.add(1, 1, 12, 100);

  CHECK(tail.size() == 3);
  CHECK(tail.last_row() == 12);
  CHECK(tail.last_of(1) == 1);
  CHECK(tail.last_of(2) == 5);
  CHECK_FALSE(tail.last_of(3));
  CHECK(*tail.places_of(1) == Places{{0, 10}, {1, 12}});
  tail.drop_all(12);
  CHECK(tail.size() == 0);
  CHECK(tail.last_row() == 12);
  tail.add(1, 2, 13, 100);
  tail.forget();
  CHECK(tail.size() == 0);
  CHECK(tail.last_row() == 0);
  CHECK(tail.places_of(1) == nullptr);
}

TEST_CASE("places are in the order of the records, however they came") {
  Places places;
  for (const std::uint64_t seq : {4U, 7U, 2U, 5U}) {
    places.put(seq, static_cast<std::int64_t>(seq) * 10);
  }
  places.put(5, 99);

  CHECK(places == Places{{2, 20}, {4, 40}, {5, 99}, {7, 70}});
  CHECK(places.last() == Places::Place{7, 70});
  CHECK(places.contains(4));
  CHECK_FALSE(places.contains(6));
  CHECK_FALSE(places.contains(8));
  CHECK(places.from(3)->seq == 4);
  CHECK(places.from(8) == places.end());
}

TEST_CASE("how long a tail may get depends on how many runs it is of, and on their bytes") {
  const auto length_of = [](std::int64_t runs, std::size_t bytes) {
    Tail tail;
    std::int64_t row = 0;
    while (!tail.is_too_long()) {
      tail.add(row % runs, static_cast<std::uint64_t>(row), row + 1, bytes);
      ++row;
    }
    return tail.size() - 1;
  };
  CHECK(length_of(1, 100) == Tail::kRecordsMin);
  CHECK(length_of(32, 100) == 32 * Tail::kRecordsOfRun);
  CHECK(length_of(1'000, 100) == Tail::kRecordsMax);
  CHECK(length_of(1'000, 1'024) == Tail::kBytesMax / 1'024);
  CHECK(length_of(1'000, 1U << 20U) == Tail::kRecordsMin);
}

}  // namespace pawl::sqlite
