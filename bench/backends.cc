// What one tool call costs in each backend, beside the same command by posix_spawn, bubblewrap and
// runc in the same run: figures of two runs cannot be compared, ratios of one can.
//
//   pawl_bench_backends [calls]

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/tool_session.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

using Clock = std::chrono::steady_clock;
using bench::Session;

constexpr int kCallsDefault = 200;
constexpr int kRounds = 5;

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

// The median of single calls; the sum would be that of whatever else the machine does.
double measure(int calls, const std::function<bool()>& call) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto start = Clock::now();
    if (!call()) return 0;
    times.push_back(microseconds(Clock::now() - start));
  }
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[static_cast<std::size_t>(calls / 2)];
}

bool spawn(std::vector<std::string> argv) {
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char byte = 0;
  while (failed == 0 && ::read(ends[0], &byte, 1) > 0) {
  }
  ::close(ends[0]);
  int status = -1;
  return failed == 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
}

std::vector<std::string> bubblewrap(const std::string& directory) {
  return {"bwrap",   "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr",
          "/usr",    "--symlink",     "usr/bin",           "/bin",          "--symlink", "usr/lib",
          "/lib",    "--symlink",     "usr/lib64",         "/lib64",        "--proc",    "/proc",
          "--dev",   "/dev",          "--tmpfs",           "/tmp",          "--bind",    directory,
          directory, "--chdir",       directory,           "bash",          "-c",        ":"};
}

// A bundle whose root is made of the same directories.
void write_bundle(const std::string& directory) {
  std::filesystem::create_directories(directory + "/rootfs");
  const char* bind =
      R"({{"destination":"{0}","type":"bind","source":"{0}","options":["rbind","ro"]}})";
  std::string mounts = R"({"destination":"/proc","type":"proc","source":"proc"})";
  for (const char* path : {"/usr", "/bin", "/lib", "/lib64"}) {
    if (std::filesystem::exists(path)) mounts += "," + fmt::format(fmt::runtime(bind), path);
  }
  std::ofstream(directory + "/config.json")
      << R"({"ociVersion":"1.0.2","process":{"terminal":false,"user":{"uid":0,"gid":0},)"
      << R"("args":["bash","-c",":"],"env":["PATH=/usr/bin:/bin"],"cwd":"/"},)"
      << R"("root":{"path":"rootfs"},"mounts":[)" << mounts << R"(],"linux":{"namespaces":[)"
      << R"({"type":"pid"},{"type":"mount"},{"type":"network"},{"type":"ipc"},{"type":"uts"}]}})";
}

// Rounds take turns, so that a busy moment of the machine is everybody's.
class Table {
 public:
  void add(const std::string& name, int calls, const std::function<bool()>& call) {
    if (const double time = measure(calls, call); time > 0) times_[name].push_back(time);
  }
  void print() {
    const double base = median("posix_spawn bash");
    for (const auto& [name, times] : times_) {
      fmt::print("{:28} {:10.0f} us   {:6.2f} x posix_spawn\n", name, median(name),
                 median(name) / base);
    }
  }

 private:
  double median(const std::string& name) {
    auto& times = times_[name];
    if (times.empty()) return 0;
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
  std::map<std::string, std::vector<double>> times_;
};

void run(int calls) {
  const TempDirectory directory;
  const TempDirectory bundle;
  write_bundle(bundle.path());
  const TempDirectory given;
  if (::geteuid() == 0 && ::chown(given.path().c_str(), 61998, 61998) != 0) return;
  std::map<std::string, std::unique_ptr<Session>> sessions;
  for (const char* name : {"namespace", "landlock", "local"}) {
    const bool landlock = std::string(name) == "landlock";
    sessions[name] = std::make_unique<Session>(name, landlock ? given.path() : directory.path());
  }
  Table table;
  const std::string container = "pawl-bench-" + std::to_string(::getpid());
  for (int round = 0; round < kRounds; ++round) {
    table.add("posix_spawn bash", calls, [] { return spawn({"bash", "-c", ":"}); });
    for (auto& [name, session] : sessions) {
      if (!*session) continue;
      table.add(name + " exec bash", calls, [&] { return session->runs({"bash", "-c", ":"}); });
      table.add(name + " builtin", calls, [&] { return session->does(":"); });
    }
    table.add("namespace, session and all", calls / 10,
              [&] { return Session("namespace", directory.path()).runs({"bash", "-c", ":"}); });
    table.add("bubblewrap bash", calls / 4, [&] { return spawn(bubblewrap(directory.path())); });
    table.add("runc bash", calls / 20,
              [&] { return spawn({"runc", "run", "--bundle", bundle.path(), container}); });
  }
  table.print();
}

}  // namespace
}  // namespace pawl

int main(int argc, char** argv) {
  pawl::run(argc > 1 ? std::max(20, std::atoi(argv[1])) : pawl::kCallsDefault);
  return 0;
}
