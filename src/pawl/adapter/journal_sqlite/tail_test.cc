#include "pawl/adapter/journal_sqlite/tail.h"

#include <doctest/doctest.h>

namespace pawl::sqlite {

TEST_CASE("a tail knows the rows of each run, and forgets them") {
  Tail tail;
  tail.add(1, 0, 10);
  tail.add(2, 5, 11);
  tail.add(1, 1, 12);

  CHECK(tail.size() == 3);
  CHECK(tail.last_row() == 12);
  CHECK(tail.last_of(1) == 1);
  CHECK(tail.last_of(2) == 5);
  CHECK_FALSE(tail.last_of(3));
  CHECK(*tail.places_of(1) == Tail::Places{{0, 10}, {1, 12}});
  tail.drop_all(12);
  CHECK(tail.size() == 0);
  CHECK(tail.last_row() == 12);
  tail.add(1, 2, 13);
  tail.forget();
  CHECK(tail.size() == 0);
  CHECK(tail.last_row() == 0);
  CHECK(tail.places_of(1) == nullptr);
}

}  // namespace pawl::sqlite
