#include "pawl/content.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("a tool that says nothing may have acted, and its doubts wait for a person") {
  const ToolSpec spec;
  CHECK(spec.effect == EffectClass::once);
  CHECK(spec.on_doubt == OnDoubt::wait);
  CHECK(spec.timeout_ms == 30'000);
}

TEST_CASE("effect classes and doubts are read by name") {
  for (const char* effect : {"pure", "idempotent", "reconcilable", "once"}) {
    const auto parsed = parse_effect_class(effect);
    REQUIRE(parsed);
    CHECK(name(*parsed) == effect);
  }
  for (const char* policy : {"wait", "tell_model"}) {
    const auto parsed = parse_on_doubt(policy);
    REQUIRE(parsed);
    CHECK(name(*parsed) == policy);
  }
  CHECK(parse_effect_class("Pure").error().message ==
        "an effect is pure, idempotent, reconcilable or once, not 'Pure'");
  CHECK(parse_on_doubt("").error().message == "on_doubt is wait or tell_model, not ''");
}

}  // namespace
}  // namespace pawl
