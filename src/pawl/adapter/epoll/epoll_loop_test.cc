#include "pawl/adapter/epoll/epoll_loop.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/contract/loop_contract.h"

namespace pawl {
namespace {

TEST_CASE("the loop on epoll keeps the contract of loops") {
  contract::check_loop_contract<EpollLoop>();
}

TEST_CASE(
    "sc-T05: so many timers that are due at once all run, each once, and others get their turn") {
  contract::check_many_timers<EpollLoop>();
}

TEST_CASE("a signal goes to who asked last, and then to who asked before") {
  EpollLoop loop;
  int first = 0;
  int second = 0;
  const auto outer = loop.on_signals({SIGUSR1}, [&](int) { ++first; });
  auto inner = loop.on_signals({SIGUSR1, SIGUSR2}, [&](int) { ++second; });
  REQUIRE(::raise(SIGUSR1) == 0);
  loop.run_until([&] { return second == 1; });
  inner.reset();
  REQUIRE(::raise(SIGUSR1) == 0);
  loop.run_until([&] { return first == 1; });
  CHECK(second == 1);
}

TEST_CASE("more descriptors than are looked at together are all told") {
  EpollLoop loop;
  constexpr std::size_t kPairs = 200;
  const std::vector<contract::SocketPair> pairs(kPairs);
  std::set<std::size_t> told;
  std::vector<std::unique_ptr<SocketLoop::Watch>> watches;
  for (std::size_t i = 0; i < kPairs; ++i) {
    pairs[i].say("a");
    watches.push_back(loop.watch(pairs[i].end[0], Interest::read, [&, i](Interest) {
      pairs[i].hear_one();
      told.insert(i);
    }));
  }
  loop.run_until([&] { return told.size() == kPairs; });
}

}  // namespace
}  // namespace pawl
