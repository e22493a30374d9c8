// Facts about runs that a run starts as its subagents, and about the run that started it: a part of
// events.h and of decisions.h.
//
// A run and the one that started it speak to each other in totals, never in differences: what is
// said twice is counted once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/kernel/agent_spec.h"
#include "pawl/kernel/presence.h"
#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

// A run that does nothing but wait for its subagents lends its place to one of them: else a tree
// that is deeper than it is wide would wait for itself.
enum class PlaceUse : std::uint8_t { acts, rests };

// What a run has used, with those beneath it.
struct TreeBooks {
  Usage usage;
  std::uint64_t cost_pico = 0;
  std::uint32_t started = 0;  // runs beneath it that ever were
  std::uint32_t places = 0;   // that those take which are not over
  PlaceUse use = PlaceUse::acts;

  PAWL_FACT(TreeBooks, "tree_books",
            PAWL_FIELD(usage) PAWL_FIELD(cost_pico) PAWL_FIELD(started) PAWL_FIELD(places)
                PAWL_FIELD(use));
};

// How far a run may go with those beneath it: totals of what was used and what is set aside.
struct TreeBounds {
  std::uint64_t cost_pico = 0;
  std::uint64_t tokens = 0;
  std::uint32_t started = 0;
  std::uint32_t places = 0;

  PAWL_FACT(TreeBounds, "tree_bounds",
            PAWL_FIELD(cost_pico) PAWL_FIELD(tokens) PAWL_FIELD(started) PAWL_FIELD(places));
};

enum class AskKind : std::uint8_t {
  money,  // and tokens, for model calls
  place,  // for one more run beneath it
};
enum class AskVerdict : std::uint8_t { given, refused };
enum class Steer : std::uint8_t { pause, resume, cancel };
// A run that has ended says so with its last report.
enum class ChildLife : std::uint8_t { goes_on, over };
enum class ChildLeave : std::uint8_t {
  detached,  // it goes on without its parent
  given_up,  // it did not end in time
};

// --- Events --------------------------------------------------------------------------------------

// A run beneath this one asks for money or a place.
struct ChildAsked {
  CallId call{};  // that started it
  EffectId ask{};
  AskKind kind = AskKind::money;
  TreeBooks books;
  TreeBounds held;    // what it has and does not give back
  TreeBounds least;   // with less it cannot go on
  TreeBounds wanted;  // with more it can do nothing

  PAWL_FACT(ChildAsked, "child_asked",
            PAWL_FIELD(call) PAWL_FIELD(ask) PAWL_FIELD(kind) PAWL_FIELD(books) PAWL_FIELD(held)
                PAWL_FIELD(least) PAWL_FIELD(wanted));
};

// A run beneath this one says what it has used, and gives back the rest.
struct ChildReported {
  CallId call{};
  TreeBooks books;
  TreeBounds held;
  ChildLife life = ChildLife::goes_on;
  Presence asks_place = Presence::absent;  // What it was given since is not among `held`.

  PAWL_FACT(ChildReported, "child_reported",
            PAWL_FIELD(call) PAWL_FIELD(books) PAWL_FIELD(held) PAWL_FIELD(life)
                PAWL_FIELD(asks_place));
};

// A run beneath this one waits, and nothing of it is under way.
struct ChildWaits {
  InstanceId instance{1};
  CallId call{};
  EffectId effect{};
  WaitFor wait = WaitFor::nothing;
  TreeBooks books;
  TreeBounds held;

  PAWL_FACT(ChildWaits, "child_waits",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(effect) PAWL_FIELD(wait)
                PAWL_FIELD(books) PAWL_FIELD(held));
};

// Something happened to a run beneath this one that waits.
struct ChildStirred {
  InstanceId instance{1};
  CallId call{};

  PAWL_FACT(ChildStirred, "child_stirred", PAWL_FIELD(instance) PAWL_FIELD(call));
};

// The run that started this one answers what it asked for.
struct ParentAnswered {
  EffectId effect{};
  AskVerdict verdict = AskVerdict::given;
  TreeBounds allowed;
  std::string text;  // why not

  PAWL_FACT(ParentAnswered, "parent_answered",
            PAWL_FIELD(effect) PAWL_FIELD(verdict) PAWL_FIELD(allowed) PAWL_FIELD(text));
};

// --- Decisions -----------------------------------------------------------------------------------

