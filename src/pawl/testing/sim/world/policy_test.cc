#include "pawl/testing/sim/world/policy.h"

#include <doctest/doctest.h>

#include <set>

namespace pawl::sim {
namespace {

std::string input(int n) {
  return "{\"n\":" + std::to_string(n) + "}";
}

TEST_CASE("every verdict is given, and the last word is never undecided") {
  const SimPolicy policy;
  std::set<CallVerdict> first;
  std::set<CallVerdict> last;
  std::set<bool> expires;
  for (int n = 0; n < 2'000; ++n) {
    first.insert(policy.first_word("pay", input(n)));
    last.insert(policy.last_word("pay", input(n)));
    expires.insert(policy.judgement(CallVerdict::ask, "pay", input(n)).expires_ms > 0);
  }
  CHECK(first.size() == 4);
  CHECK(last.size() == 3);
  CHECK(!last.contains(CallVerdict::undecided));
  CHECK(expires.size() == 2);
}

TEST_CASE("a policy changes its mind, and what an approval is for with it") {
  SimPolicy policy;
  Rng rng(1);
  const Digest before = policy.binding_of("pay", input(1));
  std::set<CallVerdict> words;
  for (int i = 0; i < 100; ++i) {
    policy.change(rng);
    CHECK((policy.binding_of("pay", input(1)) == before) == (policy.version() == 1));
    for (int n = 0; n < 20; ++n) words.insert(policy.first_word("pay", input(n)));
  }
  CHECK(words.size() == 4);
  CHECK(policy.binding_of("pay", input(1)) != policy.binding_of("pay", input(2)));
  CHECK(policy.binding_of("pay", input(1)) != policy.binding_of("put", input(1)));
}

TEST_CASE("what is asked of a person depends on the tool") {
  const SimPolicy policy;
  CHECK(policy.judgement(CallVerdict::ask, "look", input(1)).kind == InterruptKind::input);
  CHECK(policy.judgement(CallVerdict::ask, "pay", input(1)).kind == InterruptKind::approval);
  CHECK(!policy.judgement(CallVerdict::allow, "pay", input(1)).binding);
}

}  // namespace
}  // namespace pawl::sim
