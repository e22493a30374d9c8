// How long deltas took from the server to whoever reads them, and how many streams there may be.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/meter.h"

namespace pawl::bench {

[[noreturn]] inline void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

// As many as are wanted and this process may have descriptors for: the soft limit is raised.
inline std::uint64_t streams_possible(std::uint64_t wanted) {
  constexpr std::uint64_t kSpareDescriptors = 200;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) give_up("no limit of descriptors");
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return std::min<std::uint64_t>(wanted, limit.rlim_max - kSpareDescriptors);
}

inline double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// `before_end` of them came before the first stream ended.
inline void report_deltas(const std::vector<double>& latencies_us, std::size_t before_end,
                          const Meter& since) {
  const double cpu = cpu_s() - since.cpu;
  const auto middle = latencies_us.begin() + static_cast<std::ptrdiff_t>(before_end);
  std::vector<double> steady(latencies_us.begin(), middle);
  std::vector<double> ending(middle, latencies_us.end());
  fmt::print("{} deltas in {:.1f} s, none lost: {:.1f} us of CPU each\n", latencies_us.size(),
             now_s() - since.wall, cpu / static_cast<double>(latencies_us.size()) * 1e6);
  fmt::print(
      "latency p50 {:.0f} us, p99 {:.0f} us; while streams end p50 {:.0f} us, p99 {:.0f} us\n",
      quantile(steady, 0.5), quantile(steady, 0.99), quantile(ending, 0.5), quantile(ending, 0.99));
}

}  // namespace pawl::bench
