// What follows from what becomes of calls: outcomes, doubts, judgements, decisions.
#include "pawl/kernel/machine.h"

namespace pawl {

void take(Draft& draft, const ToolFinished& event) {
  take_result(draft, draft.instance(event.instance), draft.call(event.call), event);
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const ToolStatusLearned& event) {
  const Call& call = draft.call(event.call);
  draft.stop_where_crossed();
  const bool tried_enough = call.attempts >= draft.rules.reconciled_attempts_max;
  if (event.answer == StatusAnswer::absent && !tried_enough) {
    run_call(draft, call);
  } else if (event.answer != StatusAnswer::done) {
    doubt(draft, call);
  }
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const DoubtResolved& event) {
  draft.stop_where_crossed();
  if (event.verdict == DoubtVerdict::did_not_happen) return run_call(draft, draft.call(event.call));
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const CallJudged& event) {
  draft.stop_where_crossed();
  take_judgement(draft, draft.instance(event.instance), draft.call(event.call), event.judgement);
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const CallDecided& event) {
  draft.stop_where_crossed();
  take_decision(draft, draft.instance(event.instance), draft.call(event.call), event);
  go_on_when_all_ended(draft, event.instance);
}

}  // namespace pawl
