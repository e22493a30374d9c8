#include "pawl/adapter/epoll/timer_heap.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "pawl/base/rng.h"

namespace pawl::epoll {
namespace {

TEST_CASE("the earliest comes first, and of two at once who came first") {
  TimerHeap heap;
  TimerHeap::Member late{20, 0};
  TimerHeap::Member second{10, 2};
  TimerHeap::Member first{10, 1};
  for (TimerHeap::Member* const one : {&late, &second, &first}) heap.add(*one);
  for (TimerHeap::Member* const one : {&first, &second, &late}) {
    CHECK(heap.first() == one);
    heap.remove(*one);
  }
  CHECK(heap.first() == nullptr);
  heap.remove(late);  // has left
  CHECK(heap.first() == nullptr);
}

TEST_CASE("any of them may leave, and the order of the others stays") {
  Rng rng(7);
  TimerHeap heap;
  std::vector<std::unique_ptr<TimerHeap::Member>> inside;
  std::uint64_t came = 0;
  const auto earliest = [&] {
    return std::min_element(inside.begin(), inside.end(),
                            [](const auto& a, const auto& b) {
                              return std::pair(a->at_ns, a->number) <
                                     std::pair(b->at_ns, b->number);
                            })
        ->get();
  };
  for (int round = 0; round < 5'000; ++round) {
    if (inside.empty() || rng.below(5) < 3) {
      inside.push_back(std::make_unique<TimerHeap::Member>(
          TimerHeap::Member{static_cast<std::int64_t>(rng.below(50)), came++}));
      heap.add(*inside.back());
    } else {
      const auto at = inside.begin() + static_cast<std::ptrdiff_t>(rng.below(inside.size()));
      heap.remove(**at);
      inside.erase(at);
    }
    REQUIRE(heap.first() == (inside.empty() ? nullptr : earliest()));
  }
}

}  // namespace
}  // namespace pawl::epoll
