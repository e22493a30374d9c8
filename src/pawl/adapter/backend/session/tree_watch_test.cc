#include "pawl/adapter/backend/session/tree_watch.h"

#include <sys/resource.h>

#include <algorithm>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using Kind = BackendOutcome::Kind;

constexpr MakeBackend kProcessBackends[] = {&make_namespace_backend, &make_landlock_backend,
                                            &make_local_backend};

// Each limit has its own outcome, whichever backend it is; and the next call works.
void check_limit(Kind kind, const std::string& hog,
                 const std::function<void(BackendLimits&)>& change) {
  for (const MakeBackend make : kProcessBackends) {
    if (!is_there(make)) continue;
    Bench bench(make);
    change(bench.context.limits);
    CAPTURE(bench.backend().name());
    const BackendOutcome outcome = bench.bash(hog, 25'000);
    CAPTURE(outcome.output);
    CHECK(outcome.kind == kind);
    CHECK(contract::holds(outcome.output, "[The call was ended"));
    CHECK(contract::holds(bench.bash("echo alive").output, "alive"));
  }
}

TEST_CASE("processor time of all processes together is bounded") {
  check_limit(Kind::cpu, "(while :; do :; done) & while :; do :; done",
              [](BackendLimits& limits) { limits.cpu_ms = 500; });
}

TEST_CASE("memory of all processes together is bounded") {
  // Grows slowly enough to be seen where there are no control groups, and in two processes.
  check_limit(Kind::memory,
              "hog() { x=$(head -c 1M /dev/zero | tr '\\0' x); while :; do y=$y$x; done; }; "
              "hog & hog",
              [](BackendLimits& limits) { limits.memory_bytes = 96U << 20U; });
}

// A child's peak says nothing below its host's, which is large under a sanitizer.
std::uint64_t more_than_this_program_has() {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  return std::max<std::uint64_t>(512U << 20U, static_cast<std::uint64_t>(own.ru_maxrss) * 1024 * 2);
}

// With a control group it is killed; without one it is refused more, and says so by failing.
TEST_CASE("none of the attempts to get more memory is a failure like any other") {
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    bench.context.limits.memory_bytes = more_than_this_program_has();
    CHECK(bench.exec({"python3", "-c", "x = []\nwhile True: x.append(b'x' * 100000)"}).kind ==
          Kind::memory);
    CHECK(bench.exec({"false"}).kind == Kind::failed);
  }
}

TEST_CASE("the number of processes is bounded") {
  check_limit(Kind::processes, "for i in $(seq 100); do sleep 20 & done; wait",
              [](BackendLimits& limits) { limits.processes = 20; });
}

TEST_CASE("what is written is bounded, in one file or in many") {
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    bench.context.limits.disk_bytes = 4U << 20U;
    CHECK(bench.bash("head -c 100M /dev/zero >big", 25'000).kind == Kind::disk);
    CHECK(std::filesystem::file_size(bench.directory / "big") <= 4U << 20U);
  }
}

// Two forks and a session of its own: at the levels without a pid namespace it is the host's then.
constexpr const char* kDaemons =
    "daemon() { (setsid \"$@\" </dev/null >/dev/null 2>&1 &); }; daemon sh -c 'while :; do :; "
    "done'; daemon sh -c 'while :; do :; done'; ";

TEST_CASE("none of the attempts to use more as a daemon works") {
  check_limit(Kind::cpu, kDaemons + std::string("sleep 20"),
              [](BackendLimits& limits) { limits.cpu_ms = 500; });
  check_limit(
      Kind::processes,
      "for i in $(seq 60); do (setsid sleep 20 </dev/null >/dev/null 2>&1 &); done; sleep 20",
      [](BackendLimits& limits) { limits.processes = 20; });
}

// Orphans are the host's at the levels without a pid namespace, and so are their dead.
TEST_CASE("jobs that have ended are no processes") {
  for (const MakeBackend make : kProcessBackends) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    bench.context.limits.processes = 12;
    CHECK(bench.bash("x=kept").kind == Kind::ok);
    for (int i = 0; i < 4; ++i) {
      CHECK(bench.bash("for i in 1 2 3 4; do (sleep 0.01 &); done; sleep 0.25").kind == Kind::ok);
    }
    CHECK(bench.bash("echo $x").output == "kept\n");
  }
}

