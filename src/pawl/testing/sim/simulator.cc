#include "pawl/testing/sim/simulator.h"

#include <algorithm>

#include "pawl/base/rng.h"

namespace pawl::sim {
namespace {

constexpr int kShrinkTriesMax = 600;

// Histories that are tried while shrinking, all told.
class Shrinker {
 public:
  explicit Shrinker(const HistoryOptions& failing) : best_(failing) {}

  HistoryOptions shrunk() {
    halve(&HistoryOptions::runs, 1);
    halve(&HistoryOptions::processes, 1);
    halve(&HistoryOptions::steps, 2);
    drop_faults();
    halve(&HistoryOptions::runs, 1);
    return best_;
  }

 private:
  bool accept(const HistoryOptions& smaller) {
    if (++tries_ > kShrinkTriesMax) return false;
    if (!run_history(smaller).violation) return false;
    best_ = smaller;
    return true;
  }

  void halve(std::uint64_t HistoryOptions::* number, std::uint64_t least) {
    while (best_.*number > least) {
      HistoryOptions smaller = best_;
      smaller.*number = std::max(least, best_.*number / 2);
      if (!accept(smaller)) return one_less(number, least);
    }
  }
  void one_less(std::uint64_t HistoryOptions::* number, std::uint64_t least) {
    HistoryOptions smaller = best_;
    while (smaller.*number > least) {
      --(smaller.*number);
      if (!accept(smaller)) return;
    }
  }

  // Leaves out ever smaller stretches of the faults that struck.
  void drop_faults() {
    std::vector<std::uint64_t> faults = run_history(best_).struck;
    for (std::size_t stretch = faults.size(); stretch > 0; stretch /= 2) {
      for (std::size_t at = 0; at < faults.size();) {
        std::vector<std::uint64_t> fewer = faults;
        const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::min(stretch, faults.size() - at);
        fewer.erase(first, first + static_cast<std::ptrdiff_t>(count));
        HistoryOptions smaller = best_;
        smaller.only_faults = fewer;
        if (accept(smaller)) {
          faults = fewer;
        } else {
          at += stretch;
        }
      }
    }
  }

  HistoryOptions best_;
  int tries_ = 0;
};

void add(SimulationReport& report, const HistoryReport& history) {
  ++report.histories;
  report.events += history.events;
  report.steps += history.steps;
  report.effects += history.effects;
  report.forks += history.forks;
  report.crashes += history.crashes;
  report.hash = Rng::mixed(report.hash ^ history.hash);
  const auto sum = [](auto& sums, const auto& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
  };
  sum(report.met.events, history.met.events);
  sum(report.met.decisions, history.met.decisions);
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    report.faults[kind] += history.faults[kind];
  }
}

}  // namespace

Failure shrink(const HistoryOptions& failing) {
  Failure failure;
  failure.as_found = failing;
  failure.faults_found = run_history(failing).struck.size();
  failure.shrunk = Shrinker(failing).shrunk();
  failure.shrunk.trace = HistoryOptions::Trace::on;
  HistoryReport report = run_history(failure.shrunk);
  failure.violation = report.violation.value_or("it does not fail twice");
  failure.trace = std::move(report.trace);
  failure.faults_left = report.struck.size();
  return failure;
}

SimulationReport simulate(const SimulationOptions& options, const KeepGoing& keep_going) {
  SimulationReport report;
  HistoryOptions history = options.history;
  for (std::uint64_t i = 0; i < options.seeds; ++i, ++history.seed) {
    if (keep_going && !keep_going(report)) return report;
    const HistoryReport played = run_history(history);
    add(report, played);
    if (!played.violation) continue;
    report.failure = shrink(history);
    return report;
  }
  return report;
}

std::string arguments_of(const HistoryOptions& options) {
  std::string text = "--seed " + std::to_string(options.seed) + " --runs " +
                     std::to_string(options.runs) + " --steps " + std::to_string(options.steps) +
                     " --processes " + std::to_string(options.processes);
  if (!options.only_faults) return text;
  text += " --faults ";
  if (options.only_faults->empty()) return text + "none";
  for (std::size_t i = 0; i < options.only_faults->size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string((*options.only_faults)[i]);
  }
  return text;
}

}  // namespace pawl::sim
