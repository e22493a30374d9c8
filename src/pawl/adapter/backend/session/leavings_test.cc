// Nothing is left behind: by calls, by sessions, by hosts that are killed.
//
// PAWL_LEAVINGS_CALLS (1000 for a long run) and PAWL_LEAVINGS_KILLS say how many of each; ctest
// makes do with few.

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>
#include <sstream>

#include "pawl/adapter/backend/command/guardian.h"
#include "pawl/adapter/backend/command/proc_table.h"
#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract.h"

namespace pawl::backend {
namespace {

using contract::comes_true;
using contract::runs;
using Kind = BackendOutcome::Kind;

constexpr MakeBackend kAll[] = {&make_namespace_backend, &make_landlock_backend,
                                &make_container_backend, &make_local_backend};

int count_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? otherwise : std::max(1, std::atoi(text));
}

std::set<std::string> names_in(const std::string& directory, std::string_view prefix) {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    if (entry.path().filename().string().starts_with(prefix)) names.insert(entry.path());
  }
  return names;
}

// Of one host alone: others run at the same time. "pawl-<pid namespace>-<pid>-<number>"
std::set<std::string> groups_of(pid_t host) {
  std::set<std::string> all = names_in("/sys/fs/cgroup", "pawl-");
  for (const std::string& controller : names_in("/sys/fs/cgroup", "")) {
    all.merge(names_in(controller, "pawl-"));
  }
  std::erase_if(all, [word = "-" + std::to_string(host) + "-"](const std::string& path) {
    return !contract::holds(path, word);
  });
  return all;
}

// All that a backend makes outside of its own processes' memory.
struct Surroundings {
  std::size_t descriptors = names_in("/proc/self/fd", "").size();
  std::size_t mounts = 0;
  std::set<std::string> groups;
  std::set<std::string> directories;

  Surroundings() {
    const std::string place = std::filesystem::temp_directory_path();
    // Other tests mount elsewhere at the same time.
    std::istringstream mountinfo(contract::read_file("/proc/self/mountinfo"));
    for (std::string line; std::getline(mountinfo, line);) mounts += contract::holds(line, place);
    directories = names_in(place, sandbox::kSandboxDirectory);
    directories.merge(names_in(place, sandbox::kBundleDirectory));
    groups = groups_of(::getpid());
  }
  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

std::size_t count_children() {
  std::size_t count = 0;
  for (const auto& process : tool_command::read_processes()) {
    const bool child = process.parent == ::getpid();
    if (child && process.pid != tool_command::guardian_process()) ++count;
  }
  return count;
}

// The guardians of hosts that other tests have forked are ours to bury.
bool has_no_children() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return count_children() == 0;
}

