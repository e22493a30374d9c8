// Durable runs beside the same runs in memory and beside raw grouped SQLite inserts of the same
// bytes, all in one process on one file system. What is printed, and how it was on one machine:
// docs/performance.md.
//   pawl_bench_durable steps RUNS STEPS BYTES [ROUNDS]    steps/s, CPU and bytes written a step
//   pawl_bench_durable reading RUNS STEPS BYTES [ROUNDS]  with a model that reads four messages
//   pawl_bench_durable durable RUNS STEPS BYTES           the durable ones alone, for a profiler
//   pawl_bench_durable memory RUNS STEPS BYTES            the ones in memory alone, likewise
//   pawl_bench_durable growth                  size of the store by number of steps
//   pawl_bench_durable make DIR EVENTS BYTES   one run of so many events
//   pawl_bench_durable open DIR [whole]        loads the newest run, by its snapshot or all of it
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/meter.h"
#include "bench/raw_sqlite.h"
#include "bench/workload.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/engine/engine.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/temp_directory.h"

namespace pawl::bench {
namespace {

struct Load {
  std::uint64_t runs;
  std::uint64_t steps;
  std::size_t bytes;
  Model model = Model::blind;

  double all_steps() const { return static_cast<double>(runs * steps); }
};

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  std::exit(1);
}

std::unique_ptr<SqliteJournal> open_store(const std::string& directory, Loop& loop) {
  auto journal = SqliteJournal::open(directory, loop);
  if (!journal) give_up(journal.error());
  return *std::move(journal);
}

template <class AnyJournal>
Store store_of(AnyJournal& journal) {
  return {&journal, &journal, &journal, &journal};
}

// Starts all runs at once and waits for the last to end.
Cost play(EpollLoop& loop, Store store, const Load& load) {
  Engine engine({loop, store, {}, {}, "bench"});
  std::uint64_t ended = 0;
  engine.on_ended([&ended](const RunId&, const Status& status) {
    if (!status) give_up(status.error());
    ++ended;
  });
  const auto tool = make_echo_tool(loop, load.bytes);
  const PreparedAgent agent = agent_with(tool, loop, load.steps, load.model);
  const Meter meter;
  for (std::uint64_t i = 0; i < load.runs; ++i) {
    engine.start({agent, "go", std::nullopt, nullptr}, [](const Result<RunId>& run) {
      if (!run) give_up(run.error());
    });
  }
  loop.run_until([&] { return ended == load.runs; });
  return cost_since(meter, load.all_steps());
}

// The records of all runs, in the order in which runs that keep step write them.
std::vector<RawRow> rows_of(SqliteJournal& journal, const Load& load) {
  const auto runs = journal.list({"", "", "", load.runs});
  if (!runs) give_up(runs.error());
  std::vector<std::vector<StoredRecord>> records;
  std::size_t longest = 0;
  for (const RunSummary& run : *runs) {
    auto read = journal.read(run.id, 0, SIZE_MAX);
    if (!read) give_up(read.error());
    records.push_back(*std::move(read));
    longest = std::max(longest, records.back().size());
  }
  std::vector<RawRow> rows;
  for (std::size_t seq = 0; seq < longest; ++seq) {
    for (std::size_t run = 0; run < records.size(); ++run) {
      if (seq >= records[run].size()) continue;
      StoredRecord& record = records[run][seq];
      rows.push_back({static_cast<std::int64_t>(run), static_cast<std::int64_t>(seq),
                      std::move(record.bytes), std::string(record.chain.view())});
    }
  }
  return rows;
}

// What was measured of one way to write, round by round.
struct Series {
  const char* what;
  std::vector<Cost> rounds = {};

