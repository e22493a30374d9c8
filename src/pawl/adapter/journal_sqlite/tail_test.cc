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
  CHECK(*tail.places_of(1) == Places{{0, 10, 100}, {1, 12, 100}});
  tail.drop_up_to(12);
  CHECK(tail.size() == 0);
  CHECK(tail.last_row() == 12);
  tail.add(1, 2, 13, 100);
  tail.forget();
  CHECK(tail.size() == 0);
  CHECK(tail.last_row() == 0);
  CHECK(tail.places_of(1) == nullptr);
}

TEST_CASE("what has its place is dropped, by rows or run by run, and no longer counts") {
  const auto tail_of = [](std::size_t bytes) {
    Tail tail;
    for (std::int64_t row = 1; row <= 6; ++row) {
      tail.add(row % 2, static_cast<std::uint64_t>(row), row, bytes);
    }
    return tail;
  };
  Tail by_rows = tail_of(100);
  by_rows.drop_up_to(5);
  CHECK(by_rows.size() == 1);
  CHECK(by_rows.places_of(1) == nullptr);
  CHECK(*by_rows.places_of(0) == Places{{6, 6, 100}});
  CHECK(by_rows.dropped_up_to() == 5);
  CHECK(by_rows.last_row() == 6);
  by_rows.drop_up_to(9);
  CHECK(by_rows.last_row() == 9);

  Tail by_runs = tail_of(100);
  by_runs.drop_first(1, 2);
  CHECK(*by_runs.places_of(1) == Places{{5, 5, 100}});
  by_runs.drop_first(1, 1);
  CHECK(by_runs.places_of(1) == nullptr);
  CHECK(by_runs.size() == 3);
  CHECK(by_runs.dropped_up_to() == 0);
}

TEST_CASE("bytes that were dropped, or are those of another record now, no longer count") {
  constexpr std::int64_t kRuns = 32;  // of which it may be long
  const auto too_long_by_a_record = [] {
    Tail tail;
    for (std::int64_t row = 1; !tail.is_too_long(); ++row) {
      tail.add(row % kRuns, static_cast<std::uint64_t>(row), row, 1'024);
    }
    REQUIRE(tail.size() == Tail::kBytesMax / 1'024 + 1);
    return tail;
  };
  Tail first_dropped = too_long_by_a_record();
  first_dropped.drop_first(1, 1);
  CHECK_FALSE(first_dropped.is_too_long());
  Tail row_dropped = too_long_by_a_record();
  row_dropped.drop_up_to(1);
  CHECK_FALSE(row_dropped.is_too_long());
  Tail replaced = too_long_by_a_record();
  replaced.add(1, 1, replaced.last_row() + 1, 0);
  CHECK_FALSE(replaced.is_too_long());
  CHECK_FALSE(too_long_by_a_record().is_far_too_long());
}

TEST_CASE("places are in the order of the records, however they came") {
  Places places;
  for (const std::uint64_t seq : {4U, 7U, 2U, 5U}) {
    CHECK(places.put({seq, static_cast<std::int64_t>(seq) * 10, 3}) == 0);
  }
  CHECK(places.put({5, 99, 4}) == 3);

  CHECK(places == Places{{2, 20, 3}, {4, 40, 3}, {5, 99, 4}, {7, 70, 3}});
  CHECK(places.last() == Places::Place{7, 70, 3});
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

TEST_CASE("placing is about the rows that are there when it begins, run after run") {
  Tail tail;
  for (std::int64_t row = 1; row <= 6; ++row) {
    tail.add(row % 3, static_cast<std::uint64_t>(row), row, 1);
  }
  tail.begin_placing();
  tail.add(7, 0, 7, 1);

  REQUIRE(tail.placing);
  CHECK(tail.placing->up_to == 6);
  CHECK(tail.placing->runs == std::vector<std::int64_t>{2, 1, 0});
  tail.drop_up_to(5);  // somebody else's placing was about less
  CHECK(tail.placing);
  tail.drop_up_to(6);
  CHECK_FALSE(tail.placing);
}

}  // namespace pawl::sqlite
