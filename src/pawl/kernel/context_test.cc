#include "pawl/kernel/context.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

Instance conversation(const std::vector<EntryKind>& kinds) {
  Instance instance;
  for (const EntryKind kind : kinds) instance.transcript.push_back({kind, 0, 0, 100});
  return instance;
}

constexpr EntryKind kInput = EntryKind::input;
constexpr EntryKind kAsked = EntryKind::assistant;
constexpr EntryKind kResult = EntryKind::tool_result;

TEST_CASE("no call is parted from its result") {
  const Instance instance =
      conversation({kInput, kAsked, kResult, kAsked, kResult, kResult, kResult, kAsked, kResult});
  for (std::uint64_t keep = 0; keep < 9; ++keep) {
    CAPTURE(keep);
    const auto cut = plan_cut(rules_of(kSemantics), instance, keep);
    if (!cut) continue;
    CHECK(instance.transcript[cut->to].kind != kResult);
    CHECK(instance.transcript.size() - cut->to >= keep);
  }
}

TEST_CASE("a reply whose results are still to come stays") {
  const Instance instance = conversation(
      {kInput, kAsked, kResult, kAsked, EntryKind::ceded, EntryKind::ceded, EntryKind::ceded});
  const auto cut = plan_cut(rules_of(kSemantics), instance, 1);
  REQUIRE(cut);
  CHECK(cut->to == 3);
}

TEST_CASE("what is pinned is not counted as removed") {
  const Instance instance = conversation({kInput, kAsked, kResult, kAsked, kResult});
  const CutPlan cut = cut_at(instance, 3);
  CHECK(cut.removed == 2);
  CHECK(cut.removed_tokens == 200);
}

TEST_CASE("nothing is cut that is not worth it") {
  CHECK_FALSE(plan_cut(rules_of(kSemantics), conversation({kInput, kAsked, kResult}), 2));
  CHECK_FALSE(plan_cut(rules_of(kSemantics), conversation({kInput}), 0));
}

TEST_CASE("an estimate is never nothing, and never overflows") {
  CHECK(rules_of(kSemantics).estimate_tokens(0) > 0);
  CHECK(rules_of(kSemantics).estimate_tokens(1'000) >= 250);
  CHECK(rules_of(kSemantics).estimate_tokens(UINT64_MAX) > UINT64_MAX / 10);
}

}  // namespace
}  // namespace pawl