// What runs on after a call has limits, too, also when no other call comes, or only short ones, or
// one of another kind.
TEST_CASE("none of the attempts to use more between calls works") {
  for (const MakeBackend make : kProcessBackends) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    bench.context.limits.cpu_ms = 500;
    const std::string word = "pawl-between-" + std::to_string(::getpid());
    const std::string burn =
        "(exec -a " + word + " bash -c 'while :; do :; done') >/dev/null 2>&1 &";
    CHECK(bench.bash(burn).kind == Kind::ok);
    CHECK(contract::comes_true(bench.loop, [&] { return contract::runs(word); }));
    CHECK(contract::comes_true(bench.loop, [&] { return !contract::runs(word); }));
    const BackendOutcome after = bench.bash("echo alive");
    CHECK(after.kind == Kind::ok);
    CHECK(contract::holds(after.output, "What earlier calls had left running was ended"));
    CHECK(contract::holds(after.output, "alive"));
    CHECK(bench.bash("true").output.empty());

    CHECK(bench.bash(burn).kind == Kind::ok);
    CHECK(contract::comes_true(bench.loop, [&] { return contract::runs(word); }));
    std::optional<BackendOutcome> other;
    const auto operation = bench.session().exec(
        {{}, {"sleep", "25"}, {}, {}}, [&](BackendOutcome outcome) { other = std::move(outcome); });
    CHECK(contract::comes_true(bench.loop, [&] { return !contract::runs(word) || other; }));
    CHECK_FALSE(other.has_value());  // it is not held responsible
    operation->abort();
    CHECK(bench.loop.run_until([&] { return other.has_value(); }));
  }
}

TEST_CASE("what is written between calls is bounded") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  bench.context.limits.disk_bytes = 4U << 20U;
  // In a row of short calls there is no time in which the session has nothing to do.
  const char* fill =
      "(for i in $(seq 60); do head -c 1M /dev/zero >f$i; sleep 0.05; done) >/dev/null 2>&1 &";
  CHECK(bench.bash(fill).kind == Kind::ok);
  const std::string last = bench.directory / "f60";
  std::string seen;
  for (int i = 0;
       i < 400 && !contract::holds(seen, "was ended") && ::access(last.c_str(), F_OK) != 0; ++i) {
    seen += bench.bash("sleep 0.02").output;
  }
  CHECK(contract::holds(seen, "What earlier calls had left running was ended"));
  CHECK(::access(last.c_str(), F_OK) != 0);
}

// Half of the limit, once: in the account of the one that wrote it, then of the shell that waited.
TEST_CASE("what is written is counted once") {
  for (const MakeBackend make : kProcessBackends) {
    if (!is_there(make)) continue;
    Bench bench(make);
    bench.context.limits.disk_bytes = 12U << 20U;
    const char* write =
        "python3 -c \"\nimport time\nopen('f', 'wb').write(b'x' * (8 << 20))\ntime.sleep(0.25)\"";
    CHECK(bench.bash(write + std::string("; sleep 0.4")).kind == Kind::ok);
    CHECK(bench.bash("sleep 0.4").kind == Kind::ok);
  }
  Bench bench(&make_local_backend);
  bench.context.limits.disk_bytes = 12U << 20U;
  CHECK(bench.bash("(head -c 8M /dev/zero >f; sleep 20) >/dev/null 2>&1 & sleep 0.4").kind ==
        Kind::ok);
  CHECK(bench.bash("sleep 0.4").kind == Kind::ok);
}

TEST_CASE("pages that several processes share are counted once") {
  for (const MakeBackend make : kProcessBackends) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    bench.context.limits.memory_bytes = 160U << 20U;
    const BackendOutcome outcome = bench.exec(
        {"python3", "-c",
         "import os, time\nx = b'x' * (64 << 20)\nfor i in range(4):\n  if os.fork() == 0:\n"
         "    time.sleep(0.5)\n    os._exit(0)\nfor i in range(4): os.wait()"});
    CAPTURE(outcome.output);
    CHECK(outcome.kind == Kind::ok);
  }
}

TEST_CASE("none of the attempts to keep memory in files without a name works") {
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend,
                                 &make_local_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    if (make == &make_container_backend) give_away(bench.directory.path());
    bench.context.limits.memory_bytes = 96U << 20U;
    bench.context.limits.disk_bytes = 96U << 20U;
    const BackendOutcome held =
        bench.exec({"python3", "-c",
                    "import os, time\nfor i in range(8):\n  f = os.dup(os.memfd_create('x'))\n"
                    "  for j in range(64): os.write(f, b'x' * (1 << 20))\ntime.sleep(20)"});
    CAPTURE(held.output);
    // A container that is ended by its own control group does not say so.
    CHECK(held.kind != Kind::ok);
    CHECK(held.kind != Kind::timed_out);
    if (make == &make_container_backend) continue;
    CHECK(held.kind == Kind::memory);
    if (make == &make_local_backend) continue;
    // As segments that nobody has mapped, or as semaphores.
    CHECK(bench
              .exec({"python3", "-c",
                     "import ctypes\nl = ctypes.CDLL(None)\n"
                     "exit(l.shmget(0, ctypes.c_size_t(64 << 20), 0o600) != -1 or l.semget(0, "
                     "32000, 0o600) != -1)"})
              .kind == Kind::ok);
  }
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  CHECK(bench
            .exec({"python3", "-c",
                   "import ctypes\nl = ctypes.CDLL(None)\n"
                   "exit(l.shmget(0, ctypes.c_size_t(4096), 0o600) == -1 or l.semget(0, 17, 0o600) "
                   "== -1)"})
            .kind == Kind::ok);
}

}  // namespace
}  // namespace pawl::backend
