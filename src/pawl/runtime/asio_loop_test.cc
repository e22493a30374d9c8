#include "pawl/runtime/asio_loop.h"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>
#include <thread>
#include <vector>

namespace pawl {
namespace {

TEST_CASE("what is posted runs in order, also when another thread posts it") {
  AsioLoop loop;
  std::vector<int> order;
  loop.post([&] { order.push_back(1); });
  std::thread other([&] { loop.post([&] { order.push_back(2); }); });
  other.join();

  loop.run_until([&] { return order.size() == 2; });

  CHECK(order == std::vector{1, 2});
}

TEST_CASE("a timer fires once, not before its time, and not at all once destroyed") {
  AsioLoop loop;
  int fired = 0;
  const std::int64_t start = loop.monotonic_ms();
  const auto kept = loop.after(5, [&] { ++fired; });
  auto dropped = loop.after(1, [&] { fired += 100; });
  dropped.reset();

  loop.run_until([&] { return fired > 0; });

  CHECK(fired == 1);
  CHECK(loop.monotonic_ms() - start >= 4);
}

TEST_CASE("it runs on a host's own io_context") {
  boost::asio::io_context host;
  AsioLoop loop(host);
  bool ran = false;
  loop.post([&] { ran = true; });

  host.run();

  CHECK(ran);
  CHECK(loop.wall_ms() > 1'600'000'000'000);
}

}  // namespace
}  // namespace pawl
