#include "pawl/port/budget.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

constexpr std::int64_t kNow = 1'000'000;

BudgetWindow tokens_in(std::uint64_t length_ms, std::uint64_t tokens) {
  return {length_ms, {0, tokens, 0}, "USD"};
}

BudgetAsk ask_for(std::uint64_t input, std::vector<BudgetWindow> windows) {
  BudgetAsk ask;
  ask.tenant = "t";
  ask.input = {input, input, 10};
  ask.output_pico = 2;
  ask.output_least = 10;
  ask.output_most = 100;
  ask.windows = std::move(windows);
  ask.now_ms = kNow;
  return ask;
}

BudgetEntry used(std::int64_t at_ms, std::uint64_t tokens) {
  return {at_ms, {tokens, tokens, 0}, {}};
}

TEST_CASE("a reply gets as much room as every window leaves") {
  const auto grant = weigh(ask_for(50, {tokens_in(1'000, 500), tokens_in(5'000, 120)}), {});
  REQUIRE(grant.granted());
  CHECK(grant.output_tokens == 70);
  CHECK(grant.reserved == BudgetAmount{50 + 140, 120, 10});
  CHECK(weigh(ask_for(50, {tokens_in(5'000, 120), tokens_in(1'000, 500)}), {}).output_tokens == 70);
}

TEST_CASE("an empty purse pays nothing, not even what is free") {
  BudgetAsk ask = ask_for(0, {BudgetWindow{1'000, {50, 0, 0}, "USD"}});
  ask.output_pico = 0;
  CHECK(weigh(ask, {used(kNow - 10, 49)}).granted());
  CHECK_FALSE(weigh(ask, {used(kNow - 10, 50)}).granted());
}

TEST_CASE("what is used leaves the window after its length, and not before") {
  const BudgetAsk ask = ask_for(50, {tokens_in(1'000, 100)});
  CHECK(weigh(ask, {used(kNow - 1'000, 90)}).granted());
  const auto held = weigh(ask, {used(kNow - 999, 90)});
  REQUIRE_FALSE(held.granted());
  CHECK(held.again_at_ms == kNow + 1);
  // Two must leave before there is room.
  const auto later = weigh(ask, {used(kNow - 900, 20), used(kNow - 500, 50), used(kNow - 10, 30)});
  CHECK(later.again_at_ms == kNow + 500);
}

TEST_CASE("a window that is too small for the call never has room") {
  const auto held = weigh(ask_for(200, {tokens_in(1'000, 100)}), {used(kNow - 5, 1)});
  CHECK_FALSE(held.granted());
  CHECK_FALSE(held.again_at_ms);
}

TEST_CASE("money and time bind, too, and a raise counts as long as what it was for") {
  BudgetWindow money{1'000, {100, 0, 0}, "USD"};
  CHECK(weigh(ask_for(50, {money}), {}).output_tokens == 25);
  CHECK_FALSE(weigh(ask_for(90, {money}), {}).granted());
  BudgetEntry raise{kNow - 10, {}, {100, 0, 0}};
  CHECK(weigh(ask_for(90, {money}), {raise}).output_tokens == 55);
  raise.at_ms = kNow - 1'000;
  CHECK_FALSE(weigh(ask_for(90, {money}), {raise}).granted());
  BudgetWindow time{1'000, {0, 0, 9}, "USD"};
  CHECK_FALSE(weigh(ask_for(1, {time}), {}).granted());
  time.most.time_ms = 10;
  CHECK(weigh(ask_for(1, {time}), {}).granted());
}

TEST_CASE("nothing wraps around, and an entry from the future counts") {
  constexpr std::uint64_t kHuge = UINT64_MAX - 1;
  const BudgetAsk ask = ask_for(1, {tokens_in(1'000, 100)});
  CHECK_FALSE(weigh(ask, {used(kNow - 2, kHuge), used(kNow - 1, kHuge)}).granted());
  CHECK_FALSE(weigh(ask, {used(kNow + 5'000, 100)}).granted());
  CHECK(left_of(ask.windows[0], {used(kNow, 30)}, kNow).tokens == 70);
  CHECK(spent_in(ask.windows[0], {used(kNow, 30)}, kNow).tokens == 30);
}

}  // namespace
}  // namespace pawl
