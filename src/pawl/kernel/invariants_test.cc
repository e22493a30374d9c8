#include "pawl/kernel/invariants.h"

#include <doctest/doctest.h>

namespace pawl::testing {
namespace {

TEST_CASE("a run that stands still for no reason is noticed") {
  RunState state;
  state.life = Live{};
  state.instances.emplace_back();
  CHECK(fault_of_liveness(state) == "i1 is ready, and nobody calls the model");
  state.instances[0].phase = AwaitingModel{EffectId{1}, 0, {}};
  CHECK(fault_of_effects(state) == "model calls and open effects differ");
  state.effects_minted = 1;
  state.open = {{EffectId{1}, EffectKind::model, kRootInstance, {}}};
  CHECK(fault_of_effects(state) == "");
  CHECK(fault_of_liveness(state) == "");
}

TEST_CASE("an instance that waits for what nobody does is noticed by itself") {
  RunState state;
  state.targets.emplace_back();
  Instance instance;
  instance.transcript.emplace_back();
  CHECK(fault_of_instance(state, instance) == "");
  instance.phase = AwaitingModel{EffectId{1}, 0, {}};
  CHECK(fault_of_instance(state, instance) == "it awaits a model call that is not open");
  state.open = {{EffectId{1}, EffectKind::tool, kRootInstance, {}}};
  CHECK(fault_of_instance(state, instance) == "it awaits a model call that is not open");
  state.open[0].kind = EffectKind::model;
  CHECK(fault_of_instance(state, instance) == "");
  instance.target = 1;
  CHECK(fault_of_instance(state, instance) == "its target does not exist");
}

}  // namespace
}  // namespace pawl::testing
