// Transitions of an instance that waits for its model: replies, failures, summaries.
#include "pawl/kernel/context.h"
#include "pawl/kernel/machine.h"

namespace pawl {

Refusal on(Scene scene, const AwaitingModel& phase, const ModelReplied& event) {
  if (event.effect != phase.effect) return late(event.kName, event.effect);
  scene.draft.close(event.effect);
  if (event.callback_stop) {
    scene.draft.stop(RunStatus::stopped, StopReason::callback,
                     "after_model: " + *event.callback_stop);
  }
  take_reply(scene.draft, scene.instance,
             {event.blocks,
              event.stop,
              event.stop_detail,
              event.stop_metadata,
              {0, 1},
              scene.instance.open_step,
              event.output_fault});
  return kAccepted;
}

Refusal on(Scene scene, const AwaitingModel& phase, const ModelFailed& event) {
  if (event.effect != phase.effect) return late(event.kName, event.effect);
  scene.draft.close(event.effect);
  take_failure(scene.draft, scene.instance, phase, event);
  return kAccepted;
}

Refusal on(Scene scene, const AwaitingModel& phase, const ModelAborted& event) {
  Draft& draft = scene.draft;
  if (event.effect != phase.effect) return late(event.kName, event.effect);
  draft.close(event.effect);
  if (draft.pausing()) draft.add(InstanceReadied{scene.instance.id, phase.failed_attempts});
  // It was resumed before the abort had taken effect.
  if (draft.going()) call_again(draft, scene.instance, {});
  return kAccepted;
}

Refusal on(Scene scene, const Compacting& phase, const ContextCompacted& event) {
  if (event.effect != phase.effect) return late(event.kName, event.effect);
  scene.draft.close(event.effect);
  take_cut(scene.draft, scene.instance, phase, CutBy::summary,
           estimate_tokens(event.summary.length()));
  return kAccepted;
}

Refusal on(Scene scene, const Compacting& phase, const CompactionFailed& event) {
  if (event.effect != phase.effect) return late(event.kName, event.effect);
  scene.draft.close(event.effect);
  take_cut(scene.draft, scene.instance, phase, CutBy::trim, 0);
  return kAccepted;
}

}  // namespace pawl
