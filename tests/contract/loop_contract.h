// The contract of pawl/loop.h and port/main_loop.h as a test: each loop's own
// *_test.cc calls check_loop_contract<TheLoop>().
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pawl/port/main_loop.h"

namespace pawl::contract {

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
inline void run_a_while(MainLoop& loop) {
  bool over = false;
  const auto timer = loop.after(20, [&] { over = true; });
  loop.run_until([&] { return over; });
}

template <class Subject>
void check_posting() {
  Subject loop;
  std::vector<int> order;
  loop.post([&] { order.push_back(1); });
  std::thread other([&] { loop.post([&] { order.push_back(2); }); });
  other.join();

  loop.run_until([&] { return order.size() == 2; });

  CHECK(order == std::vector{1, 2});
}

template <class Subject>
void check_timers() {
  Subject loop;
  int fired = 0;
  const std::int64_t start = loop.monotonic_ms();
  const auto kept = loop.after(5, [&] { ++fired; });
  auto dropped = loop.after(1, [&] { fired += 100; });
  dropped.reset();

  loop.run_until([&] { return fired > 0; });

  CHECK(fired == 1);
  CHECK(loop.monotonic_ms() - start >= 4);
}

// sc-T05.
template <class Subject>
void check_many_timers() {
  constexpr int kTimers = 200'000;  // a cost that grows with their number squared would not end
  Subject loop;
  int fired = 0;
  int fired_when_posted = -1;
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < kTimers; ++i) timers.push_back(loop.after(0, [&] { ++fired; }));
  timers.push_back(loop.after(0, [&] { loop.post([&] { fired_when_posted = fired; }); }));
  for (int i = 0; i < kTimers; i += 2) timers[static_cast<std::size_t>(i)].reset();
  loop.run_until([&] { return fired_when_posted >= 0 && fired >= kTimers / 2; });
  CHECK(fired == kTimers / 2);
}

