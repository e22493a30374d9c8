#include "pawl/adapter/provider/phase_usage.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/wire_numbers.h"

namespace pawl::provider {
namespace {

bool take(PhaseUsage& usage, PhaseExecutorEvent event) {
  return usage.take(event);
}

TEST_CASE("a request that nobody accepted costs nothing") {
  PhaseUsage usage;
  usage.sent(4'000);
  CHECK(usage.settle() == "");
  CHECK(usage.usage() == Usage{});
}

TEST_CASE("what a provider leaves out is estimated and said") {
  PhaseUsage usage;
  usage.sent(4'000);
  usage.accepted();
  CHECK(take(usage, TextDelta{std::string(41, 'x')}));
  usage.completed();
  CHECK(usage.settle() == "usage: estimated input tokens and output tokens from bytes");
  CHECK(usage.usage() == Usage{1'000, 11, 0, 0});
}

TEST_CASE("what it says at the end is believed, what it says before may be too little") {
  for (const bool completed : {true, false}) {
    PhaseUsage usage;
    usage.accepted();
    take(usage, UsageReported{{100, 1, 0, 0}});
    take(usage, ThinkingDelta{std::string(400, 'x'), ""});
    if (completed) usage.completed();
    CHECK(usage.settle().empty() == completed);
    CHECK(usage.usage() == Usage{100, completed ? 1U : 100U, 0, 0});
  }
}

TEST_CASE("counts never fall and are bounded; reports that say nothing new are dropped") {
  PhaseUsage usage;
  CHECK(take(usage, UsageReported{{100, 5, 7, 9}}));
  CHECK_FALSE(take(usage, UsageReported{{100, 5, 7, 9}}));
  CHECK_FALSE(take(usage, UsageReported{{1, 2, 3, 4}}));
  PhaseExecutorEvent huge = UsageReported{{~0ULL, 0, 0, 0}};
  CHECK(usage.take(huge));
  CHECK(std::get<UsageReported>(huge).usage == Usage{kTokenCountMax, 5, 7, 9});
  CHECK(take(usage, UsageReported{{0, 0, 0, 0, 11}}));
  CHECK(usage.usage() == Usage{kTokenCountMax, 5, 7, 9, 11});
}

}  // namespace
}  // namespace pawl::provider
