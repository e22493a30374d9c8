#include "pawl/adapter/egress/thread_resolver.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/test_loop.h"

namespace pawl {
namespace {

// Lookups that wait until they are let go.
class Gate {
 public:
  ~Gate() { open(); }
  void wait() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --inside_;
    changed_.notify_all();
  }
  void wait_for_inside(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ == count; });
  }
  int inside() {
    const std::lock_guard lock(mutex_);
    return inside_;
  }
  // Returns when all have gone.
  void open() {
    std::unique_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return inside_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

Resolver::Answer one_address() {
  return std::vector<IpAddress>{IpAddress::v4(1, 2, 3, 4)};
}

TEST_CASE("an answer comes on the loop thread, once, and not from inside") {
  TestLoop loop(TestLoop::Clock::machine);
  const auto resolver = make_thread_resolver(loop, {}, [](const std::string& name) {
    return name == "a.test" ? one_address()
                            : Resolver::Answer(Error{ErrorCode::unavailable, "unknown"});
  });
  std::vector<Resolver::Answer> answers;
  std::vector<std::unique_ptr<Operation>> operations;
  for (int i = 0; i < 50; ++i) {
    operations.push_back(
        resolver->resolve(i % 2 == 0 ? "a.test" : "b.test",
                          [&](Resolver::Answer value) { answers.push_back(std::move(value)); }));
  }
  CHECK(answers.empty());
  REQUIRE(loop.run_until([&] { return answers.size() == 50; }));
  int good = 0;
  for (const auto& answer : answers) good += answer ? 1 : 0;
  CHECK(good == 25);
}

TEST_CASE("N22: lookups that hang hold a bounded number of threads, and nobody beyond a deadline") {
  const auto gate = std::make_shared<Gate>();
  TestLoop loop;  // its clock stands still
  ResolverOptions options;
  options.threads_max = 2;
  options.waiting_max = 3;
  options.deadline_ms = 100;
  const auto resolver = make_thread_resolver(loop, options, [gate](const std::string&) {
    gate->wait();
    return one_address();
  });
  std::vector<Resolver::Answer> answers;
  std::vector<std::unique_ptr<Operation>> operations;
  const auto ask = [&] {
    operations.push_back(resolver->resolve(
        "slow.test", [&](Resolver::Answer value) { answers.push_back(std::move(value)); }));
  };
  ask();
  ask();
  gate->wait_for_inside(2);
  for (int i = 0; i < 4; ++i) ask();  // three wait, one is too many
  loop.advance(0);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].error().code == ErrorCode::limit_exceeded);
  CHECK(gate->inside() == 2);
  loop.advance(100);
  REQUIRE(answers.size() == 6);
  CHECK(answers[5].error().code == ErrorCode::unavailable);
  CHECK(answers[5].error().message.find("in time") != std::string::npos);
  gate->open();
  loop.run_until([] { return false; }, 20);
  CHECK(answers.size() == 6);  // what comes too late is dropped
}

TEST_CASE("abort answers at once; destruction of operation and resolver waits for no lookup") {
  const auto gate = std::make_shared<Gate>();
  TestLoop loop;
  std::optional<Resolver::Answer> answer;
  bool dropped_answered = false;
  {
    const auto resolver = make_thread_resolver(loop, {}, [gate](const std::string&) {
      gate->wait();
      return one_address();
    });
    const auto aborted =
        resolver->resolve("a.test", [&](Resolver::Answer value) { answer = std::move(value); });
    auto dropped =
        resolver->resolve("b.test", [&](const Resolver::Answer&) { dropped_answered = true; });
    gate->wait_for_inside(2);
    aborted->abort();
    CHECK(!answer);
    loop.advance(0);
    REQUIRE(answer);
    CHECK(answer->error().code == ErrorCode::cancelled);
    dropped.reset();
  }
  CHECK(gate->inside() == 2);  // still: nobody waited for them
  gate->open();
  loop.run_until([] { return false; }, 20);
  CHECK(!dropped_answered);
}

TEST_CASE("the system's own lookup reads addresses") {
  const auto answer = look_up_by_system("127.0.0.1");
  REQUIRE(answer);
  REQUIRE(!answer->empty());
  CHECK(answer->front() == IpAddress::v4(127, 0, 0, 1));
}

}  // namespace
}  // namespace pawl