template <class Subject>
void check_readiness() {
  Subject loop;
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

// A read by whoever was told too early must not stop the loop.
template <class Subject>
void check_nothing_blocks() {
  Subject loop;
  const SocketPair pair;
  REQUIRE((::fcntl(pair.end[0], F_GETFL) & O_NONBLOCK) == 0);
  const auto watch = loop.watch(pair.end[0], Interest::read, [](Interest) {});
  CHECK((::fcntl(pair.end[0], F_GETFL) & O_NONBLOCK) != 0);
}

template <class Subject>
void check_both_directions() {
  Subject loop;
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

template <class Subject>
void check_watch_that_goes() {
  Subject loop;
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

template <class Subject>
void check_watches_in_turn() {
  Subject loop;
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

template <class Subject>
void check_end_of_stream() {
  Subject loop;
  SocketPair pair;
  bool called = false;
  const auto watch = loop.watch(pair.end[0], Interest::read, [&](Interest) { called = true; });
  ::close(std::exchange(pair.end[1], -1));

  loop.run_until([&] { return called; });
}

template <class Subject>
void check_unfit_descriptor() {
  Subject loop;
  int called = 0;
  const auto watch = loop.watch(-1, Interest::read, [&](Interest) { ++called; });
  CHECK(called == 0);

  loop.run_until([&] { return called > 0; });
  run_a_while(loop);

  CHECK(called == 1);
}

template <class Subject>
void check_signals() {
  Subject loop;
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

template <class Subject>
void check_signals_that_go() {
  Subject loop;
  std::unique_ptr<MainLoop::Signals> watch;
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

template <class Subject>
void check_changing_interest() {
  Subject loop;
  SocketPair pair;
  int readable = 0;
  int writable = 0;
  const auto watch = loop.watch(pair.end[0], Interest::none, [&](Interest which) {
    if (which == Interest::write) ++writable;
    if (which != Interest::read) return;
    ++readable;
    pair.hear_one();
  });
  pair.say("a");
  run_a_while(loop);
  CHECK(readable == 0);
  CHECK(writable == 0);

  watch->want(Interest::read);
  loop.run_until([&] { return readable == 1; });
  CHECK(writable == 0);

  watch->want(Interest::both);
  loop.run_until([&] { return writable > 0; });
  watch->want(Interest::none);
  const int told = writable;
  pair.say("b");
  run_a_while(loop);
  CHECK(readable == 1);
  CHECK(writable == told);

  ::close(std::exchange(pair.end[1], -1));  // nobody wants to know now
  run_a_while(loop);
  CHECK(readable == 1);
  watch->want(Interest::read);
  loop.run_until([&] { return readable == 2; });
}

// A descriptor of the same number as one before, whose watch has gone, is another.
template <class Subject>
void check_number_used_again() {
  Subject loop;
  for (int round = 0; round < 3; ++round) {
    const SocketPair pair;
    int called = 0;
    const auto watch = loop.watch(pair.end[0], Interest::read, [&](Interest) {
      ++called;
      pair.hear_one();
    });
    pair.say("a");
    loop.run_until([&] { return called == 1; });
  }
}

template <class Subject>
void check_posting_while_it_sleeps() {
  Subject loop;
  int ran = 0;
  std::thread other([&] {
    for (int i = 0; i < 2'000; ++i) {
      loop.post([&] { ++ran; });
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  loop.run_until([&] { return ran == 2'000; });
  other.join();
  CHECK(ran == 2'000);
}

template <class Subject>
void check_what_is_thrown() {
  Subject loop;
  int ran = 0;
  loop.post([] { throw std::runtime_error("of the work"); });
  loop.post([&] { ++ran; });
  CHECK_THROWS_WITH(loop.run_until([&] { return ran == 1; }), "of the work");
  loop.run_until([&] { return ran == 1; });  // it goes on behind it
}

// Work that always posts more does not keep timers and descriptors from their turn.
template <class Subject>
void check_turns() {
  Subject loop;
  const SocketPair pair;
  bool heard = false;
  bool due = false;
  std::function<void()> again = [&] { loop.post(again); };
  loop.post(again);
  const auto watch = loop.watch(pair.end[0], Interest::read, [&](Interest) {
    heard = true;
    pair.hear_one();
  });
  const auto timer = loop.after(1, [&] { due = true; });
  pair.say("a");
  loop.run_until([&] { return heard && due; });
}

template <class Subject>
void check_loop_contract() {
  SUBCASE("what is posted runs in order, also when another thread posts it") {
    check_posting<Subject>();
  }
  SUBCASE("what is posted while it sleeps wakes it up") {
    check_posting_while_it_sleeps<Subject>();
  }
  SUBCASE("what work throws comes out, and the rest is not lost") {
    check_what_is_thrown<Subject>();
  }
  SUBCASE("work that always posts more leaves the others their turn") {
    check_turns<Subject>();
  }
  SUBCASE("a timer fires once, not before its time, and not at all once destroyed") {
    check_timers<Subject>();
  }
  SUBCASE("a watch calls as long as its descriptor is ready, and not before") {
    check_readiness<Subject>();
  }
  SUBCASE("what is watched does not block") {
    check_nothing_blocks<Subject>();
  }
  SUBCASE("a watch for both directions says which one is ready") {
    check_both_directions<Subject>();
  }
  SUBCASE("a watch is told what is wanted now, and nothing else") {
    check_changing_interest<Subject>();
  }
  SUBCASE("a watch that is destroyed inside its own callback calls no more") {
    check_watch_that_goes<Subject>();
  }
  SUBCASE("a watch gives its descriptor back open, and another can follow it") {
    check_watches_in_turn<Subject>();
  }
  SUBCASE("a number that is used again is another descriptor") {
    check_number_used_again<Subject>();
  }
  SUBCASE("the end of the other side is readiness") {
    check_end_of_stream<Subject>();
  }
  SUBCASE("a descriptor that cannot be watched is told of once") {
    check_unfit_descriptor<Subject>();
  }
  SUBCASE("signals are told one after the other, until the watch has gone") {
    check_signals<Subject>();
  }
  SUBCASE("a watch of signals that is destroyed inside its own callback calls no more") {
    check_signals_that_go<Subject>();
  }
}

}  // namespace pawl::contract
