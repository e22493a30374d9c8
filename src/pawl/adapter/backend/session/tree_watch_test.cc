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

}  // namespace
}  // namespace pawl::backend
