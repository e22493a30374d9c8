#include "pawl/adapter/host/sensitive_places.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace pawl {

TEST_CASE("this machine's own homes are known") {
  const SensitivePlaces places = sensitive_places();
  CHECK(std::ranges::find(places.homes, "/root") != places.homes.end());
  CHECK(std::ranges::find(places.homes, "/") == places.homes.end());
}

}  // namespace pawl
