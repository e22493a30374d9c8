#include "pawl/adapter/backend/session/process_backend.h"

#include "pawl/adapter/backend/session/backend_test_support.h"

namespace pawl::backend {
namespace {

TEST_CASE("smoke of sessions") {
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend, &make_local_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    MESSAGE(bench.bash("echo hi; id; X=5; cd /usr; pwd").output);
    MESSAGE(bench.bash("echo $X; pwd; false").output);
    MESSAGE(bench.bash("exec >/dev/null; echo gone").output);
    MESSAGE(bench.bash("echo back; cat; echo made >made.txt; cd -; echo made >made.txt").output);
    MESSAGE(bench.exec({"cat"}, "input of exec").output);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) bench.bash(":");
    MESSAGE("us per builtin " << std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count()/1000);
    const auto start2 = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) bench.exec({"bash", "-c", ":"});
    MESSAGE("us per exec " << std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start2).count()/200);
    const auto late = bench.bash("sleep 600 & sleep 600", 300);
    MESSAGE(name(late.kind) << late.output);
    MESSAGE(bench.bash("echo $X again").output);
  }
}

}  // namespace
}  // namespace pawl::backend