class OwnTemporaryDirectory {
 public:
  OwnTemporaryDirectory() {
    // Sandboxes of other users make their directories here, too.
    std::filesystem::permissions(place_.path(), std::filesystem::perms::all);
    ::setenv("TMPDIR", place_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  OwnTemporaryDirectory(const OwnTemporaryDirectory&) = delete;
  OwnTemporaryDirectory& operator=(const OwnTemporaryDirectory&) = delete;
  ~OwnTemporaryDirectory() { ::unsetenv("TMPDIR"); }  // NOLINT(concurrency-mt-unsafe)

 private:
  const contract::ContractDirectory place_;
};

// One call of each kind in turn; those that run programs leave a daemon behind, or try to.
BackendOutcome make_call(Bench& bench, int call, const std::string& word) {
  const std::string file = "f" + std::to_string(call / 5);
  BackendSession& session = bench.session();
  switch (call % 5) {
    case 0:
      return bench.exec({"sh", "-c", "(setsid sleep " + word + " &) ; exit 0"});
    case 1:
      return bench.bash("(setsid sleep " + word + " &) ; x=$((x + 1))");
    case 2:
      return bench.finish([&](auto done) {
        return session.create_file({file, "old", FileWrite::Overwrite::yes}, std::move(done));
      });
    case 3:
      return bench.finish(
          [&](auto done) { return session.str_replace({file, "old", "new"}, std::move(done)); });
    default:
      return bench.finish(
          [&](auto done) { return session.view(file, std::nullopt, std::move(done)); });
  }
}

void check_calls(MakeBackend make, int calls) {
  constexpr int kJobsMax = 250;  // calls, a fifth of which leave a job with the shell
  Bench bench(make);
  const std::string word = contract::unique_sleep();
  for (int call = 0; call < calls; ++call) {
    const BackendOutcome outcome = make_call(bench, call, word);
    CAPTURE(outcome.output);
    CHECK(outcome.kind == Kind::ok);
    if (call % kJobsMax == kJobsMax - 1) CHECK(bench.bash("exit 0").exit_code == 0);
  }
  bench.end();
  CHECK_FALSE(runs(word));
}

TEST_CASE(
    "nothing is left of calls and sessions: no process, descriptor, mount, group, directory") {
  const OwnTemporaryDirectory place;
  TestLoop loop;
  for (const MakeBackend make : kAll) {
    if (!is_there(make)) continue;
    CHECK(make(loop, test_options())->probe());
    CHECK(comes_true(loop, &has_no_children));
    const Surroundings before;
    for (int session = 0; session < 3; ++session) {
      check_calls(make, make == &make_container_backend ? 10 : 50);
    }
    if (std::getenv("PAWL_LEAVINGS_CALLS") != nullptr) {
      check_calls(make, count_from("PAWL_LEAVINGS_CALLS", 50));
    }
    CHECK(count_children() == 0);
    CHECK(before == Surroundings());
  }
}

constexpr const char* kHostVariable = "PAWL_TEST_BACKEND_HOST";
constexpr const char* kHostFilter = "-tc=the host of the tests in leavings_test.cc";

// Double forks, sessions of their own, and whoever tries to stay when the host goes.
std::string stubborn(const std::string& word) {
  return "(setsid sleep " + word + " &) ; sleep " + word + " & python3 -c \"\n" +
         "import ctypes, os, resource, signal\n" + "ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\n" +
         "try: resource.setrlimit(10, (5, 5))\n" + "except (OSError, ValueError): pass\n" +
         "os.fork() or os.setsid()\n" + "for n in range(1, 32):\n" +
         "  try: signal.signal(n, signal.SIG_IGN)\n" + "  except OSError: pass\n" +
         "os.execve('/bin/sleep', ['sleep', '" + word + "'], {})\" & sleep " + word;
}

constexpr const char* kManyTools = "many";
constexpr int kToolsAtOnce = 20;

// As many sessions, each with a tool that runs until its host is killed.
void run_many(const std::string& word) {
  std::vector<std::unique_ptr<Bench>> benches;
  std::vector<std::unique_ptr<Operation>> running;
  for (int i = 0; i < kToolsAtOnce; ++i) {
    benches.push_back(std::make_unique<Bench>(&make_namespace_backend));
    running.push_back(benches.back()->session().bash(
        {"(setsid sleep " + word + " &) ; sleep " + word, {}, {}, 25'000}, [](BackendOutcome) {}));
  }
  benches.front()->loop.run_until([] { return false; }, 25'000);
}

// Not a test: run by others as a host that they can kill.
TEST_CASE("the host of the tests in leavings_test.cc" * doctest::skip()) {
  const std::string argument = std::getenv(kHostVariable);
  const std::string word = argument.substr(argument.rfind('=') + 1);
  REQUIRE(::prctl(PR_SET_DUMPABLE, 0) == 0);  // as keep_memory_private() does
  if (argument.starts_with(kManyTools)) return run_many(word);
  Bench bench(kAll[std::atoi(argument.c_str())]);
  bench.bash(stubborn(word), 25'000);
}

pid_t start_host() {
  std::array<const char*, 4> argv{"host", kHostFilter, "--no-skip", nullptr};
  pid_t pid = 0;
  REQUIRE(::posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr,
                        const_cast<char* const*>(argv.data()), environ) == 0);
  return pid;
}

void check_host_death(std::size_t which, int rounds) {
  if (!is_there(kAll[which])) return;
  TestLoop loop;
  const OwnTemporaryDirectory place;
  CHECK(kAll[which](loop, test_options())->probe());
  const Surroundings before;
  std::vector<pid_t> hosts;
  for (int round = 0; round < rounds; ++round) {
    const std::string word = contract::unique_sleep();
    ::setenv(kHostVariable, (std::to_string(which) + "=" + word).c_str(), 1);
    const pid_t host = start_host();
    // Every other one at some moment of its start, the others when all is running.
    if (round % 2 == 0) {
      CHECK(comes_true(loop, [&] { return runs("sleep" + std::string(1, '\0') + word); }));
    } else {
      loop.run_until([] { return false; }, (round * 37) % 150);
    }
    ::kill(host, SIGKILL);
    REQUIRE(::waitpid(host, nullptr, 0) == host);
    CHECK(comes_true(loop, [&] { return !runs(word); }));
    CHECK(comes_true(loop, [] { return !runs(kHostFilter); }));  // what it was about to become
    hosts.push_back(host);
  }
  // The next start takes away what the kernel does not; one after it, where a process was ending.
  CHECK(comes_true(loop, [&] {
    Bench next(kAll[which]);
    CHECK(next.bash("true").kind == Kind::ok);
    next.end();
    const std::set<std::string> left = Surroundings().directories;
    return std::includes(before.directories.begin(), before.directories.end(), left.begin(),
                         left.end()) &&
           std::all_of(hosts.begin(), hosts.end(),
                       [](pid_t host) { return groups_of(host).empty(); });
  }));
  CHECK(comes_true(loop, &has_no_children));
  CHECK(Surroundings().mounts == before.mounts);
}

std::size_t count_running(const std::string& word) {
  std::size_t count = 0;
  for (const std::string& process : names_in("/proc", "")) {
    count += contract::holds(contract::read_file(process + "/cmdline"),
                             "sleep" + std::string(1, '\0') + word);
  }
  return count;
}

TEST_CASE("a host that is killed with twenty tools running leaves none of them (C04)") {
  if (!is_there(&make_namespace_backend)) return;
  TestLoop loop;
  const OwnTemporaryDirectory place;
  const std::string word = contract::unique_sleep();
  ::setenv(kHostVariable, (std::string(kManyTools) + "=" + word).c_str(), 1);
  const pid_t host = start_host();
  CHECK(comes_true(loop, [&] { return count_running(word) >= 2 * kToolsAtOnce; }));
  ::kill(host, SIGKILL);
  REQUIRE(::waitpid(host, nullptr, 0) == host);
  CHECK(comes_true(loop, [&] { return count_running(word) == 0; }));
}

TEST_CASE("a host that is killed leaves nobody behind, and the next one tidies up (C04, Y10)") {
  check_host_death(0, count_from("PAWL_LEAVINGS_KILLS", 4));
  check_host_death(1, count_from("PAWL_LEAVINGS_KILLS", 4));
  check_host_death(2, std::min(20, count_from("PAWL_LEAVINGS_KILLS", 2)));
}

}  // namespace
}  // namespace pawl::backend
