#include "pawl/gate/rules/verdict.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("deny beats ask beats allow, in either order") {
  const Judgement allow{Verdict::allow, "a", "fine"};
  const Judgement ask{Verdict::ask, "b", "look"};
  const Judgement deny{Verdict::deny, "c", "no"};
  CHECK(stricter(allow, ask) == ask);
  CHECK(stricter(ask, allow) == ask);
  CHECK(stricter(deny, ask) == deny);
  CHECK(stricter(ask, deny) == deny);
  CHECK(stricter(allow, deny) == deny);
}

TEST_CASE("of two equals the first is named") {
  CHECK(stricter({Verdict::ask, "a", "x"}, {Verdict::ask, "b", "y"}).rule == "a");
}

TEST_CASE("the duty to ask every time survives") {
  const Judgement every{Verdict::ask, "trust", "", Asking::every_time};
  CHECK(stricter({Verdict::allow}, every).asking == Asking::every_time);
  CHECK(stricter({Verdict::deny}, every).asking == Asking::every_time);
  CHECK(stricter({Verdict::ask}, {Verdict::ask}).asking == Asking::may_be_remembered);
}

TEST_CASE("verdicts have words") {
  for (const Verdict verdict : {Verdict::allow, Verdict::ask, Verdict::deny}) {
    CHECK(parse_verdict(name(verdict)) == verdict);
  }
  CHECK(parse_verdict("Allow") == std::nullopt);
  CHECK(parse_verdict("") == std::nullopt);
}

}  // namespace
}  // namespace pawl