// The call may start a run. Its id is derived from the key of the call: started twice, it is one.
struct ChildAdmitted {
  CallId call{};
  RunId run;
  std::string agent;
  OnParentEnd on_parent_end = OnParentEnd::cancel;

  PAWL_FACT(ChildAdmitted, "child_admitted",
            PAWL_FIELD(call) PAWL_FIELD(run) PAWL_FIELD(agent) PAWL_FIELD(on_parent_end));
};

// What a run beneath this one asked for is answered.
struct ChildAnswered {
  CallId call{};
  AskKind kind = AskKind::money;
  AskVerdict verdict = AskVerdict::given;
  TreeBounds allowed;

  PAWL_FACT(ChildAnswered, "child_answered",
            PAWL_FIELD(call) PAWL_FIELD(kind) PAWL_FIELD(verdict) PAWL_FIELD(allowed));
};

// This run ends before the one beneath it. What that one still held counts as used.
struct ChildLeft {
  CallId call{};
  ChildLeave how = ChildLeave::given_up;
  Usage charged;
  std::uint64_t cost_pico = 0;

  PAWL_FACT(ChildLeft, "child_left",
            PAWL_FIELD(call) PAWL_FIELD(how) PAWL_FIELD(charged) PAWL_FIELD(cost_pico));
};

// --- Effects -------------------------------------------------------------------------------------

struct AskParent {
  EffectId effect{};
  AskKind kind = AskKind::money;
  TreeBooks books;
  TreeBounds held;
  TreeBounds least;
  TreeBounds wanted;

  PAWL_FACT(AskParent, "ask_parent",
            PAWL_FIELD(effect) PAWL_FIELD(kind) PAWL_FIELD(books) PAWL_FIELD(held) PAWL_FIELD(least)
                PAWL_FIELD(wanted));
};

// Nothing is awaited of the next three: a driver that takes the run up has them done again.
struct TellParent {
  TreeBooks books;
  TreeBounds held;
  Presence asks_place = Presence::absent;  // A place may be on its way to it.

  PAWL_FACT(TellParent, "tell_parent", PAWL_FIELD(books) PAWL_FIELD(held) PAWL_FIELD(asks_place));
};

struct AnswerChild {
  RunId run;
  EffectId ask{};
  AskVerdict verdict = AskVerdict::given;
  TreeBounds allowed;
  std::string text;

  PAWL_FACT(AnswerChild, "answer_child",
            PAWL_FIELD(run) PAWL_FIELD(ask) PAWL_FIELD(verdict) PAWL_FIELD(allowed)
                PAWL_FIELD(text));
};

struct SteerChild {
  RunId run;
  Steer steer = Steer::cancel;

  PAWL_FACT(SteerChild, "steer_child", PAWL_FIELD(run) PAWL_FIELD(steer));
};

// --- State ---------------------------------------------------------------------------------------

// What a run beneath this one has asked for, and waits for.
struct PendingAsk {
  EffectId ask{};
  TreeBounds least;
  TreeBounds wanted;

  PAWL_FACT(PendingAsk, "pending_ask", PAWL_FIELD(ask) PAWL_FIELD(least) PAWL_FIELD(wanted));
};

// A run that a call of this one has started, and that is not over.
struct ChildRun {
  CallId call{};
  RunId run;
  std::string agent;
  OnParentEnd on_parent_end = OnParentEnd::cancel;
  TreeBooks books;
  TreeBounds held;
  std::optional<PendingAsk> money;
  std::optional<PendingAsk> place;

  PAWL_FACT(ChildRun, "child_run",
            PAWL_FIELD(call) PAWL_FIELD(run) PAWL_FIELD(agent) PAWL_FIELD(on_parent_end)
                PAWL_FIELD(books) PAWL_FIELD(held) PAWL_FIELD(money) PAWL_FIELD(place));
};

template <>
inline constexpr std::uint8_t kCount<PlaceUse> = 2;
template <>
inline constexpr std::uint8_t kCount<AskKind> = 2;
template <>
inline constexpr std::uint8_t kCount<AskVerdict> = 2;
template <>
inline constexpr std::uint8_t kCount<Steer> = 3;
template <>
inline constexpr std::uint8_t kCount<ChildLife> = 2;
template <>
inline constexpr std::uint8_t kCount<ChildLeave> = 2;

std::string_view name(PlaceUse value);
std::string_view name(AskKind value);
std::string_view name(AskVerdict value);
std::string_view name(Steer value);
std::string_view name(ChildLife value);
std::string_view name(ChildLeave value);

}  // namespace pawl