  double middle(double Cost::* figure) const {
    std::vector<double> values;
    for (const Cost& cost : rounds) values.push_back(cost.*figure);
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
};

void print_series(const Series& series, double durable) {
  const auto [least, most] = std::minmax_element(
      series.rounds.begin(), series.rounds.end(),
      [](const Cost& a, const Cost& b) { return a.steps_per_s < b.steps_per_s; });
  const double speed = series.middle(&Cost::steps_per_s);
  fmt::print("| {:20} | {:8.0f} | {:8.0f} to {:8.0f} | {:9.2f} | {:6.1f} | {:7.0f} | {:7.0f} |\n",
             series.what, speed, least->steps_per_s, most->steps_per_s, durable / speed,
             series.middle(&Cost::cpu_us), series.middle(&Cost::disk_bytes),
             series.middle(&Cost::call_bytes));
}

void print_table(const Load& load, const std::vector<RawRow>& rows,
                 const std::vector<Series>& all) {
  std::size_t bytes = 0;
  for (const RawRow& row : rows) bytes += row.bytes.size();
  fmt::print(
      "\n{} runs at once x {} steps, results of {} bytes: {} records, {:.0f} bytes a step\n\n",
      load.runs, load.steps, load.bytes, rows.size(),
      static_cast<double>(bytes) / load.all_steps());
  fmt::print("| {:20} | {:8} | {:20} | {:9} | {:6} | {:7} | {:7} |\n", "", "steps/s", "range",
             "durable /", "CPU us", "B disk", "B calls");
  fmt::print("|---|---|---|---|---|---|---|\n");
  const double durable = all.front().middle(&Cost::steps_per_s);
  for (const Series& series : all) print_series(series, durable);
}

// All ways in turn, so that what else the machine does meets all of them.
void steps(const Load& load, std::uint64_t rounds, const std::string& directory) {
  Series durable{"durable"};
  Series memory{"in memory"};
  Series raw{"raw SQLite"};
  Series unsynced{"raw SQLite, no sync"};
  std::vector<RawRow> rows;
  // Runs that keep step give the committer a record each.
  const std::size_t group = std::min<std::size_t>(load.runs, SqliteOptions{}.group_jobs_max);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::string place = directory + "/" + std::to_string(round);
    EpollLoop loop;
    {
      const auto journal = open_store(place, loop);
      durable.rounds.push_back(play(loop, store_of(*journal), load));
      if (round == 0) rows = rows_of(*journal, load);
    }
    const double all = load.all_steps();
    raw.rounds.push_back(write_raw(place + "/raw.db", rows, group, Sync::full, all));
    MemoryJournal in_memory(loop);
    memory.rounds.push_back(play(loop, store_of(in_memory), load));
    unsynced.rounds.push_back(write_raw(place + "/unsynced.db", rows, group, Sync::off, all));
  }
  print_table(load, rows, {durable, memory, raw, unsynced});
}

// Nothing but the durable runs, for a profiler.
void durable_only(const Load& load, const std::string& directory) {
  EpollLoop loop;
  const auto journal = open_store(directory, loop);
  const Cost cost = play(loop, store_of(*journal), load);
  fmt::print("{:.0f} steps/s, {:.1f} us CPU a step, {:.0f} bytes to disk a step\n",
             cost.steps_per_s, cost.cpu_us, cost.disk_bytes);
}

void memory_only(const Load& load) {
  EpollLoop loop;
  MemoryJournal journal(loop);
  const Cost cost = play(loop, store_of(journal), load);
  fmt::print("{:.0f} steps/s, {:.1f} us CPU a step\n", cost.steps_per_s, cost.cpu_us);
}

void growth(const std::string& directory) {
  constexpr std::size_t kResultBytes = 2'000;
  for (const std::uint64_t count : {100U, 200U, 400U, 800U}) {
    EpollLoop loop;
    const std::string place = directory + "/" + std::to_string(count);
    const auto journal = open_store(place, loop);
    play(loop, store_of(*journal), {1, count, kResultBytes});
    if (const Status done = journal->checkpoint(); !done) give_up(done.error());
    const auto size = std::filesystem::file_size(place + "/pawl.db");
    const auto payload = count * kResultBytes;
    fmt::print("{:4} steps x {} bytes: database {:8} bytes, {:.2f} x the payload\n", count,
               kResultBytes, size, static_cast<double>(size) / static_cast<double>(payload));
  }
}

// Left as by a crash, so that its snapshot is still there: a run that is over has none.
void make(const std::string& directory, std::uint64_t events, std::size_t bytes) {
  EpollLoop loop;
  const auto journal = open_store(directory, loop);
  const Meter meter;
  {
    Engine engine({loop, store_of(*journal), {}, {}, "bench"});
    const RunId id = make_run_id(loop.wall_ms());
    engine.start({agent_with(make_echo_tool(loop, bytes), loop, events), "go", id, nullptr},
                 [](const Result<RunId>&) {});
    loop.run_until([&] {
      const Run* run = engine.find(id);
      return run == nullptr || (*run)->length >= events;
    });
  }
  if (const Status done = journal->checkpoint(); !done) give_up(done.error());
  const auto size = std::filesystem::file_size(directory + "/pawl.db");
  fmt::print("made a run of {} events, {:.1f} MiB, in {:.1f} s, peak {} MiB\n", events,
             static_cast<double>(size) / (1U << 20U), now_s() - meter.wall, peak_kib() / 1024);
}

void load_newest(const std::string& directory, UseSnapshot use) {
  EpollLoop loop;
  const double start = now_s();
  const auto journal = open_store(directory, loop);
  const auto runs = journal->list({"", "", "", 1});
  if (!runs) give_up(runs.error());
  if (runs->empty()) give_up({ErrorCode::not_found, "no run in " + directory});
  const double opened = now_s();
  const auto loaded = load_run(*journal, runs->front().id, use);
  if (!loaded) give_up(loaded.error());
  fmt::print("{:8} events, {}: store opened in {:.1f} ms, run loaded in {:.1f} ms, peak {} MiB\n",
             loaded->run->length, use == UseSnapshot::yes ? "by its snapshot" : "from record 0  ",
             (opened - start) * 1e3, (now_s() - opened) * 1e3, peak_kib() / 1024);
}

int run(const std::vector<std::string>& args) {
  const auto text = [&args](std::size_t i) { return args.size() > i ? args[i] : std::string(); };
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return args.size() > i ? std::strtoull(args[i].c_str(), nullptr, 10) : otherwise;
  };
  constexpr std::uint64_t kRounds = 3;
  const std::string what = text(0);
  Load load{number(1, 64), number(2, 100), number(3, 200)};
  if (what == "reading") load.model = Model::reads_four_messages;
  if (what == "steps" || what == "reading") {
    steps(load, number(4, kRounds), TempDirectory().path());
  } else if (what == "durable") {
    durable_only(load, TempDirectory().path());
  } else if (what == "memory") {
    memory_only(load);
  } else if (what == "growth") {
    growth(TempDirectory().path());
  } else if (what == "make" && args.size() == 4) {
    make(text(1), number(2, 0), number(3, 0));
  } else if (what == "open" && args.size() >= 2) {
    load_newest(text(1), text(2) == "whole" ? UseSnapshot::no : UseSnapshot::yes);
  } else {
    fmt::print(stderr, "see the top of bench/durable.cc for what this takes\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  return pawl::bench::run(std::vector<std::string>(argv + 1, argv + argc));
}
