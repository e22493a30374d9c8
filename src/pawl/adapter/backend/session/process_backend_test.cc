#include "pawl/adapter/backend/session/process_backend.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <thread>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract.h"

namespace pawl::backend {
namespace {

using Kind = BackendOutcome::Kind;

contract::BackendSubject subject_of(MakeBackend make) {
  contract::BackendSubject subject;
  subject.make = [make](Loop& loop) { return make(loop, test_options()); };
  if (make == &make_local_backend) {
    subject.adapt = [](ExecutionContext& context) { context.network.access = NetworkAccess::full; };
  }
  if (make == &make_landlock_backend) {
    subject.adapt = [](ExecutionContext& context) { give_away(context.working_directory); };
  }
  constexpr std::int64_t kEngineStartMs = 2'000;
  const bool engine = make == &make_podman_backend || make == &make_container_backend;
  if (engine) subject.start_ms = kEngineStartMs;
  return subject;
}

TEST_CASE("the local backend keeps the contract") {
  if (!is_there(&make_local_backend)) return;
  contract::check_backend_contract(subject_of(&make_local_backend));
}

TEST_CASE("the local backend refuses a network that it cannot hold") {
  for (const NetworkAccess access : {NetworkAccess::none, NetworkAccess::limited}) {
    Bench bench(&make_local_backend);
    bench.context.network.access = access;
    const auto opened = bench.open();
    REQUIRE_FALSE(opened);
    CHECK(contract::holds(opened.error().message, "`namespace`"));
  }
}

TEST_CASE("a process that died of a signal is told from one that exits with its number") {
  Bench bench(&make_local_backend);
  bench.context.network.access = NetworkAccess::full;
  const BackendOutcome killed = bench.exec({"sh", "-c", "echo half; kill -9 $$"});
  CHECK(killed.kind == Kind::killed);
  CHECK(killed.exit_code == 137);
  CHECK(contract::holds(killed.output, "what it had done by then is not known"));
  CHECK(bench.exec({"sh", "-c", "exit 137"}).kind == Kind::failed);
  CHECK(bench.exec({"sh", "-c", "sh -c 'kill -9 $$'; exit $?"}).kind == Kind::failed);
  CHECK(bench.bash("sh -c 'kill -9 $$'").kind == Kind::failed);
  CHECK(bench.bash("x=5; kill -9 $$").kind == Kind::killed);
  CHECK(contract::holds(bench.bash("echo \"[$x]\"").output, "[]"));  // in a fresh shell
}

// A thread of the host that starts children without end, each of which takes its time before it
// would execute anything.
class BusyForker {
 public:
  BusyForker() : thread_([this] { serve(); }) {}
  BusyForker(const BusyForker&) = delete;
  BusyForker& operator=(const BusyForker&) = delete;
  ~BusyForker() {
    ends_ = true;
    thread_.join();
  }

 private:
  void serve() {
    constexpr std::size_t kAtOnceMax = 24;
    constexpr int kLingersMs = 20;
    std::deque<pid_t> children;
    while (!ends_ || !children.empty()) {
      if (ends_ || children.size() == kAtOnceMax) {
        ::waitpid(children.front(), nullptr, 0);
        children.pop_front();
        continue;
      }
      const pid_t child = ::fork();
      if (child == 0) {
        ::poll(nullptr, 0, kLingersMs);
        ::_exit(0);
      }
      if (child > 0) children.push_back(child);
    }
  }

  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

TEST_CASE("a sandbox is made while other threads of the host start programs") {
  if (!is_there(&make_namespace_backend)) return;
  constexpr int kSessions = 60;  // of which one or none meets it
  const BusyForker forker;
  for (int i = 0; i < kSessions; ++i) {
    Bench bench(&make_namespace_backend);
    const auto opened = bench.open();
    CAPTURE(i);
    if (!opened) FAIL_CHECK(opened.error().message);
  }
}

TEST_CASE("the landlock backend keeps the contract") {
  if (!is_there(&make_landlock_backend)) return;
  contract::check_backend_contract(subject_of(&make_landlock_backend));
  contract::check_isolation(subject_of(&make_landlock_backend));
}

TEST_CASE("the landlock backend keeps a fork bomb from taking all numbers of the machine") {
  if (!is_there(&make_landlock_backend)) return;
  Bench bench(&make_landlock_backend);
  const BackendOutcome said = bench.bash("test \"$(ulimit -u)\" -lt 30000 && echo bounded");
  CHECK(contract::holds(said.output, "bounded"));
}

TEST_CASE("the namespace backend keeps the contract") {
  if (!is_there(&make_namespace_backend)) return;
  contract::check_backend_contract(subject_of(&make_namespace_backend));
  contract::check_isolation(subject_of(&make_namespace_backend));
}

TEST_CASE("the container backend keeps the contract") {
  if (!is_there(&make_container_backend)) return;
  contract::check_backend_contract(subject_of(&make_container_backend));
  contract::check_isolation(subject_of(&make_container_backend));
}

// runc is what `container` takes where both are there; podman is held to the same.
TEST_CASE("the podman backend keeps the contract") {
  if (!is_there(&make_podman_backend)) return;
  contract::check_backend_contract(subject_of(&make_podman_backend));
  contract::check_isolation(subject_of(&make_podman_backend));
}

TEST_CASE("a host that does not learn how its children end is refused a session") {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  for (const MakeBackend make :
       {&make_namespace_backend, &make_landlock_backend, &make_local_backend}) {
    Bench bench(make);
    const auto opened = bench.open();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().message.find("SIGCHLD") != std::string::npos);
  }
  std::signal(SIGCHLD, before);
}

// Of a file that it closed long ago: no watch sees it.
TEST_CASE("what a job stores through a mapping is among the files of the call") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  constexpr const char* kJob =
      "import mmap, os, time\n"
      "fd = os.open('mapped', os.O_RDWR)\n"
      "page = mmap.mmap(fd, 4096)\n"
      "os.close(fd)\n"
      "os.mkfifo('/tmp/go')\n"
      "open('/tmp/go').read()\n"
      "page[0:4] = b'late'\n"
      "open('/tmp/done', 'w').close()\n"
      "time.sleep(1000)\n";
  bench.context.environment = {{"JOB", kJob}};
  CHECK(bench.bash("head -c 4096 /dev/zero >mapped").kind == Kind::ok);
  CHECK(bench.bash("python3 -c \"$JOB\" & until [ -p /tmp/go ]; do sleep 0.01; done").kind ==
        Kind::ok);
  CHECK(bench.bash("true").files.empty());
  const BackendOutcome stored =
      bench.bash("echo x >/tmp/go; until [ -e /tmp/done ]; do sleep 0.01; done");
  REQUIRE(stored.files.size() == 1);
  CHECK(stored.files.front().path == "mapped");
}

}  // namespace
}  // namespace pawl::backend
