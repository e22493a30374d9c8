#include "pawl/adapter/backend/command/hunt.h"

#include <doctest/doctest.h>

#include <map>

namespace pawl::tool_command {
namespace {

using Life = ProcessStat::Life;

constexpr pid_t kRoot = 2;
constexpr pid_t kFirstNumber = 1'000;
constexpr pid_t kNumberAfterWrap = 300;

struct Habits {
  int lines = 1;              // processes that fork and exit at once, each followed by its child
  int glances_a_birth = 4;    // of all lines together
  int glances_a_look = 500;   // at the marks of all
  int strangers_a_birth = 0;  // that take the numbers in between
  std::size_t dead_max = 1'000'000;  // with more of them nobody can fork
  pid_t number_max = 4'000'000;
  bool tells_newest = true;
  int head_start = 0;
  std::uint64_t time_max = 2'000'000;
};

// Processes that move while they are looked at: each glance at one takes a tick.
class Warren final : public HuntingGround {
 public:
  explicit Warren(const Habits& habits) : habits_(habits) {
    for (int line = 0; line < habits_.lines; ++line) bear(line);
    pass(habits_.head_start);
  }

  std::vector<ProcessStat> look() override {
    std::vector<ProcessStat> seen;
    // As in /proc: what is born behind the place that was reached is still met.
    for (auto at = processes_.begin(); at != processes_.end();) {
      const auto [pid, one] = *at;
      seen.push_back({pid, 1, pid, pid, one.born, one.life});
      pass(1);
      at = processes_.upper_bound(pid);
    }
    // Then all are asked for their marks, also those that are not of the family.
    pass(habits_.glances_a_look);
    return seen;
  }
  bool is_prey(pid_t pid) override {
    pass(1);
    return processes_.contains(pid);
  }
  pid_t newest_number() override {
    pass(1);
    return habits_.tells_newest ? newest_ : 0;
  }

  void kill_group() override { pass(1); }
  void stop(const ProcessStat& process) override {
    const auto found = find(process);
    if (found != processes_.end()) found->second.stopped = true;
    pass(1);
  }
  void kill(const std::vector<ProcessStat>& processes) override {
    for (const ProcessStat& process : processes) {
      if (find(process) != processes_.end()) kill_number(process.pid);
    }
  }
  void kill_number(pid_t pid) override {
    processes_.at(pid).life = Life::ended;
    pass(1);
  }
  void reap(const ProcessStat& process) override {
    CHECK(process.pid != kRoot);
    const auto found = find(process);
    REQUIRE(found != processes_.end());
    CHECK(found->second.life == Life::ended);
    processes_.erase(found);
    pass(1);
  }
  bool is_late() override { return now_ > habits_.time_max; }

  std::size_t alive() const {
    std::size_t count = 0;
    for (const auto& [pid, one] : processes_) count += one.life == Life::running ? 1 : 0;
    return count;
  }

 private:
  struct One {
    int line = 0;
    std::uint64_t born = 0;
    Life life = Life::running;
    bool stopped = false;
  };
  using Processes = std::map<pid_t, One>;

  Processes::iterator find(const ProcessStat& process) {
    const auto found = processes_.find(process.pid);
    return found != processes_.end() && found->second.born == process.start_ticks
               ? found
               : processes_.end();
  }

  pid_t take_number() {
    do {
      newest_ = newest_ >= habits_.number_max ? kNumberAfterWrap : newest_ + 1;
    } while (processes_.contains(newest_));
    return newest_;
  }

  void bear(int line) {
    processes_[take_number()] = {line, now_, Life::running, false};
    last_of_line_[line] = newest_;
  }

  // The lines take turns, as on one processor.
  void pass(int ticks) {
    for (; ticks > 0; --ticks, ++now_) {
      if (now_ % static_cast<std::uint64_t>(habits_.glances_a_birth) == 0) go_on();
    }
  }

  void go_on() {
    for (int stranger = 0; stranger < habits_.strangers_a_birth; ++stranger) take_number();
    for (int tried = 0; tried < habits_.lines; ++tried) {
      turn_ = (turn_ + 1) % habits_.lines;
      const auto last = processes_.find(last_of_line_[turn_]);
      if (last == processes_.end() || last->second.life == Life::ended || last->second.stopped) {
        continue;
      }
      if (processes_.size() >= habits_.dead_max) {
        take_number();  // the kernel fails only after it has taken one
        return;
      }
      last->second.life = Life::ended;
      bear(turn_);
      return;
    }
  }

  Habits habits_;
  Processes processes_;
  std::map<int, pid_t> last_of_line_;
  pid_t newest_ = kFirstNumber;
  std::uint64_t now_ = 1;
  int turn_ = 0;
};

void check_all_killed(const Habits& habits) {
  Warren warren(habits);

  CHECK(hunt_down(kRoot, warren).empty());

  CHECK_FALSE(warren.is_late());
  CHECK(warren.alive() == 0);
}

TEST_CASE("a process that moves on between any look and its signal is killed at its birth") {
  check_all_killed({});
}

TEST_CASE("so are many, and among strangers who take most of the numbers") {
  check_all_killed({.lines = 16});
  check_all_killed({.lines = 4, .glances_a_birth = 8, .strangers_a_birth = 3});
}

TEST_CASE("numbers that begin anew are followed") {
  check_all_killed({.lines = 3, .number_max = kFirstNumber + 50});
}

TEST_CASE("a look that took too long is made up for by the newest number") {
  check_all_killed({.glances_a_look = 20'000});
}

TEST_CASE("where nobody knows the newest number the dead lead to the living") {
  check_all_killed({.tells_newest = false});
}

TEST_CASE("the living are stopped before the dead make room for their children") {
  check_all_killed({.lines = 16,
                    .glances_a_look = 5'000,
                    .dead_max = 200,
                    .tells_newest = false,
                    .head_start = 5'000});
}

TEST_CASE("when the time is over nobody is left standing still for ever") {
  Warren warren({.lines = 3, .glances_a_birth = 1'000'000, .time_max = 0});

  CHECK(hunt_down(kRoot, warren).size() == 3);

  CHECK(warren.alive() == 0);
}

}  // namespace
}  // namespace pawl::tool_command
