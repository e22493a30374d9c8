// What HTTP costs: many slow streams at once, and small requests beside libcurl alone.
//   pawl_bench_http streams STREAMS DELTAS        fewer where there are not so many descriptors
//   pawl_bench_http requests REQUESTS AT_ONCE ROUNDS
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/http_server.h"
#include "bench/meter.h"
#include "bench/raw_curl.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/runtime/asio_loop.h"

namespace pawl::bench {
namespace {

constexpr std::uint64_t kSpareDescriptors = 200;
constexpr std::uint64_t kWarmUpStreams = 200;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

// Raises the soft limit to the hard one.
std::uint64_t descriptors_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) give_up("no limit of descriptors");
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

// Streams that note when each delta came.
class Streams {
 public:
  explicit Streams(HttpServerProcess& server) : server_(server) {}

  // Until each of them has its first delta.
  void start(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      HttpRequest request;
      request.method = "GET";
      request.url = server_.url("/stream");
      request.headers = {{"accept", "text/event-stream"}, {"x-api-key", std::string(40, 'k')}};
      HttpHandler handler;
      handler.body = [this](std::string_view bytes) { on_bytes(bytes); };
      handler.done = [this](const HttpEnd& end) {
        if (end.failure != HttpFailure::none) give_up(end.message);
        if (ended_++ == 0) deltas_before_end_ = latencies_us_.size();
      };
      operations_.push_back(client_->start(std::move(request), std::move(handler)));
    }
    loop_.run_until([&] { return bytes_ == operations_.size() * kDeltaBytes; });
    latencies_us_.clear();
  }

  void finish(std::uint64_t deltas) {
    latencies_us_.reserve(operations_.size() * deltas);
    server_.go();
    loop_.run_until([&] { return ended_ == operations_.size(); });
    const std::uint64_t expected = operations_.size() * (deltas + 1) * kDeltaBytes;
    if (bytes_ != expected) give_up(fmt::format("{} bytes of {} came", bytes_, expected));
  }

  // Until the first stream ended, and from then on.
  std::vector<double> steady_us() const {
    return {latencies_us_.begin(), latencies_us_.begin() + before_end()};
  }
  std::vector<double> ending_us() const {
    return {latencies_us_.begin() + before_end(), latencies_us_.end()};
  }

 private:
  std::ptrdiff_t before_end() const { return static_cast<std::ptrdiff_t>(deltas_before_end_); }

  void on_bytes(std::string_view bytes) {
    bytes_ += bytes.size();
    if (!bytes.starts_with("data: ")) return;
    const std::int64_t sent_ns = std::strtoll(bytes.data() + 6, nullptr, 10);
    latencies_us_.push_back(static_cast<double>(shared_clock_ns() - sent_ns) / 1e3);
  }

  HttpServerProcess& server_;
  AsioLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_);
  std::vector<std::unique_ptr<HttpOperation>> operations_;
  std::vector<double> latencies_us_;
  std::size_t deltas_before_end_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ended_ = 0;
};

double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

void streams(std::uint64_t wanted, std::uint64_t deltas) {
  const std::uint64_t count =
      std::min(wanted, descriptors_max() - kSpareDescriptors - kWarmUpStreams);
  HttpServerProcess server({deltas});
  Streams crowd(server);
  crowd.start(kWarmUpStreams);  // what the first ones need once
  const std::uint64_t before_kib = rss_kib();
  const Meter starting;
  crowd.start(count);
  const double start_us = (cpu_s() - starting.cpu) / static_cast<double>(count) * 1e6;
  const double kib = static_cast<double>(rss_kib() - before_kib) / static_cast<double>(count);
  fmt::print("{} live streams: {:.2f} KiB each, started with {:.1f} us of CPU each\n", count, kib,
             start_us);

  const Meter meter;
  crowd.finish(deltas);
  const double cpu = cpu_s() - meter.cpu;
  std::vector<double> steady = crowd.steady_us();
  std::vector<double> ending = crowd.ending_us();
  const std::size_t came = steady.size() + ending.size();
  fmt::print("{} deltas in {:.1f} s, none lost: {:.1f} us of CPU each\n", came,
             now_s() - meter.wall, cpu / static_cast<double>(came) * 1e6);
  fmt::print(
      "latency p50 {:.0f} us, p99 {:.0f} us; while streams end p50 {:.0f} us, p99 {:.0f} us\n",
      quantile(steady, 0.5), quantile(steady, 0.99), quantile(ending, 0.5), quantile(ending, 0.99));
}

// Keeps `at_once` requests under way until all have ended.
class Requests {
 public:
  Requests(std::string url, std::string body) : url_(std::move(url)), body_(std::move(body)) {}

  void run(std::uint64_t requests, std::size_t at_once) {
    operations_.resize(at_once);
    left_ = requests;
    ended_ = 0;
    for (std::size_t slot = 0; slot < at_once && left_ > 0; ++slot) start(slot);
    loop_.run_until([&] { return ended_ == requests; });
  }

 private:
  void start(std::size_t slot) {
    --left_;
    HttpRequest request;
    request.url = url_;
    request.headers = {{"content-type", "application/json"}};
    request.body = body_;
    HttpHandler handler;
    handler.body = [this](std::string_view bytes) { bytes_ += bytes.size(); };
    handler.done = [this, slot](const HttpEnd& end) {
      if (end.failure != HttpFailure::none) give_up(end.message);
      ++ended_;
      if (left_ > 0) start(slot);
    };
    operations_[slot] = client_->start(std::move(request), std::move(handler));
  }

  const std::string url_;
  const std::string body_;
  AsioLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_);
  std::vector<std::unique_ptr<HttpOperation>> operations_;
  std::uint64_t left_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t bytes_ = 0;
};

double cpu_us_of(std::uint64_t requests, const std::function<void()>& work) {
  const double before = cpu_s();
  work();
  return (cpu_s() - before) / static_cast<double>(requests) * 1e6;
}

void requests(std::uint64_t count, std::size_t at_once, int rounds) {
  const HttpServerProcess server({});
  const std::string body = "{\"text\":\"" + std::string(200, 'x') + "\"}";
  const std::string url = server.url("/small");
  Requests ours(url, body);
  ours.run(at_once, at_once);
  std::vector<double> client;
  std::vector<double> raw;
  for (int round = 0; round < rounds; ++round) {
    client.push_back(cpu_us_of(count, [&] { ours.run(count, at_once); }));
    raw.push_back(cpu_us_of(count, [&] { run_raw_curl(url, body, count, at_once); }));
  }
  const double client_us = quantile(client, 0.5);
  const double raw_us = quantile(raw, 0.5);
  fmt::print(
      "small requests, {} at a time: {:.1f} us of CPU each; libcurl alone {:.1f}; ratio "
      "{:.2f} (medians of {} rounds)\n",
      at_once, client_us, raw_us, client_us / raw_us, rounds);
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  using namespace pawl::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
  if (what == "streams" && argc == 4) {
    streams(number(2), number(3));
  } else if (what == "requests" && argc == 5) {
    requests(number(2), number(3), static_cast<int>(number(4)));
  } else {
    give_up("see the top of bench/http_streams.cc");
  }
  return 0;
}
