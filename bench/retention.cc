// The parts of tests/faults/retention that need the store itself.
//   pawl_bench_retention make DIR EVENTS   runs of a thousand events each, until there are so many
//   pawl_bench_retention write DIR         one small append after the other until standard input
//                                          ends; then a line of JSON about how long they took
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/latency.h"
#include "bench/workload.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/engine/engine.h"

namespace pawl::bench {
namespace {

constexpr std::uint64_t kStepsOfRun = 499;  // with start and end a thousand events
constexpr std::uint64_t kEventsOfRun = 1'000;
constexpr std::uint64_t kRunsAtOnce = 64;
constexpr std::size_t kResultBytes = 200;
constexpr int kBetweenAppendsMs = 5;
constexpr double kPauseMsMax = 250;

std::unique_ptr<SqliteJournal> open_store(const std::string& directory, Loop& loop) {
  auto journal = SqliteJournal::open(directory, loop);
  if (!journal) give_up(journal.error().message);
  return *std::move(journal);
}

void make(const std::string& directory, std::uint64_t events) {
  EpollLoop loop;
  const auto store = open_store(directory, loop);
  Engine engine({loop, {store.get(), store.get(), store.get(), store.get()}, {}, {}, "bench"});
  const std::uint64_t runs = events / kEventsOfRun;
  std::uint64_t started = 0;
  std::uint64_t ended = 0;
  const PreparedAgent agent = agent_with(make_echo_tool(loop, kResultBytes), loop, kStepsOfRun);
  const auto start = [&] {
    if (started == runs) return;
    ++started;
    engine.start({agent, "go", std::nullopt, nullptr}, [](const Result<RunId>& id) {
      if (!id) give_up(id.error().message);
    });
  };
  engine.on_ended([&](const RunId&, const Status& status) {
    if (!status) give_up(status.error().message);
    ++ended;
    loop.post(start);
  });
  const Meter meter;
  while (started < std::min(runs, kRunsAtOnce)) start();
  loop.run_until([&] { return ended == runs; });
  fmt::print("{{\"runs\":{},\"seconds\":{:.1f}}}\n", runs, now_s() - meter.wall);
}

bool input_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, kBetweenAppendsMs) > 0;
}

// A run of somebody else's, as far as the store can tell.
class Writer {
 public:
  explicit Writer(const std::string& directory) : store_(open_store(directory, loop_)) {
    auto lease = store_->acquire(run_);
    if (!lease) give_up(lease.error().message);
    lease_ = *std::move(lease);
  }

  double append_ms() {
    Append append;
    append.run = run_;
    append.epoch = lease_.epoch;
    append.seq = lease_.length++;
    append.bytes = std::string(kResultBytes, 'w');
    append.chain = sha256(append.bytes);
    if (append.seq == 0) {
      append.summary = RunSummary{run_, "default", "writer", "running", "", 1, 1, 0};
    }
    std::optional<Status> done;
    const double began = now_s();
    store_->append(std::move(append), [&](Status status) { done = std::move(status); });
    loop_.run_until([&] { return done.has_value(); });
    if (!*done) give_up(done->error().message);
    return (now_s() - began) * 1e3;
  }

 private:
  RunId run_{"writer"};
  EpollLoop loop_;
  std::unique_ptr<SqliteJournal> store_;
  RunLease lease_;
};

void write(const std::string& directory) {
  Writer writer(directory);
  std::vector<double> took_ms;
  std::uint64_t paused = 0;
  while (!input_ended()) {
    took_ms.push_back(writer.append_ms());
    if (took_ms.back() > kPauseMsMax) ++paused;
  }
  fmt::print(
      "{{\"commits\":{},\"p50_ms\":{:.2f},\"p99_ms\":{:.2f},\"longest_ms\":{:.1f},\"paused\":{}}}"
      "\n",
      took_ms.size(), quantile(took_ms, 0.5), quantile(took_ms, 0.99), quantile(took_ms, 1),
      paused);
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "make") {
    make(words[1], std::strtoull(words[2].c_str(), nullptr, 10));
  } else if (words.size() == 2 && words[0] == "write") {
    write(words[1]);
  } else {
    fmt::print(stderr, "pawl_bench_retention make DIR EVENTS | write DIR\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  return pawl::bench::run(std::vector<std::string>(argv + 1, argv + argc));
}
