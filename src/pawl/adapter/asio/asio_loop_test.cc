#include "pawl/adapter/asio/asio_loop.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pawl {
namespace {

// Two connected sockets of a test's own.
struct SocketPair {
  std::array<int, 2> end{-1, -1};

  SocketPair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, end.data()) == 0); }
  ~SocketPair() {
    for (const int fd : end) {
      if (fd >= 0) ::close(fd);
    }
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  void say(const std::string& text) const {
    REQUIRE(::write(end[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void hear_one() const {
    char byte = 0;
    REQUIRE(::read(end[0], &byte, 1) == 1);
  }
};

// Lets the loop do all that is ready now, and then some.
void run_a_while(AsioLoop& loop) {
  bool over = false;
  const auto timer = loop.after(20, [&] { over = true; });
  loop.run_until([&] { return over; });
}

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

TEST_CASE(
    "sc-T05: so many timers that are due at once all run, each once, and others get their turn") {
  constexpr int kTimers = 200'000;  // a cost that grows with their number squared would not end
  AsioLoop loop;
  int fired = 0;
  int fired_when_posted = -1;
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < kTimers; ++i) timers.push_back(loop.after(0, [&] { ++fired; }));
  timers.push_back(loop.after(0, [&] { loop.post([&] { fired_when_posted = fired; }); }));
  for (int i = 0; i < kTimers; i += 2) timers[static_cast<std::size_t>(i)].reset();
  loop.run_until([&] { return fired_when_posted >= 0 && fired >= kTimers / 2; });
  CHECK(fired == kTimers / 2);
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

TEST_CASE("a watch calls as long as its descriptor is ready, and not before") {
  AsioLoop loop;
  const SocketPair pair;
  int called = 0;
  const auto watch = loop.watch(pair.end[0], Interest::read, [&](Interest which) {
    CHECK(which == Interest::read);
    ++called;
    pair.hear_one();
  });
  run_a_while(loop);
  CHECK(called == 0);

  pair.say("abc");
  loop.run_until([&] { return called == 3; });  // a byte was left each time
  run_a_while(loop);

  CHECK(called == 3);
}

TEST_CASE("a watch for both directions says which one is ready") {
  AsioLoop loop;
  const SocketPair pair;
  int readable = 0;
  int writable = 0;
  const auto watch = loop.watch(pair.end[0], Interest::both, [&](Interest which) {
    if (which == Interest::write) ++writable;
    if (which == Interest::read && ++readable == 1) pair.hear_one();
  });
  loop.run_until([&] { return writable >= 3; });
  CHECK(readable == 0);

  pair.say("a");
  loop.run_until([&] { return readable == 1; });
}

TEST_CASE("a watch that is destroyed inside its own callback calls no more") {
  AsioLoop loop;
  const SocketPair pair;
  std::unique_ptr<SocketLoop::Watch> watch;
  int called = 0;
  watch = loop.watch(pair.end[0], Interest::both, [&](Interest) {
    ++called;
    watch.reset();
  });
  pair.say("abc");

  loop.run_until([&] { return called > 0; });
  run_a_while(loop);

  CHECK(called == 1);
}

TEST_CASE("a watch gives its descriptor back open, and another can follow it") {
  AsioLoop loop;
  const SocketPair pair;
  auto watch = loop.watch(pair.end[0], Interest::read, [](Interest) { FAIL("destroyed"); });
  pair.say("a");
  watch.reset();
  CHECK(::fcntl(pair.end[0], F_GETFD) >= 0);

  bool called = false;
  watch = loop.watch(pair.end[0], Interest::read, [&](Interest) {
    called = true;
    pair.hear_one();
  });
  loop.run_until([&] { return called; });
}

TEST_CASE("the end of the other side is readiness") {
  AsioLoop loop;
  SocketPair pair;
  bool called = false;
  const auto watch = loop.watch(pair.end[0], Interest::read, [&](Interest) { called = true; });
  ::close(std::exchange(pair.end[1], -1));

  loop.run_until([&] { return called; });
}

TEST_CASE("a descriptor that cannot be watched is told of once") {
  AsioLoop loop;
  int called = 0;
  const auto watch = loop.watch(-1, Interest::read, [&](Interest) { ++called; });
  CHECK(called == 0);

  loop.run_until([&] { return called > 0; });
  run_a_while(loop);

  CHECK(called == 1);
}

TEST_CASE("signals are told one after the other, until the watch has gone") {
  AsioLoop loop;
  std::vector<int> told;
  auto watch = loop.on_signals({SIGUSR1, SIGUSR2}, [&](int number) { told.push_back(number); });
  REQUIRE(::raise(SIGUSR1) == 0);
  loop.run_until([&] { return told.size() == 1; });
  REQUIRE(::raise(SIGUSR2) == 0);
  loop.run_until([&] { return told.size() == 2; });
  CHECK(told == std::vector{SIGUSR1, SIGUSR2});

  watch.reset();

  struct sigaction now{};
  REQUIRE(::sigaction(SIGUSR1, nullptr, &now) == 0);
  const bool is_default = now.sa_handler == SIG_DFL;
  CHECK(is_default);
}

TEST_CASE("a watch of signals that is destroyed inside its own callback calls no more") {
  AsioLoop loop;
  std::unique_ptr<SocketLoop::Watch> watch;
  int called = 0;
  watch = loop.on_signals({SIGUSR1}, [&](int) {
    ++called;
    watch.reset();
  });
  REQUIRE(::raise(SIGUSR1) == 0);
  loop.run_until([&] { return called > 0; });
  run_a_while(loop);
  CHECK(called == 1);
}

}  // namespace
}  // namespace pawl
