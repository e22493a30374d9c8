#include "pawl/adapter/backend/sandbox/user_tasks.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <latch>
#include <thread>
#include <vector>

namespace pawl::sandbox {
namespace {

// Others of the same user come and go meanwhile, but not so many.
TEST_CASE("threads of a user are counted, and nobody else's") {
  constexpr std::uint64_t kThreads = 200;
  const std::uint64_t before = count_user_tasks(::geteuid());
  CHECK(before > 0);
  std::latch end(1);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) threads.emplace_back([&end] { end.wait(); });
  CHECK(count_user_tasks(::geteuid()) > before + kThreads / 2);
  end.count_down();
  for (std::thread& thread : threads) thread.join();
  constexpr uid_t kNobodyHas = 3'999'999'991;
  CHECK(count_user_tasks(kNobodyHas) == 0);
}

}  // namespace
}  // namespace pawl::sandbox
