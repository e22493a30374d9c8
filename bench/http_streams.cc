// What HTTP costs: many slow streams at once, and small requests beside libcurl alone.
//   pawl_bench_http streams STREAMS DELTAS [TICK_US]  fewer where there are not so many
//   descriptors;
//                                                 TICK_US: how often the server speaks, in bursts
//   pawl_bench_http h2 STREAMS DELTAS             the same over TLS, on few connections
//   pawl_bench_http requests REQUESTS AT_ONCE ROUNDS
//   pawl_bench_http h2-requests REQUESTS AT_ONCE ROUNDS
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/h2_server.h"
#include "bench/http_server.h"
#include "bench/latency.h"
#include "bench/meter.h"
#include "bench/raw_curl.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/http_curl/curl_client.h"

namespace pawl::bench {
namespace {

constexpr std::uint64_t kWarmUpStreams = 200;

// Where the streams come from, and how.
struct Source {
  std::string url;
  std::function<void()> go;
  HttpVersion version = HttpVersion::one;
  CurlOptions options = {};
};

CurlOptions trusting(const H2ServerProcess& server) {
  CurlOptions options;
  options.ca_bundle = server.ca_bundle();
  return options;
}

// Streams that note when each delta came.
class Streams {
 public:
  explicit Streams(Source source) : source_(std::move(source)) {}

  // Until each of them has its first delta.
  void start(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      HttpRequest request;
      request.method = "GET";
      request.url = source_.url;
      request.version = source_.version;
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
    source_.go();
    loop_.run_until([&] { return ended_ == operations_.size(); });
    const std::uint64_t expected = operations_.size() * (deltas + 1) * kDeltaBytes;
    if (bytes_ != expected) give_up(fmt::format("{} bytes of {} came", bytes_, expected));
  }

  void report(const Meter& meter) const { report_deltas(latencies_us_, deltas_before_end_, meter); }

 private:
  void on_bytes(std::string_view bytes) {
    bytes_ += bytes.size();
    if (!bytes.starts_with("data: ")) return;
    const std::int64_t sent_ns = std::strtoll(bytes.data() + 6, nullptr, 10);
    latencies_us_.push_back(static_cast<double>(shared_clock_ns() - sent_ns) / 1e3);
  }

  const Source source_;
  EpollLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_, source_.options);
  std::vector<std::unique_ptr<HttpOperation>> operations_;
  std::vector<double> latencies_us_;
  std::size_t deltas_before_end_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ended_ = 0;
};

void streams(Source source, std::uint64_t count, std::uint64_t deltas) {
  Streams crowd(std::move(source));
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
  crowd.report(meter);
}

void h1_streams(std::uint64_t wanted, HttpServerPlan plan) {
  const std::uint64_t count = streams_possible(wanted + kWarmUpStreams) - kWarmUpStreams;
  const HttpServerProcess server(plan);
  streams({server.url("/stream"), [&server] { server.go(); }}, count, plan.deltas);
}

void h2_streams(std::uint64_t count, std::uint64_t deltas) {
  const H2ServerProcess server({deltas});
  streams({server.url("/stream"), [&server] { server.go(); }, HttpVersion::two, trusting(server)},
          count, deltas);
}

// Keeps `at_once` requests under way until all have ended.
class Requests {
 public:
  Requests(Source source, std::string body) : source_(std::move(source)), body_(std::move(body)) {}

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
    request.url = source_.url;
    request.version = source_.version;
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

  const Source source_;
  const std::string body_;
  EpollLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_, source_.options);
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
  Requests ours({url, {}}, body);
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

// Every answer must come: a request that fails ends the program.
void h2_requests(std::uint64_t count, std::size_t at_once, int rounds) {
  const H2ServerProcess server({});
  Requests ours({server.url("/small"), {}, HttpVersion::two, trusting(server)}, "{}");
  ours.run(at_once, at_once);
  std::vector<double> taken_us;
  for (int round = 0; round < rounds; ++round) {
    taken_us.push_back(cpu_us_of(count, [&] { ours.run(count, at_once); }));
  }
  fmt::print("HTTP/2, {} at a time: {:.1f} us of CPU a request (median of {} rounds), none lost\n",
             at_once, quantile(taken_us, 0.5), rounds);
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  using namespace pawl::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
  if (what == "streams" && (argc == 4 || argc == 5)) {
    HttpServerPlan plan;
    plan.deltas = number(3);
    if (argc == 5) plan.tick_us = static_cast<std::int64_t>(number(4));
    h1_streams(number(2), plan);
  } else if (what == "h2" && argc == 4) {
    h2_streams(number(2), number(3));
  } else if (what == "h2-requests" && argc == 5) {
    h2_requests(number(2), number(3), static_cast<int>(number(4)));
  } else if (what == "requests" && argc == 5) {
    requests(number(2), number(3), static_cast<int>(number(4)));
  } else {
    give_up("see the top of bench/http_streams.cc");
  }
  return 0;
}
