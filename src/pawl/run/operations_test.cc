#include "pawl/run/operations.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>

namespace pawl {
namespace {

TEST_CASE("a value held for an effect is found until it is taken") {
  InFlight<std::shared_ptr<int>> held;
  CHECK(held.find(EffectId{1}) == nullptr);
  held.put(EffectId{1}, std::make_shared<int>(10));
  held.put(EffectId{2}, std::make_shared<int>(20));
  held.put(EffectId{1}, std::make_shared<int>(11));
  held.put(EffectId{3}, nullptr);
  REQUIRE(held.find(EffectId{1}) != nullptr);
  CHECK(**held.find(EffectId{1}) == 11);
  CHECK(held.find(EffectId{3}) == nullptr);
  int sum = 0;
  held.for_each([&sum](const auto& one) { sum += *one; });
  CHECK(sum == 31);
  CHECK(*held.take(EffectId{1}) == 11);
  CHECK(held.take(EffectId{1}) == nullptr);
  CHECK(**held.find(EffectId{2}) == 20);
}

TEST_CASE("a destructor that runs in clear() finds nothing") {
  InFlight<std::unique_ptr<int, std::function<void(int*)>>> held;
  int found = 0;
  const auto look = [&](const int* one) {
    delete one;
    if (held.find(EffectId{1}) != nullptr || held.find(EffectId{2}) != nullptr) ++found;
  };
  held.put(EffectId{1}, {new int(1), look});
  held.put(EffectId{2}, {new int(2), look});
  held.clear();
  CHECK(found == 0);
}

}  // namespace
}  // namespace pawl
