// Tool calls without end, in every backend that can be had, and what they leave in the host.
//   pawl_tool_soak MINUTES [CALLS_A_SECOND]
// Sessions come and go; among their calls are daemons, jobs, floods of output and calls that run
// out of time. After each session nothing may be left of it: descriptors, threads and children are
// those of the beginning. Memory may grow by kGrowthMax an hour, which only a run of an hour or
// more can tell. A line a minute says how it goes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/meter.h"
#include "bench/tool_session.h"
#include "tests/support/temp_directory.h"

namespace pawl::bench {
namespace {

constexpr int kCallsPerSession = 40;
constexpr std::int64_t kTimeMs = 1'000;  // of a call; one of a session takes longer
constexpr double kPaceDefault = 20;
constexpr double kGrowthMax = 1024;  // KiB an hour
constexpr double kJudgedS = 3'600;
constexpr double kWarmUpShare = 0.25;  // of the time; caches fill
constexpr int kPatience = 50;          // looks, 20 ms apart, until what was let go is gone

std::size_t entries_of(const std::string& directory) {
  std::error_code none;
  const std::filesystem::directory_iterator all(directory, none);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t count_children() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (std::string one; file >> one;) ++count;
  }
  return count;
}

struct Leavings {
  std::size_t descriptors = entries_of("/proc/self/fd");
  std::size_t threads = entries_of("/proc/self/task");
  std::size_t children = count_children();

  friend bool operator==(const Leavings&, const Leavings&) = default;
};

std::string describe(const Leavings& one) {
  return fmt::format("{} descriptors, {} threads, {} children", one.descriptors, one.threads,
                     one.children);
}

bool comes_back_to(const Leavings& before) {
  for (int look = 0; look < kPatience; ++look) {
    if (Leavings() == before) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

Session::Kind make_call(Session& session, int call) {
  switch (call % 8) {
    case 0:
      return session.exec({"sh", "-c", "(setsid sleep 300 &); exit 0"});
    case 1:
      return session.bash("sleep 300 & x=$((x + 1))");
    case 2:
      return session.bash("head -c 300000 /dev/zero | tr '\\0' x");
    case 3:
      return session.finish([&](auto done) {
        return (*session).create_file({"f", "old", FileWrite::Overwrite::yes}, std::move(done));
      });
    case 4:
      return session.finish(
          [&](auto done) { return (*session).str_replace({"f", "old", "new"}, std::move(done)); });
    case 5:
      return session.finish(
          [&](auto done) { return (*session).view("f", std::nullopt, std::move(done)); });
    case 6:
      return session.exec({"true"});
    default:
      return session.bash("echo $x");
  }
}

// The least squares of what memory was, in KiB an hour.
double growth_of(const std::vector<std::pair<double, double>>& samples) {
  double time = 0;
  double memory = 0;
  for (const auto& [at, kib] : samples) {
    time += at;
    memory += kib;
  }
  const auto count = static_cast<double>(samples.size());
  double product = 0;
  double square = 0;
  for (const auto& [at, kib] : samples) {
    product += (at - time / count) * (kib - memory / count);
    square += (at - time / count) * (at - time / count);
  }
  return square > 0 ? product / square * 3'600 : 0;
}

class Soak {
 public:
  Soak(double minutes, double pace) : lasts_s_(minutes * 60), pace_(pace) {
    if (::geteuid() == 0 && ::chown(given_.path().c_str(), 61998, 61998) != 0) std::exit(2);
  }

  bool run() {
    for (const char* name : {"namespace", "landlock", "container", "local"}) {
      if (live(name)) names_.emplace_back(name);  // the first of each also makes what stays
    }
    const Leavings before;
    fmt::print("{} backends; at the beginning {}\n", names_.size(), describe(before));
    while (now_s() - began_ < lasts_s_) {
      for (const std::string& name : names_) {
        if (!live(name)) return fail(name + ": a call did not end as it should");
        if (!comes_back_to(before)) return fail(name + " left " + describe(Leavings()));
      }
      note();
    }
    return judge();
  }

 private:
  bool live(const std::string& name) {
    BackendLimits limits;
    limits.time_ms = kTimeMs;
    const bool owned = name == "landlock" || name == "container";
    Session session(name, owned ? given_.path() : directory_.path(), limits);
    if (!session) return false;
    for (int call = 0; call < kCallsPerSession; ++call) {
      const auto kind = make_call(session, call);
      if (kind != Session::Kind::ok) return false;
      rest(++calls_);
    }
    return session.bash("sleep 30") == Session::Kind::timed_out;
  }
  void rest(std::uint64_t calls) const {
    const double due = began_ + static_cast<double>(calls) / pace_;
    if (const double left = due - now_s(); left > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 1.0)));
    }
  }
  void note() {
    const double at = now_s() - began_;
    const auto memory = static_cast<double>(rss_kib());
    if (at > lasts_s_ * kWarmUpShare) samples_.emplace_back(at, memory);
    if (at < next_line_s_) return;
    next_line_s_ += 60;
    fmt::print("{:.0f} min: {} calls, {}, {:.0f} KiB\n", at / 60, calls_, describe(Leavings()),
               memory);
    std::fflush(stdout);
  }
  static bool fail(const std::string& why) {
    fmt::print("FAILED: {}\n", why);
    return false;
  }
  bool judge() const {
    const double growth = growth_of(samples_);
    const bool judged = lasts_s_ >= kJudgedS;
    fmt::print("{} calls, {}, {:+.0f} KiB an hour{}\n", calls_, describe(Leavings()), growth,
               judged ? "" : " (not judged: shorter than an hour)");
    return !judged || growth < kGrowthMax || fail("memory grows");
  }

  const TempDirectory directory_;
  const TempDirectory given_;  // to the user that sandboxes of root become
  std::vector<std::string> names_;
  double began_ = now_s();
  double lasts_s_;
  double pace_;
  double next_line_s_ = 60;
  std::uint64_t calls_ = 0;
  std::vector<std::pair<double, double>> samples_;
};

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  const double minutes = argc > 1 ? std::atof(argv[1]) : 0;
  const double pace = argc > 2 ? std::atof(argv[2]) : pawl::bench::kPaceDefault;
  if (minutes <= 0 || pace <= 0) {
    fmt::print(stderr, "pawl_tool_soak MINUTES [CALLS_A_SECOND]\n");
    return 2;
  }
  return pawl::bench::Soak(minutes, pace).run() ? 0 : 1;
}
