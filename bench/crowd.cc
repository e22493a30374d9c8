// What many runs cost a process: live ones that wait for a tool, and parked ones, which are in the
// store only.
//   pawl_bench_crowd live RUNS
//   pawl_bench_crowd parked RUNS
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/meter.h"
#include "bench/workload.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/engine/engine.h"
#include "tests/support/temp_directory.h"

namespace pawl::bench {
namespace {

constexpr std::uint64_t kParkedAtOnce = 1'000;
constexpr int kSamples = 21;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

// A store in a directory of its own, an engine, and an agent whose tool does not answer.
class Crowd {
 public:
  explicit Crowd(const std::string& directory) {
    auto opened = SqliteJournal::open(directory, loop_);
    if (!opened) give_up(opened.error().message);
    journal_ = *std::move(opened);
    SqliteJournal& store = *journal_;
    engine_ =
        std::make_unique<Engine>(EngineOptions{loop_,
                                               {&store, &store, &store, &store},
                                               {},
                                               [this](const PinnedCharter&) { return agent_; },
                                               "bench"});
    engine_->on_ended([this](const RunId&, const Status& status) {
      if (!status) give_up(status.error().message);
      ++ended_;
    });
  }

  // Until each of them waits for its tool.
  std::vector<RunId> start(std::uint64_t runs) {
    std::vector<RunId> ids;
    const std::uint64_t called = tool_->called() + runs;
    for (std::uint64_t i = 0; i < runs; ++i) {
      engine_->start({agent_, "go", std::nullopt, nullptr}, [&ids](const Result<RunId>& id) {
        if (!id) give_up(id.error().message);
        ids.push_back(*id);
      });
    }
    loop_.run_until([&] { return tool_->called() == called; });
    return ids;
  }

  // Until they have left memory.
  void park(const std::vector<RunId>& runs) {
    const std::uint64_t ended = ended_ + runs.size();
    for (const RunId& run : runs) {
      if (const Status fed = engine_->feed(run, PauseRequested{"bench"}); !fed) {
        give_up(fed.error().message);
      }
    }
    tool_->answer_open_calls();  // a run is parked when nothing is under way
    loop_.run_until([&] { return ended_ == ended; });
  }

  // Until its tool is called again.
  void resume(const RunId& run) {
    const std::uint64_t called = tool_->called() + 1;
    if (const Status taken = engine_->resume(run); !taken) give_up(taken.error().message);
    if (const Status fed = engine_->feed(run, ResumeRequested{"bench"}); !fed) {
      give_up(fed.error().message);
    }
    loop_.run_until([&] { return tool_->called() == called; });
  }

  std::size_t live() const { return engine_->live(); }

 private:
  EpollLoop loop_;
  std::shared_ptr<PatientTool> tool_ = std::make_shared<PatientTool>(loop_);
  PreparedAgent agent_ = agent_with(tool_, loop_, 50);
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t ended_ = 0;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kSamples / 2, values.end());
  return values[kSamples / 2];
}

void live(Crowd& crowd, std::uint64_t runs) {
  crowd.start(kParkedAtOnce);  // what the first runs need once: caches, threads
  const std::uint64_t before = rss_kib();
  crowd.start(runs);
  const std::uint64_t after = rss_kib();
  fmt::print("{} live runs, each waiting for its tool: {:.1f} MiB, {:.2f} KiB a run\n", runs,
             static_cast<double>(after - before) / 1024,
             static_cast<double>(after - before) / static_cast<double>(runs));
}

void time_one(Crowd& crowd, RunId run) {
  std::vector<double> resuming;
  std::vector<double> parking;
  for (int i = 0; i < kSamples; ++i) {
    const double start = now_s();
    crowd.resume(run);
    const double resumed = now_s();
    crowd.park({run});
    resuming.push_back((resumed - start) * 1e3);
    parking.push_back((now_s() - resumed) * 1e3);
  }
  fmt::print("one of them: resumed to its tool call in {:.2f} ms, parked in {:.2f} ms (medians)\n",
             median(resuming), median(parking));
}

// The store's caches fill up first, to a bound; what grows after that would be the runs.
void parked(Crowd& crowd, std::uint64_t runs) {
  constexpr std::uint64_t kReports = 10;
  const RunId first = crowd.start(1).front();
  crowd.park({first});
  const Meter meter;
  std::uint64_t reported = 0;
  for (std::uint64_t count = kParkedAtOnce; count <= runs; count += kParkedAtOnce) {
    crowd.park(crowd.start(kParkedAtOnce));
    if (count * kReports / runs == reported) continue;
    reported = count * kReports / runs;
    fmt::print("{:7} runs started and parked in {:5.1f} s; {} live; resident {:.1f} MiB\n", count,
               now_s() - meter.wall, crowd.live(), static_cast<double>(rss_kib()) / 1024);
  }
  time_one(crowd, first);
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  using namespace pawl::bench;
  const std::string what = argc == 3 ? argv[1] : "";
  if (what != "live" && what != "parked") give_up("see the top of bench/crowd.cc");
  const std::uint64_t runs = std::strtoull(argv[2], nullptr, 10);
  const pawl::TempDirectory place;
  Crowd crowd(place.path());
  what == "live" ? live(crowd, runs) : parked(crowd, runs);
  return 0;
}
