// What a run costs whose model speaks slowly, with everything that belongs to it: engine, journal
// on SQLite, executor, HTTP client, and somebody who reads along.
//   pawl_bench_run_streams RUNS DELTAS        fewer where there are not so many descriptors
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bench/anthropic_at.h"
#include "bench/http_server.h"
#include "bench/latency.h"
#include "bench/meter.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/engine/engine.h"
#include "tests/support/temp_directory.h"

namespace pawl::bench {
namespace {

constexpr std::uint64_t kWarmUpRuns = 200;

class Runs {
 public:
  Runs(HttpServerProcess& server, const std::string& directory) : server_(server) {
    auto opened = SqliteJournal::open(directory, loop_);
    if (!opened) give_up(opened.error().message);
    journal_ = *std::move(opened);
    agent_.charter.name = "bench";
    agent_.charter.instructions = "Speak slowly.";
    agent_.charter.model = "anthropic/claude-sonnet-4-5";
    agent_.executor = make_provider_executor(anthropic_at(server_.url("")), loop_, client_);
    SqliteJournal& store = *journal_;
    engine_ = std::make_unique<Engine>(
        EngineOptions{loop_, {&store, &store, &store, &store}, {}, {}, "bench"});
    engine_->on_ended([this](const RunId&, const Status& status) {
      if (!status) give_up(status.error().message);
      if (ended_++ == 0) deltas_before_end_ = latencies_us_.size();
    });
    subscription_ = engine_->subscribe([this](const RunEvent& event) {
      if (const auto* preview = std::get_if<Preview>(&event)) on_delta(preview->text);
    });
  }

  // Until each of them has its first delta.
  void start(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      engine_->start({agent_, "go", std::nullopt, nullptr}, [](const Result<RunId>& id) {
        if (!id) give_up(id.error().message);
      });
    }
    started_ += count;
    loop_.run_until([&] { return bytes_ == started_ * kDeltaBytes; });
    latencies_us_.clear();
  }

  void finish(std::uint64_t deltas) {
    latencies_us_.reserve(started_ * deltas);
    server_.go();
    loop_.run_until([&] { return ended_ == started_; });
    const std::uint64_t expected = started_ * (deltas + 1) * kDeltaBytes;
    if (bytes_ != expected) give_up(fmt::format("{} bytes of {} came", bytes_, expected));
  }

  void report(const Meter& meter) const { report_deltas(latencies_us_, deltas_before_end_, meter); }

 private:
  void on_delta(const std::string& text) {
    bytes_ += text.size();
    const std::int64_t sent_ns = std::strtoll(text.c_str(), nullptr, 10);
    latencies_us_.push_back(static_cast<double>(shared_clock_ns() - sent_ns) / 1e3);
  }

  HttpServerProcess& server_;
  EpollLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_);
  PreparedAgent agent_;
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<void> subscription_;
  std::vector<double> latencies_us_;
  std::size_t deltas_before_end_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ended_ = 0;
};

void measure(std::uint64_t wanted, std::uint64_t deltas) {
  const std::uint64_t count = streams_possible(wanted + kWarmUpRuns) - kWarmUpRuns;
  HttpServerProcess server({deltas});
  const TempDirectory directory;
  Runs runs(server, directory.path());
  runs.start(kWarmUpRuns);  // what the first ones need once
  const std::uint64_t before_kib = rss_kib();
  const Meter starting;
  runs.start(count);
  const double start_us = (cpu_s() - starting.cpu) / static_cast<double>(count) * 1e6;
  const double kib = static_cast<double>(rss_kib() - before_kib) / static_cast<double>(count);
  fmt::print("{} runs in the middle of a reply: {:.2f} KiB each, started with {:.1f} us of CPU\n",
             count, kib, start_us);
  const Meter meter;
  runs.finish(deltas);
  runs.report(meter);
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "see the top of bench/run_streams.cc\n");
    return 2;
  }
  pawl::bench::measure(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
  return 0;
}
