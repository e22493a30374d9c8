#include "pawl/adapter/provider/exchange/phase_usage.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/wire_numbers.h"

namespace pawl::provider {
namespace {

bool take(PhaseUsage& usage, PhaseExecutorEvent event) {
  return usage.take(event);
}

TEST_CASE("a request that nobody accepted costs nothing") {
  PhaseUsage usage;
  usage.sent(4'000, {100, 500, 0, 0});
  CHECK(usage.settle() == "");
  CHECK(usage.usage() == Usage{});
}

TEST_CASE("what a provider leaves out is estimated and said") {
  PhaseUsage usage;
  usage.sent(4'000, {});
  usage.accepted();
  CHECK(take(usage, TextDelta{std::string(41, 'x')}));
  usage.completed();
  CHECK(usage.settle() ==
        "usage: the provider did not report the input and output tokens; charged an estimate");
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

TEST_CASE("a reply that was lost is charged what was set aside, but for what the provider said") {
  const Usage reserved{0, 9'000, 0, 0, 1'200};
  for (const bool began : {true, false}) {
    PhaseUsage usage;
    usage.sent(4'000, reserved);
    if (began) {
      usage.accepted();
      take(usage, UsageReported{{1'000, 1, 50, 0}});
      take(usage, TextDelta{std::string(400, 'x')});
    }
    usage.lost();
    CHECK_FALSE(usage.settle().empty());
    CHECK(usage.usage() == (began ? Usage{1'000, 9'000, 50, 0} : reserved));
  }
  // Where nothing was set aside bytes are counted.
  PhaseUsage usage;
  usage.sent(4'000, {});
  usage.lost();
  usage.settle();
  CHECK(usage.usage() == Usage{1'000, 0, 0, 0});
}

TEST_CASE("a call that Pawl ended pays its input and what was said") {
  PhaseUsage usage;
  usage.sent(4'000, {1'200, 9'000, 0, 0});
  usage.accepted();
  take(usage, TextDelta{std::string(400, 'x')});
  usage.settle();
  CHECK(usage.usage() == Usage{1'200, 100, 0, 0});
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
