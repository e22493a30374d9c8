// What the transitions of decide.cc share with those that stand in a file of their own. Private to
// the kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pawl/kernel/draft.h"

namespace pawl {

struct Scene {
  Draft& draft;
  const Instance& instance;
};

using Refusal = std::optional<Error>;
inline constexpr std::nullopt_t kAccepted = std::nullopt;

inline Refusal refuse(std::string message) {
  return Error{ErrorCode::conflict, std::move(message)};
}

inline Refusal late(std::string_view event, EffectId effect) {
  return refuse(std::string(event) + " comes too late: " + to_string(effect) + " is closed");
}

// Writes what follows from the event, which is that of the draft. A refusal leaves the draft to be
// thrown away.
Refusal decide_into(Draft& draft, const Event& event);

Refusal on(Scene scene, const AwaitingModel& phase, const ModelReplied& event);
Refusal on(Scene scene, const AwaitingModel& phase, const ModelFailed& event);
Refusal on(Scene scene, const AwaitingModel& phase, const ModelAborted& event);
Refusal on(Scene scene, const Compacting& phase, const ContextCompacted& event);
Refusal on(Scene scene, const Compacting& phase, const CompactionFailed& event);

Refusal on(Scene scene, const AwaitingTools& phase, const ToolFinished& event);
Refusal on(Scene scene, const AwaitingTools& phase, const ResultCameLate& event);
Refusal on(Scene scene, const AwaitingTools& phase, const ToolStatusLearned& event);
Refusal on(Scene scene, const AwaitingTools& phase, const DoubtResolved& event);
Refusal on(Scene scene, const AwaitingTools& phase, const CallJudged& event);
Refusal on(Scene scene, const AwaitingTools& phase, const CallDecided& event);

}  // namespace pawl
