#include "pawl/adapter/http_curl/deadline_queue.h"

#include <doctest/doctest.h>

namespace pawl::http_curl {
namespace {

struct Waiter {
  DeadlineQueue<Waiter>::Place place;
};

TEST_CASE("the earliest is due first, and stays until it asks for another time") {
  DeadlineQueue<Waiter> queue;
  Waiter early;
  Waiter late;
  queue.set(late, late.place, 20);
  queue.set(early, early.place, 10);

  CHECK(queue.earliest_ms() == 10);
  CHECK(queue.first_due(9) == nullptr);
  CHECK(queue.first_due(10) == &early);
  CHECK(queue.first_due(30) == &early);

  queue.set(early, early.place, 40);
  CHECK(queue.first_due(30) == &late);
  queue.set(late, late.place, kNeverMs);
  CHECK(queue.first_due(30) == nullptr);
  CHECK(queue.earliest_ms() == 40);
}

TEST_CASE("nobody is due when nobody waits, and the same time is no trouble") {
  DeadlineQueue<Waiter> queue;
  Waiter one;
  Waiter two;
  CHECK(queue.earliest_ms() == kNeverMs);
  queue.set(one, one.place, kNeverMs);
  CHECK(queue.first_due(kNeverMs - 1) == nullptr);

  queue.set(one, one.place, 5);
  queue.set(two, two.place, 5);
  queue.set(*queue.first_due(5), queue.first_due(5)->place, kNeverMs);
  CHECK(queue.first_due(5) != nullptr);
}

}  // namespace
}  // namespace pawl::http_curl
