// The two machines: which events a run accepts in each of its states, and an instance in each of
// its phases. Private to the kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pawl/kernel/draft.h"

namespace pawl {

using Refusal = std::optional<Error>;

// Why the run does not accept the event now; nothing is changed.
Refusal refusal_of(const Run& run, const Event& event, const Stamp& stamp);

// What the event finds, of what its application changes.
struct Before {
  Phase phase;                        // of the instance that it names
  std::optional<OpenEffect> stopped;  // HookStopped: the effect that the callback was asked about
  EffectKind asked = EffectKind::ask_money;  // ParentAnswered: what was asked for
};

// Applies the draft's event, which is accepted, and decides what follows from it.
void take_event(Draft& draft, const Event& event);

// One for each event that something follows from; the event has been applied.
void take(Draft& draft, const RunStarted& event);
void take(Draft& draft, const AgentBegan& event);
void take(Draft& draft, const MessageReceived& event);
void take(Draft& draft, const PauseRequested& event);
void take(Draft& draft, const ResumeRequested& event);
void take(Draft& draft, const CancelRequested& event);
void take(Draft& draft, const BudgetRaised& event);
void take(Draft& draft, const Before& before, const HookStopped& event);
void take(Draft& draft, const InstanceSpawned& event);
void take(Draft& draft, const DriverAttached& event);
void take(Draft& draft, const TimerFired& event);
void take(Draft& draft, const RunReopened& event);
void take(Draft& draft, const StateSet& event);
void take(Draft& draft, const CommandGiven& event);
void take(Draft& draft, const RunWaiting& event);
void take(Draft& draft, const PhaseControlled& event);
void take(Draft& draft, const EventReceived& event);

void take(Draft& draft, const ModelReplied& event);
void take(Draft& draft, const Before& before, const ModelFailed& event);
void take(Draft& draft, const Before& before, const ModelAborted& event);
void take(Draft& draft, const Before& before, const ContextCompacted& event);
void take(Draft& draft, const Before& before, const CompactionFailed& event);

void take(Draft& draft, const ToolFinished& event);
void take(Draft& draft, const ToolStatusLearned& event);
void take(Draft& draft, const DoubtResolved& event);
void take(Draft& draft, const CallJudged& event);
void take(Draft& draft, const CallDecided& event);

void take(Draft& draft, const ChildAsked& event);
void take(Draft& draft, const ChildReported& event);
void take(Draft& draft, const ChildWaits& event);
void take(Draft& draft, const ChildStirred& event);
void take(Draft& draft, const Before& before, const ParentAnswered& event);

void take(Draft& draft, const InstanceResumed& event);
void take(Draft& draft, const ExternalTurnPushed& event);

// Whether time alone takes an instance out of this phase by now.
bool is_due(const Phase& phase, std::uint64_t elapsed_ms);

}  // namespace pawl
