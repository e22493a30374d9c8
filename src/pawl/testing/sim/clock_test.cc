#include "pawl/testing/sim/clock.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace pawl::sim {
namespace {

void run_all(SimClock& clock) {
  while (clock.step()) {
  }
}

TEST_CASE("work runs in order of time, and of posting within a millisecond") {
  SimClock clock;
  SimLoop a(clock);
  SimLoop b(clock);
  std::string seen;
  a.at(5, [&] { seen += "3"; });
  b.post([&] { seen += "1"; });
  a.post([&] { seen += "2"; });
  b.at(5, [&] { seen += "4"; });
  run_all(clock);
  CHECK(seen == "1234");
  CHECK(clock.passed_ms() == 5);
}

TEST_CASE("sc-T05: a million timers that are due at once run in their order, and one by one") {
  constexpr std::uint32_t kTimers = 1'000'000;
  SimClock clock;
  SimLoop loop(clock);
  std::vector<std::unique_ptr<Timer>> timers;
  std::uint32_t next = 0;
  std::uint32_t out_of_order = 0;
  for (std::uint32_t i = 0; i < kTimers; ++i) {
    timers.push_back(loop.after(10, [&, i] { out_of_order += next++ == i ? 0U : 1U; }));
  }
  // Whoever was in time is not made to wait for those that came later.
  bool first = false;
  timers.push_back(loop.after(9, [&] { loop.post([&] { first = next == 0; }); }));
  run_all(clock);
  CHECK(next == kTimers);
  CHECK(out_of_order == 0);
  CHECK(first);
  CHECK(clock.passed_ms() == 10);
}

TEST_CASE("a timer that is destroyed never fires") {
  SimClock clock;
  SimLoop loop(clock);
  bool fired = false;
  auto timer = loop.after(10, [&] { fired = true; });
  timer.reset();
  run_all(clock);
  CHECK_FALSE(fired);
  CHECK(clock.passed_ms() == 0);
}

TEST_CASE("the work of a loop that is gone is dropped, that of a stopped one waits") {
  SimClock clock;
  std::string seen;
  {
    SimLoop gone(clock);
    gone.post([&] { seen += "gone"; });
  }
  SimLoop stopped(clock);
  SimLoop going(clock);
  stopped.post([&] { seen += "later"; });
  going.at(3, [&] { seen += "sooner "; });
  stopped.stop();
  run_all(clock);
  stopped.go_on();
  run_all(clock);
  CHECK(seen == "sooner later");
}

TEST_CASE("a jump of the wall clock moves nothing else") {
  SimClock clock;
  SimLoop loop(clock);
  const std::int64_t wall = loop.wall_ms();
  const std::int64_t monotonic = loop.monotonic_ms();
  clock.jump_wall(-5'000);
  CHECK(loop.wall_ms() == wall - 5'000);
  CHECK(loop.monotonic_ms() == monotonic);
}

}  // namespace
}  // namespace pawl::sim
