// The long-lived half of tests/faults/soak: many runs that work, and many that are parked, in one
// process on a store that outlives it. It is killed, stopped and started again by the script.
//   pawl_soak DIRECTORY ACTIVE PARKED
// Every run calls a reconcilable tool in each step; what the tool did is in DIRECTORY/ledger, by
// key. Runs that are done are removed, and others take their place. A line a second says how it
// goes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "bench/meter.h"
#include "bench/workload.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/engine/engine.h"

namespace pawl::bench {
namespace {

constexpr std::uint64_t kSteps = 20;
constexpr std::int64_t kToolMs = 200;
constexpr std::uint64_t kParkedAtOnce = 500;
constexpr std::int64_t kReportMs = 1'000;

volatile std::sig_atomic_t told_to_end = 0;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print("VIOLATION {}\n", why);
  std::exit(1);
}

// Notes each key before it answers, and knows those that processes before this one noted.
class LedgerTool final : public Tool {
 public:
  LedgerTool(Loop& loop, const std::string& path)
      : loop_(loop), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    spec_.name = "work";
    spec_.effect = EffectClass::reconcilable;
    std::ifstream before(path);
    for (std::string run, key; before >> run >> key;) keys_[run].insert(key);
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    const std::string& run = invocation.run.text;
    if (!keys_[run].insert(invocation.key).second) give_up("an effect twice: " + invocation.key);
    const std::string line = run + " " + invocation.key + "\n";
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      give_up("the ledger cannot be written");
    }
    return later([done = std::move(done)] { done({ToolOutcome::Kind::succeeded, "done", 4}); });
  }
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    const bool known = keys_[invocation.run.text].contains(invocation.key);
    return later([done = std::move(done), known] {
      done({known ? ToolStatus::Kind::done : ToolStatus::Kind::absent, known ? "done" : ""});
    });
  }
  // Nobody asks about a run that is over: the memory that is watched is not to be this one's.
  void forget(const RunId& run) { keys_.erase(run.text); }

 private:
  struct Waiting final : Operation {
    std::unique_ptr<Timer> timer;
    void abort() override {}
  };
  std::unique_ptr<Operation> later(std::function<void()> answer) {
    auto waiting = std::make_unique<Waiting>();
    waiting->timer = loop_.after(kToolMs, std::move(answer));
    return waiting;
  }

  Loop& loop_;
  int file_;
  ToolSpec spec_;
  std::unordered_map<std::string, std::set<std::string>> keys_;  // of each run
};

// The model would call for ever: a run is done when it has made its steps.
bool is_done(const RunSummary& run) {
  return run.status == "stopped" && run.reason == "steps";
}

class Soak {
 public:
  Soak(const std::string& directory, std::uint64_t active, std::uint64_t wanted_parked)
      : active_(active), wanted_parked_(wanted_parked) {
    const double began = now_s();
    auto opened = SqliteJournal::open(directory, loop_);
    if (!opened) give_up(opened.error().message);
    journal_ = *std::move(opened);
    tool_ = std::make_shared<LedgerTool>(loop_, directory + "/ledger");
    agent_ = agent_with(tool_, loop_, kSteps);
    SqliteJournal& store = *journal_;
    engine_ =
        std::make_unique<Engine>(EngineOptions{loop_,
                                               {&store, &store, &store, &store, &store},
                                               {},
                                               [this](const PinnedCharter&) { return agent_; },
                                               "soak"});
    engine_->on_ended([this](const RunId& run, const Status& status) { on_ended(run, status); });
    take_up();
    fmt::print("serving after {:.2f} s: {} parked, {} taken up\n", now_s() - began, parked_,
               engine_->live());
  }

  void go() {
    while (parked_ < wanted_parked_ && told_to_end == 0) park_some();
    fmt::print("ready: {} parked\n", parked_);
    report();
    loop_.run_until([this] {
      while (engine_->live() < active_ && told_to_end == 0) start_one();
      return told_to_end != 0;
    });
  }

 private:
  // What a killed process left: runs under way go on, the parked stay where they are.
  void take_up() {
    ListQuery query;
    query.count_max = SIZE_MAX;
    const auto runs = journal_->list(query);
    if (!runs) give_up(runs.error().message);
    for (const RunSummary& run : *runs) {
      if (run.status == "waiting") {
        ++parked_;
      } else if (run.status == "running") {
        if (const Status taken = engine_->resume(run.id); !taken) give_up(taken.error().message);
      } else if (is_done(run)) {
        remove(run.id);
      } else {
        give_up("run " + run.id.text + " is " + run.status + ": " + run.reason);
      }
    }
  }
  void start_one() {
    engine_->start({agent_, "go", std::nullopt, nullptr}, [](const Result<RunId>& id) {
      if (!id) give_up(id.error().message);
    });
  }
  void park_some() {
    std::vector<RunId> ids;
    for (std::uint64_t i = 0; i < kParkedAtOnce; ++i) {
      engine_->start({agent_, "go", std::nullopt, nullptr}, [&ids](const Result<RunId>& id) {
        if (!id) give_up(id.error().message);
        ids.push_back(*id);
      });
    }
    const std::uint64_t wanted = parked_ + kParkedAtOnce;
    loop_.run_until([&] { return ids.size() == kParkedAtOnce; });
    for (const RunId& id : ids) {
      if (const Status fed = engine_->feed(id, PauseRequested{"soak"}); !fed) {
        give_up(fed.error().message);
      }
    }
    loop_.run_until([&] { return parked_ >= wanted || told_to_end != 0; });
  }
  void on_ended(const RunId& run, const Status& status) {
    if (!status) give_up("run " + run.text + ": " + status.error().message);
    const auto found = journal_->list({run.text, "", "", 1});
    if (!found || found->empty()) give_up("run " + run.text + " is not in the list");
    if (found->front().status == "waiting") {
      ++parked_;
    } else if (is_done(found->front())) {
      ++done_;
      remove(run);
    } else {
      give_up("run " + run.text + " is " + found->front().status + ": " + found->front().reason);
    }
  }
  void remove(const RunId& run) {
    tool_->forget(run);
    journal_->remove(run, [](const Status& removed) {
      if (!removed) give_up(removed.error().message);
    });
  }
  void report() {
    fmt::print("rss_kib {} live {} done {} parked {}\n", rss_kib(), engine_->live(), done_,
               parked_);
    std::fflush(stdout);
    timer_ = loop_.after(kReportMs, [this] { report(); });
  }

  const std::uint64_t active_;
  const std::uint64_t wanted_parked_;
  EpollLoop loop_;
  std::shared_ptr<LedgerTool> tool_;
  PreparedAgent agent_;
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Timer> timer_;
  std::uint64_t parked_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  using namespace pawl::bench;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc != 4) give_up("see the top of bench/soak.cc");
  std::signal(SIGTERM, [](int) { told_to_end = 1; });
  Soak soak(argv[1], std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
  soak.go();
  return 0;
}
